/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening what `postlag journal` is pointed at. */
#include "cli/journal_files.h"

#include "base/memory.h"
#include "base/reason.h"
#include "proto/journal_directory.h"
#include "proto/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory that segments are in: which is the newest, and does one write. */
struct directory {
	uint64_t *numbers;
	long count;
	bool is_written;
};

static void
read_directory(const char *path, struct directory *directory_r)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*directory_r = (struct directory){NULL, -1, false};
	if (fd < 0)
		return;
	directory_r->count = segment_list(fd, &directory_r->numbers, NULL);
	directory_r->is_written = !journal_lock_is_free(fd);
	close(fd);
}

static bool
is_complete(const struct directory *directory, uint64_t number)
{
	return !directory->is_written || directory->count <= 0 ||
	       number != directory->numbers[directory->count - 1];
}

static int
visit_file(const char *path, const struct directory *directory,
    journal_file_visit *visit, void *context, struct reason *reason)
{
	const char *slash = strrchr(path, '/');
	struct journal_file file = {.path = path};

	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file.fd < 0)
		return reason_set_errno(reason, "%s", path);
	segment_number(slash != NULL ? slash + 1 : path, &file.number);
	file.complete = is_complete(directory, file.number);
	visit(context, &file);
	return 0;
}

/* A file by itself; who writes it is told by the directory that it is in. */
static int
visit_single(const char *path, journal_file_visit *visit, void *context,
    struct reason *reason)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash == NULL ? memory_string(".")
				     : memory_format("%.*s",
					   (int)(slash - path + 1), path);
	struct directory directory;
	int result;

	read_directory(parent, &directory);
	result = visit_file(path, &directory, visit, context, reason);
	free(directory.numbers);
	free(parent);
	return result;
}

/* Returns the number of segments in the directory, -1 with a reason. */
static long
visit_segments(const char *path, journal_file_visit *visit, void *context,
    struct reason *reason)
{
	char name[SEGMENT_NAME_SIZE], *file;
	struct directory directory;
	long result;

	read_directory(path, &directory);
	result = directory.count;
	if (result < 0)
		reason_set(reason, "%s: cannot be read", path);
	for (long i = 0; i < directory.count; i++) {
		segment_name(directory.numbers[i], name);
		file = memory_format("%s/%s", path, name);
		if (visit_file(file, &directory, visit, context, reason) != 0)
			result = -1;
		free(file);
	}
	free(directory.numbers);
	return result;
}

static int
is_source(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The directories in `path`, by name. Returns as visit_segments(). */
static long
visit_sources(const char *path, journal_file_visit *visit, void *context,
    struct reason *reason)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_source, alphasort);
	long result = 0, segments;
	struct stat status;

	for (int i = 0; i < count; i++) {
		char *source = memory_format("%s/%s", path, entries[i]->d_name);

		if (stat(source, &status) == 0 && S_ISDIR(status.st_mode)) {
			segments =
			    visit_segments(source, visit, context, reason);
			result =
			    segments < 0 || result < 0 ? -1 : result + segments;
		}
		free(source);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return result;
}

int
journal_files_each(const char *path, journal_file_visit *visit, void *context,
    struct reason *reason)
{
	struct stat status;
	long segments;

	if (stat(path, &status) != 0)
		return reason_set_errno(reason, "%s", path);
	if (!S_ISDIR(status.st_mode))
		return visit_single(path, visit, context, reason);
	segments = visit_segments(path, visit, context, reason);
	if (segments == 0)
		segments = visit_sources(path, visit, context, reason);
	if (segments == 0)
		return reason_set(reason, "%s: no journal in it", path);
	return segments < 0 ? -1 : 0;
}

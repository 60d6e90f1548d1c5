/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking for the files of a log. Used by the follower when it begins, and when
 * the file that it reads is not the log itself any more; on the ingest thread.
 */
#include "exporter/read/log_series.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"

/* A rotation is over in a moment. */
#define LOOKS 1000

/* How far the year found for a first line may vary, and the clock. */
#define SAME_TIME_NS (2 * CLOCK_NS_PER_DAY)

/* What rotation puts into names: numbers and dates, and "old". */
static bool
is_rotation_mark(const char *text, size_t size)
{
	static const char old[] = "old";
	bool digits = false;

	if (size == sizeof(old) && strchr("._-", *text) != NULL &&
	    memcmp(text + 1, old, size - 1) == 0)
		return true;
	for (size_t i = 0; i < size; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			digits = true;
		else if (strchr("._-:T", text[i]) == NULL)
			return false;
	}
	return digits && strchr("._-", *text) != NULL;
}

/* The size of a name without what a compressor puts behind it. */
static size_t
bare_size(const char *name)
{
	const char *dot = strrchr(name, '.');

	return log_compression_of(name) != LOG_PLAIN ? (size_t)(dot - name)
						     : strlen(name);
}

bool
log_series_includes(const char *base, const char *name)
{
	size_t size = bare_size(name), base_size = strlen(base);
	const char *dot = strrchr(base, '.');
	size_t stem = dot != NULL ? (size_t)(dot - base) : base_size;
	size_t ending = base_size - stem;

	if (strcmp(name, base) == 0)
		return true;
	if (size > base_size && strncmp(name, base, base_size) == 0)
		return is_rotation_mark(name + base_size, size - base_size);
	/* logrotate's `extension` keeps the ending last. */
	return ending > 0 && size > base_size &&
	       strncmp(name, base, stem) == 0 &&
	       strncmp(name + size - ending, dot, ending) == 0 &&
	       is_rotation_mark(name + stem, size - base_size);
}

static int64_t
time_ns(const struct timespec *time)
{
	return time->tv_sec * CLOCK_NS_PER_SECOND + time->tv_nsec;
}

static void
add(struct log_series *series, const struct log_candidate *candidate)
{
	series->items =
	    memory_resize(series->items, series->count + 1, sizeof(*candidate));
	series->items[series->count++] = *candidate;
}

/* Returns 0 also for a file that vanished meanwhile or is of another kind. */
static int
look_at(struct log_series *series, int directory_fd, const char *name,
    bool is_path, struct reason *reason)
{
	enum log_compression compression = log_compression_of(name);
	struct log_candidate candidate = {
	    .is_path = is_path, .is_compressed = compression != LOG_PLAIN};
	struct stat status;

	if (fstatat(directory_fd, name, &status, 0) != 0 ||
	    !S_ISREG(status.st_mode))
		return 0;
	if (compression != LOG_COMPRESSED) {
		candidate.file = log_file_open(directory_fd, name, reason);
		if (candidate.file == NULL && errno == ENOENT)
			return 0;
		if (candidate.file == NULL && is_path)
			return -1;
	}
	if (candidate.file != NULL) {
		log_file_status(candidate.file, &status);
		if (log_file_head(candidate.file, &candidate.head, reason) < 0)
			log_file_close(&candidate.file);
	}
	candidate.born_wall_ns = log_file_born_wall_ns(candidate.file);
	candidate.changed_wall_ns = time_ns(&status.st_mtim);
	candidate.device = status.st_dev;
	candidate.inode = status.st_ino;
	candidate.bytes = (uint64_t)status.st_size;
	add(series, &candidate);
	return 0;
}

/* Appends the inodes and names of the log's files, each name with its NUL. What
 * is not listed would be taken for gone. */
static int
list(DIR *stream, const char *base, struct buffer *listing,
    struct reason *reason)
{
	const struct dirent *entry;

	rewinddir(stream);
	while ((errno = 0, entry = readdir(stream)) != NULL)
		if (log_series_includes(base, entry->d_name)) {
			buffer_append(
			    listing, &entry->d_ino, sizeof(entry->d_ino));
			buffer_append(
			    listing, entry->d_name, strlen(entry->d_name) + 1);
		}
	return errno == 0 ? 0
			  : reason_set_errno(
				reason, "cannot list the files of %s", base);
}

static int
look_at_each(struct log_series *series, int directory_fd, const char *base,
    const struct buffer *listing, bool is_path, struct reason *reason)
{
	const char *at = (const char *)listing->data;
	const char *end = at + listing->size;

	while (at < end) {
		const char *name = at + sizeof(ino_t);

		if ((strcmp(name, base) == 0) == is_path &&
		    look_at(series, directory_fd, name, is_path, reason) != 0)
			return -1;
		at = name + strlen(name) + 1;
	}
	return 0;
}

/* The log itself is the first: when it has been truncated by then, its copy is
 * complete. A copy that was looked at before might have been empty yet, and the
 * log truncated behind that: what it held would be nowhere. */
static int
look_at_all(struct log_series *series, int directory_fd, const char *base,
    const struct buffer *listing, struct reason *reason)
{
	if (look_at_each(series, directory_fd, base, listing, true, reason) !=
	    0)
		return -1;
	return look_at_each(series, directory_fd, base, listing, false, reason);
}

static bool
is_same(const struct buffer *left, const struct buffer *right)
{
	return left->size == right->size &&
	       (left->size == 0 ||
		   memcmp(left->data, right->data, left->size) == 0);
}

/* A file that is renamed meanwhile may not be listed at all, under neither
 * name; but then its name was another before. Returns 1 when the directory has
 * changed; 0; or -1. */
static int
look_once(struct log_series *series, DIR *stream, const char *base,
    struct reason *reason)
{
	struct buffer before = {.data = NULL}, after = {.data = NULL};
	int result = list(stream, base, &before, reason);

	if (result == 0)
		result =
		    look_at_all(series, dirfd(stream), base, &before, reason);
	if (result == 0)
		result = list(stream, base, &after, reason);
	if (result == 0)
		result = !is_same(&before, &after);
	buffer_free(&before);
	buffer_free(&after);
	return result;
}

int
log_series_scan(struct log_series *series, const char *directory,
    const char *base, struct reason *reason)
{
	DIR *stream = opendir(directory);
	int result = 1;

	if (stream == NULL)
		return reason_set_errno(reason, "cannot read %s", directory);
	for (int i = 0; i < LOOKS && result == 1; i++) {
		log_series_free(series);
		result = look_once(series, stream, base, reason);
	}
	closedir(stream);
	if (result == 1)
		return reason_set(
		    reason, "%s: its files are renamed all the time", base);
	return result;
}

bool
log_candidate_is_inode_of(const struct log_candidate *candidate,
    const struct log_generation *generation)
{
	return candidate->device == generation->device &&
	       candidate->inode == generation->inode &&
	       candidate->born_wall_ns == generation->born_wall_ns;
}

/* A first line that is the same but for its year is another year's. */
static bool
is_of(const struct log_candidate *candidate,
    const struct log_generation *generation)
{
	int64_t apart = candidate->head.wall_ns - generation->first_wall_ns;

	if (candidate->file == NULL ||
	    candidate->head.bytes != generation->identity[0] ||
	    candidate->head.hash != generation->identity[1])
		return false;
	if (apart > -SAME_TIME_NS && apart < SAME_TIME_NS)
		return true;
	return log_candidate_is_inode_of(candidate, generation);
}

static bool
is_better(const struct log_candidate *left, const struct log_candidate *right)
{
	if (left->is_path != right->is_path)
		return left->is_path;
	if (left->is_compressed != right->is_compressed)
		return right->is_compressed;
	return left->bytes > right->bytes;
}

struct log_candidate *
log_series_match(
    const struct log_series *series, const struct log_generation *generation)
{
	struct log_candidate *best = NULL;

	for (size_t i = 0; i < series->count; i++) {
		struct log_candidate *one = &series->items[i];

		if (is_of(one, generation) &&
		    (best == NULL || is_better(one, best)))
			best = one;
	}
	return best;
}

struct log_candidate *
log_series_path(const struct log_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->items[i].is_path)
			return &series->items[i];
	return NULL;
}

struct log_candidate *
log_series_began_at(const struct log_series *series, uint64_t wall_us)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->items[i].file != NULL &&
		    (uint64_t)series->items[i].head.wall_ns / 1000 == wall_us)
			return &series->items[i];
	return NULL;
}

static bool
is_known(
    const struct log_candidate *candidate, const struct log_catalog *catalog)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (is_of(candidate, &catalog->items[i]))
			return true;
	return false;
}

static bool
began_later(const struct log_candidate *candidate, int64_t first_wall_ns,
    int64_t changed_wall_ns)
{
	if (candidate->head.wall_ns != first_wall_ns)
		return candidate->head.wall_ns > first_wall_ns;
	return candidate->changed_wall_ns > changed_wall_ns;
}

/* Whether a file can be a generation of its own. */
static bool
is_new(const struct log_candidate *candidate, const struct log_catalog *catalog)
{
	return candidate->file != NULL && candidate->head.bytes > 0 &&
	       !is_known(candidate, catalog);
}

/* The log itself is the last, whatever the clock says. */
struct log_candidate *
log_series_after(const struct log_series *series,
    const struct log_catalog *catalog, const struct log_generation *generation,
    int64_t read_wall_ns)
{
	struct log_candidate *path = log_series_path(series), *best = NULL;

	for (size_t i = 0; i < series->count; i++) {
		struct log_candidate *one = &series->items[i];

		if (one == path || one->head.wall_ns == 0 ||
		    !is_new(one, catalog) ||
		    !began_later(one, generation->first_wall_ns, read_wall_ns))
			continue;
		if (best == NULL ||
		    began_later(best, one->head.wall_ns, one->changed_wall_ns))
			best = one;
	}
	if (best == NULL && path != NULL && is_new(path, catalog))
		best = path;
	return best;
}

bool
log_series_hides(const struct log_series *series, int64_t after_wall_ns,
    int64_t before_wall_ns)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct log_candidate *one = &series->items[i];

		if (one->file == NULL &&
		    one->changed_wall_ns - LOG_TIME_GRAIN_NS > after_wall_ns &&
		    one->changed_wall_ns - LOG_TIME_GRAIN_NS < before_wall_ns)
			return true;
	}
	return false;
}

void
log_series_free(struct log_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		log_file_close(&series->items[i].file);
	free(series->items);
	*series = (struct log_series){0};
}

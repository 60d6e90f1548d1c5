/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the files of a log and knowing them again. The only user of zlib
 * here; owned by a follower, on the ingest thread.
 */
#include "exporter/read/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/memory.h"
#include "base/reason.h"
#include "exporter/maillog/maillog_line.h"
#include "store/hash.h"

#define GZIP_BUFFER_BYTES (128u << 10)
#define NS_PER_SECOND INT64_C(1000000000)

struct log_file {
	int fd;
	gzFile gzip; /* NULL: plain */
	char *name;
	char descriptor_path[32];
};

enum log_compression
log_compression_of(const char *name)
{
	static const char *const unread[] = {
	    ".xz", ".zst", ".bz2", ".lz4", ".lzma", ".lzo", ".Z", ".zip"};
	const char *dot = strrchr(name, '.');

	if (dot == NULL)
		return LOG_PLAIN;
	if (strcmp(dot, ".gz") == 0)
		return LOG_GZIP;
	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (strcmp(dot, unread[i]) == 0)
			return LOG_COMPRESSED;
	return LOG_PLAIN;
}

/* zlib owns a descriptor of its own. */
static int
open_gzip(struct log_file *file, struct reason *reason)
{
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return reason_set_errno(reason, "cannot read %s", file->name);
	file->gzip = gzdopen(fd, "rb");
	if (file->gzip == NULL) {
		close(fd);
		return reason_set(reason, "no memory to read %s", file->name);
	}
	gzbuffer(file->gzip, GZIP_BUFFER_BYTES);
	return 0;
}

static int
check_regular(const struct log_file *file, struct reason *reason)
{
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return reason_set_errno(reason, "cannot read %s", file->name);
	if (!S_ISREG(status.st_mode))
		return reason_set(
		    reason, "%s is not a regular file", file->name);
	return 0;
}

struct log_file *
log_file_open(int directory_fd, const char *name, struct reason *reason)
{
	struct log_file *file = memory_zeroed(1, sizeof(*file));
	int saved;

	file->name = memory_string(name);
	/* O_NONBLOCK: a named pipe must not hold us up. */
	file->fd = openat(
	    directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0)
		reason_set_errno(reason, "cannot read %s", name);
	else if (check_regular(file, reason) == 0 &&
		 (log_compression_of(name) != LOG_GZIP ||
		     open_gzip(file, reason) == 0)) {
		snprintf(file->descriptor_path, sizeof(file->descriptor_path),
		    "/proc/self/fd/%d", file->fd);
		return file;
	}
	saved = errno;
	log_file_close(&file);
	errno = saved;
	return NULL;
}

static long
read_plain(struct log_file *file, uint64_t offset, void *data, size_t size,
    struct reason *reason)
{
	ssize_t got = pread(file->fd, data, size, (off_t)offset);

	if (got < 0)
		return reason_set_errno(reason, "cannot read %s", file->name);
	return got;
}

static long
read_gzip(struct log_file *file, uint64_t offset, void *data, size_t size,
    struct reason *reason)
{
	int error, got;

	if (gztell(file->gzip) != (z_off_t)offset &&
	    gzseek(file->gzip, (z_off_t)offset, SEEK_SET) < 0)
		return reason_set(reason, "%s is damaged: %s", file->name,
		    gzerror(file->gzip, &error));
	got = gzread(file->gzip, data, (unsigned)size);
	gzerror(file->gzip, &error);
	if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END))
		return reason_set(reason, "%s is damaged: %s", file->name,
		    gzerror(file->gzip, &error));
	return got;
}

long
log_file_read(struct log_file *file, uint64_t offset, void *data, size_t size,
    struct reason *reason)
{
	return file->gzip != NULL
		   ? read_gzip(file, offset, data, size, reason)
		   : read_plain(file, offset, data, size, reason);
}

/* Reads up to `size` bytes from the front. */
static long
read_front(
    struct log_file *file, char *data, size_t size, struct reason *reason)
{
	size_t have = 0;

	while (have < size) {
		long got =
		    log_file_read(file, have, data + have, size - have, reason);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (long)have;
}

/* A year that is not written is that of the file's last change. */
static int64_t
head_wall_ns(const struct log_file *file, const char *text, size_t size)
{
	struct maillog_reference reference = {0};
	struct maillog_line line;
	struct stat status;

	if (fstat(file->fd, &status) == 0)
		reference.latest_ns = status.st_mtim.tv_sec * NS_PER_SECOND +
				      status.st_mtim.tv_nsec;
	maillog_line_parse(text, size, &line);
	return maillog_time_resolve(&line.time, &reference);
}

int
log_file_head(
    struct log_file *file, struct log_head *head_r, struct reason *reason)
{
	char front[LOG_HEAD_BYTES];
	long have = read_front(file, front, sizeof(front), reason);
	const char *newline;

	if (have <= 0)
		return (int)have;
	newline = memchr(front, '\n', (size_t)have);
	if (newline != NULL)
		have = newline - front + 1;
	else if (have < (long)sizeof(front))
		return 0;
	head_r->bytes = (uint64_t)have;
	head_r->hash = hash_bytes(front, (size_t)have, 0);
	head_r->wall_ns =
	    head_wall_ns(file, front, (size_t)have - (newline != NULL));
	return 1;
}

bool
log_file_has_head(struct log_file *file, const struct log_head *head)
{
	char front[LOG_HEAD_BYTES];
	long have = read_front(file, front, (size_t)head->bytes, NULL);

	if (have < 0)
		return true;
	return (uint64_t)have == head->bytes &&
	       hash_bytes(front, (size_t)have, 0) == head->hash;
}

int
log_file_status(const struct log_file *file, struct stat *status_r)
{
	return fstat(file->fd, status_r);
}

int64_t
log_file_born_wall_ns(const struct log_file *file)
{
	struct statx status;

	if (file == NULL ||
	    statx(file->fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 ||
	    (status.stx_mask & STATX_BTIME) == 0)
		return 0;
	return status.stx_btime.tv_sec * NS_PER_SECOND +
	       status.stx_btime.tv_nsec;
}

bool
log_file_is_compressed(const struct log_file *file)
{
	return file->gzip != NULL;
}

const char *
log_file_descriptor_path(const struct log_file *file)
{
	return file->descriptor_path;
}

void
log_file_close(struct log_file **file)
{
	if (*file == NULL)
		return;
	if ((*file)->gzip != NULL)
		gzclose((*file)->gzip);
	if ((*file)->fd >= 0)
		close((*file)->fd);
	free((*file)->name);
	free(*file);
	*file = NULL;
}

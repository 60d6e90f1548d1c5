/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creating a segment and appending to it. Called by the journal's writer only,
 * under its mutex, on whatever thread appends.
 */
#include "proto/segment_file.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "proto/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_MODE 0640
#define UNNAMED "new" /* a segment without its header yet */
#define NS_PER_US 1000

/* Returns 0, or -1 when the directory cannot be read. */
static int
choose_number(
    int directory_fd, int64_t wall_ns, uint64_t *number, struct reason *reason)
{
	uint64_t *numbers, now = 0;
	long count = segment_list(directory_fd, &numbers, reason);

	if (wall_ns > 0)
		now = (uint64_t)(wall_ns / NS_PER_US);
	if (count > 0 && numbers[count - 1] > *number)
		*number = numbers[count - 1];
	free(numbers);
	if (count < 0)
		return -1;
	*number = now > *number ? now : *number + 1;
	return 0;
}

static ssize_t
write_retried(int fd, const void *data, size_t size)
{
	ssize_t written;

	do
		written = write(fd, data, size);
	while (written < 0 && errno == EINTR);
	return written;
}

/* A file with its header, under its own name only when that is complete.
 * Returns the descriptor, or -1. */
static int
create_file(int directory_fd, uint64_t number, const struct buffer *header,
    struct reason *reason)
{
	char name[SEGMENT_NAME_SIZE];
	ssize_t written;
	int fd;

	segment_name(number, name);
	unlinkat(directory_fd, UNNAMED, 0);
	fd = openat(directory_fd, UNNAMED,
	    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, SEGMENT_MODE);
	if (fd < 0)
		return reason_set_errno(reason, "cannot create %s", name);
	if (fchmod(fd, SEGMENT_MODE) != 0)
		goto failed;
	written = write_retried(fd, header->data, header->size);
	if (written >= 0 && (size_t)written < header->size)
		errno = ENOSPC;
	if (written != (ssize_t)header->size)
		goto failed;
	if (renameat(directory_fd, UNNAMED, directory_fd, name) != 0)
		goto failed;
	return fd;
failed:
	reason_set_errno(reason, "cannot begin %s", name);
	unlinkat(directory_fd, UNNAMED, 0);
	close(fd);
	return -1;
}

int
segment_file_create(int directory_fd, struct segment_header *header,
    struct arena *scratch, struct buffer *out, struct segment_file *file_r,
    struct reason *reason)
{
	uint64_t number = file_r->number;
	int fd;

	header->format = SEGMENT_FORMAT;
	header->start = clock_stamp();
	if (choose_number(
		directory_fd, header->start.wall_ns, &number, reason) != 0)
		return -1;
	if (getrandom(&header->checksum_seed, sizeof(header->checksum_seed),
		0) != (ssize_t)sizeof(header->checksum_seed))
		return reason_set_errno(reason, "getrandom");
	buffer_clear(out);
	if (segment_header_write(header, scratch, out) != 0)
		return reason_set(reason, "cannot encode a segment's header");
	fd = create_file(directory_fd, number, out, reason);
	if (fd < 0)
		return -1;
	*file_r = (struct segment_file){
	    .fd = fd,
	    .number = number,
	    .seed = header->checksum_seed,
	    .bytes = out->size,
	};
	return 0;
}

int
segment_file_append(struct segment_file *file, const void *data, size_t size)
{
	ssize_t written = write_retried(file->fd, data, size);
	int error = written < 0 ? errno : ENOSPC;

	if (written == (ssize_t)size) {
		file->bytes += size;
		file->has_records = true;
		return 1;
	}
	if (ftruncate(file->fd, (off_t)file->bytes) != 0)
		return -1;
	errno = error;
	return 0;
}

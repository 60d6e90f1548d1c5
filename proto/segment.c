/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and headers of segments: text and bytes, but for segment_list(), which
 * reads a directory. Called by the journal's writer and readers; no state.
 */
#include "proto/segment.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "proto/event_codec.h"
#include "proto/frame.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_SEED 0
#define NAME_DIGITS 16
#define NAME_SUFFIX ".journal"

int
journal_position_compare(
    struct journal_position left, struct journal_position right)
{
	if (left.segment != right.segment)
		return left.segment < right.segment ? -1 : 1;
	if (left.offset != right.offset)
		return left.offset < right.offset ? -1 : 1;
	return 0;
}

void
segment_name(uint64_t number, char name_r[SEGMENT_NAME_SIZE])
{
	snprintf(name_r, SEGMENT_NAME_SIZE, "%016" PRIx64 NAME_SUFFIX, number);
}

int
segment_number(const char *name, uint64_t *number_r)
{
	uint64_t number = 0;
	int digit;

	for (int i = 0; i < NAME_DIGITS; i++) {
		if (name[i] >= '0' && name[i] <= '9')
			digit = name[i] - '0';
		else if (name[i] >= 'a' && name[i] <= 'f')
			digit = name[i] - 'a' + 10;
		else
			return 0;
		number = number << 4 | (unsigned)digit;
	}
	if (strcmp(name + NAME_DIGITS, NAME_SUFFIX) != 0)
		return 0;
	*number_r = number;
	return 1;
}

static int
compare_numbers(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return a < b ? -1 : a > b;
}

/* Appends the numbers of what the stream still holds. Returns 0, or -1 with
 * errno. */
static int
read_numbers(DIR *stream, struct buffer *numbers)
{
	struct dirent *entry;
	uint64_t number;

	while (errno = 0, (entry = readdir(stream)) != NULL)
		if (segment_number(entry->d_name, &number))
			buffer_append(numbers, &number, sizeof(number));
	if (errno == 0 && numbers->failed)
		errno = ENOMEM;
	return errno == 0 ? 0 : -1;
}

long
segment_list(int directory_fd, uint64_t **numbers_r, struct reason *reason)
{
	struct buffer numbers = {0};
	/* Not dup(2): that would share the position in the directory. */
	int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	long count = -1;

	*numbers_r = NULL;
	if (stream == NULL || read_numbers(stream, &numbers) != 0) {
		reason_set_errno(reason, "cannot list a journal's directory");
		buffer_free(&numbers);
		goto out;
	}
	count = (long)(numbers.size / sizeof(uint64_t));
	*numbers_r = (uint64_t *)(void *)numbers.data;
	if (count > 0)
		qsort(*numbers_r, (size_t)count, sizeof(uint64_t),
		    compare_numbers);
out:
	if (stream != NULL)
		closedir(stream);
	else if (fd >= 0)
		close(fd);
	return count;
}

int
segment_header_write(const struct segment_header *header, struct arena *scratch,
    struct buffer *out)
{
	for (int copy = 0; copy < 2; copy++) {
		size_t start = out->size;

		if (buffer_reserve(out, FRAME_HEADER_BYTES) == NULL ||
		    segment_header_encode(header, scratch, out) != 0)
			return -1;
		if (out->size - start > SEGMENT_HEADER_COPY_MAX ||
		    frame_seal(out, start, HEADER_SEED) != 0)
			return -1;
	}
	return 0;
}

/*
 * Finds the second copy without the first. A mail client knows the seed of
 * headers, so a frame counts only where a copy can be: as large as what stands
 * before it, and near the beginning.
 */
static int
find_second_copy(const uint8_t *data, size_t size, const uint8_t **payload_r,
    size_t *payload_size_r)
{
	size_t offset = 0;

	if (size > 2 * SEGMENT_HEADER_COPY_MAX)
		size = 2 * SEGMENT_HEADER_COPY_MAX;
	for (;;) {
		if (offset >= size)
			return -1;
		offset += frame_find(data + offset, size - offset, HEADER_SEED);
		if (offset >= size)
			return -1;
		frame_open(data + offset, size - offset, HEADER_SEED, payload_r,
		    payload_size_r);
		if (*payload_size_r + FRAME_HEADER_BYTES == offset)
			return 0;
	}
}

static int
is_whole(const uint8_t *data, size_t size, const uint8_t **payload_r,
    size_t *payload_size_r)
{
	return frame_open(data, size, HEADER_SEED, payload_r, payload_size_r) ==
	       FRAME_WHOLE;
}

int
segment_header_read(const uint8_t *data, size_t size, struct arena *arena,
    struct segment_header *header_r, struct segment_header_extent *extent_r,
    struct reason *reason)
{
	const uint8_t *payload, *second;
	size_t payload_size, second_size, copy_bytes;

	extent_r->damaged = 0;
	if (is_whole(data, size, &payload, &payload_size)) {
		copy_bytes = FRAME_HEADER_BYTES + payload_size;
		if (size < 2 * copy_bytes)
			return 0;
		if (!is_whole(data + copy_bytes, size - copy_bytes, &second,
			&second_size))
			extent_r->damaged = 1;
	} else if (find_second_copy(data, size, &payload, &payload_size) == 0) {
		copy_bytes = FRAME_HEADER_BYTES + payload_size;
		extent_r->damaged = 1;
	} else if (size < 2 * SEGMENT_HEADER_COPY_MAX) {
		return 0;
	} else {
		extent_r->damaged = 2;
		return reason_set(reason, "both copies of the header damaged");
	}
	extent_r->bytes = 2 * copy_bytes;
	if (segment_header_decode(
		payload, payload_size, arena, header_r, reason) != 0)
		return -1;
	if (header_r->format > SEGMENT_FORMAT)
		return reason_set(reason,
		    "format %" PRIu32 ", newer than this program's %d",
		    header_r->format, SEGMENT_FORMAT);
	return 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding, segments and writing. Called by the journal's writer under its
 * mutex, on whatever thread appends.
 */
#include "proto/journal_output.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "proto/event_codec.h"
#include "proto/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROTATION_RETRY_NS (CLOCK_NS_PER_SECOND / 10)
#define SCRATCH_LIMIT_BYTES (32u << 20)
#define KEPT_BUFFER_BYTES (256u << 10)

/* Segments. */

static void
retire_segment(struct journal_output *output)
{
	if (output->segment.fd >= 0)
		output->retired[output->retired_count++] = output->segment.fd;
	output->segment.fd = -1;
}

/* Opens a new segment; the one before stays the current one if that fails.
 * Returns whether it worked. */
static bool
open_segment(struct journal_output *output)
{
	struct segment_file fresh = output->segment;
	struct reason reason;

	if (output->retired_count >= JOURNAL_RETIRED_MAX) {
		errno = EAGAIN;
		return false;
	}
	arena_reset(output->scratch);
	if (segment_file_create(output->directory_fd, &output->header,
		output->scratch, &output->beginning, &fresh, &reason) != 0) {
		log_error(
		    "journal=%s reason=%s", output->header.source, reason.text);
		return false;
	}
	retire_segment(output);
	output->segment = fresh;
	output->directory_dirty = true;
	output->room.total_bytes += (int64_t)fresh.bytes;
	return true;
}

void
journal_output_rotate(struct journal_output *output)
{
	int64_t now_ns = clock_stamp().monotonic_ns;

	if (now_ns >= output->rotation_retry_ns && !open_segment(output))
		output->rotation_retry_ns = now_ns + ROTATION_RETRY_NS;
}

bool
journal_output_is_gone(const struct journal_output *output)
{
	struct stat status;

	return output->segment.fd >= 0 &&
	       fstat(output->segment.fd, &status) == 0 && status.st_nlink == 0;
}

/* Whether the record at hand belongs into a new segment. */
static bool
is_full(const struct journal_output *output)
{
	const struct segment_file *segment = &output->segment;
	int64_t bytes = (int64_t)(segment->bytes + output->frame.size);

	return segment->has_records && bytes > output->segment_bytes;
}

/* Whether there is a segment to write to. */
static bool
ensure_segment(struct journal_output *output)
{
	if (output->segment.fd < 0)
		return open_segment(output);
	if (is_full(output))
		journal_output_rotate(output);
	return true;
}

/* Records. */

/* Encodes the event behind room for the frame's header. */
static bool
encode(struct journal_output *output, const struct event *event)
{
	struct buffer *frame = &output->frame;

	arena_reset(output->scratch);
	if (frame->capacity > KEPT_BUFFER_BYTES)
		buffer_free(frame);
	buffer_clear(frame);
	frame->limit = FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX;
	return buffer_reserve(frame, FRAME_HEADER_BYTES) != NULL &&
	       event_encode(event, output->scratch, frame) == 0;
}

/* Returns as segment_file_append(). */
static int
write_to_segment(struct journal_output *output)
{
	struct buffer *frame = &output->frame;

	if (!ensure_segment(output))
		return 0;
	frame_seal(frame, 0, output->segment.seed);
	return segment_file_append(&output->segment, frame->data, frame->size);
}

static bool
write_frame(struct journal_output *output)
{
	struct journal_room *room = &output->room;
	int written;

	if (!journal_room_on_disk(room, output->frame.size))
		return false;
	written = write_to_segment(output);
	if (written != 1) {
		log_error("journal=%s reason=cannot write: %s",
		    output->header.source, strerror(errno));
		journal_room_failed(room);
		if (written < 0)
			retire_segment(output);
		return false;
	}
	output->records++;
	if (journal_room_written(room, output->frame.size))
		log_info("journal=%s writing=again", output->header.source);
	return true;
}

enum journal_outcome
journal_output_append(struct journal_output *output, const struct event *event,
    int64_t limit_bytes)
{
	if (!encode(output, event))
		return JOURNAL_DROPPED_MEMORY;
	if (!journal_room_in_limit(
		&output->room, output->frame.size, limit_bytes)) {
		/* Only former segments can be removed. */
		if (is_full(output))
			journal_output_rotate(output);
		return JOURNAL_DROPPED_LIMIT;
	}
	return write_frame(output) ? JOURNAL_APPENDED : JOURNAL_DROPPED_ERROR;
}

/* What a killed process wrote last may not be on the disk yet: it is synced
 * with the first of our own records. */
static void
adopt_predecessor(struct journal_output *output)
{
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	long count = segment_list(output->directory_fd, &numbers, NULL);
	int fd = -1;

	if (count > 0) {
		segment_name(numbers[count - 1], name);
		fd = openat(output->directory_fd, name, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		output->retired[output->retired_count++] = fd;
	free(numbers);
}

int
journal_output_open(struct journal_output *output, int directory_fd,
    const struct segment_header *header, int64_t segment_bytes)
{
	*output = (struct journal_output){
	    .header = *header,
	    .directory_fd = directory_fd,
	    .segment_bytes = segment_bytes,
	    .segment.fd = -1,
	    .scratch = arena_new(SCRATCH_LIMIT_BYTES),
	};
	if (output->scratch == NULL)
		return -1;
	journal_room_open(&output->room, directory_fd);
	adopt_predecessor(output);
	if (!open_segment(output))
		journal_room_failed(&output->room);
	return 0;
}

void
journal_output_close(struct journal_output *output)
{
	retire_segment(output);
	while (output->retired_count > 0)
		close(output->retired[--output->retired_count]);
	arena_free(&output->scratch);
	buffer_free(&output->frame);
	buffer_free(&output->beginning);
}

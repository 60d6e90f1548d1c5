/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames out of a file that may be growing, torn or damaged. Called by the
 * journal's reader and by `postlag journal`, on one thread.
 *
 * A verdict other than "whole" is only believed about bytes that were read anew
 * from where the record begins: a writer on a full disk cuts off what a failed
 * write left and later writes something else there. Whether an incomplete
 * record is damage (a wrong length) or still being written is told by what
 * follows: a whole frame behind it proves damage, because a segment's seed is
 * secret.
 */
#include "proto/segment_reader.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/reason.h"
#include "proto/event_codec.h"
#include "proto/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (256u << 10)
#define ARENA_LIMIT_BYTES (64u << 20)
#define HEADER_ARENA_LIMIT_BYTES (64u << 10)
/* How often a damaged place is read again before it is called that. */
#define LOOKS 2
/* What a disk fails to read at least, as the page cache has it. */
#define BLOCK_BYTES 4096

struct segment_reader {
	struct journal_damage *damage;
	const char *name;
	int fd; /* -1: none */
	struct journal_position position;
	struct segment_header header;
	struct arena *header_arena;
	struct arena *arena; /* of one record */
	bool header_known;
	bool ended;
	bool in_damage;        /* what precedes the position was stepped over */
	int read_error;        /* errno of the last attempt to read; 0: none */
	bool takes_unreadable; /* for damage */

	/* A piece of the file. */
	uint8_t *data;
	size_t capacity;
	uint64_t data_offset;
	size_t data_size;
	bool data_reaches_end; /* nothing stood behind it */
};

struct segment_reader *
segment_reader_new(struct journal_damage *damage)
{
	struct segment_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		return NULL;
	reader->fd = -1;
	reader->damage = damage;
	reader->arena = arena_new(ARENA_LIMIT_BYTES);
	reader->header_arena = arena_new(HEADER_ARENA_LIMIT_BYTES);
	reader->capacity = BUFFER_BYTES;
	reader->data = malloc(reader->capacity);
	if (reader->arena == NULL || reader->header_arena == NULL ||
	    reader->data == NULL)
		segment_reader_free(&reader);
	return reader;
}

void
segment_reader_begin(struct segment_reader *reader, int fd,
    struct journal_position from, const char *name)
{
	segment_reader_end(reader);
	reader->fd = fd;
	reader->name = name;
	reader->position = from;
	reader->header_known = reader->ended = reader->in_damage = false;
	reader->takes_unreadable = false;
	reader->data_size = 0;
}

/* Bytes. */

static int
grow(struct segment_reader *reader, size_t wanted, struct reason *reason)
{
	uint8_t *data;

	if (wanted <= reader->capacity)
		return 0;
	data = realloc(reader->data, wanted);
	if (data == NULL)
		return reason_set_errno(reason, "%s", reader->name);
	reader->data = data;
	reader->capacity = wanted;
	return 0;
}

/* How many bytes from `offset` to the next block, or to the file's end. */
static ssize_t
block_left(const struct segment_reader *reader, uint64_t offset)
{
	size_t left = BLOCK_BYTES - offset % BLOCK_BYTES;
	struct stat status;

	if (fstat(reader->fd, &status) != 0)
		return -1;
	if ((uint64_t)status.st_size < offset + left)
		left = (uint64_t)status.st_size > offset
			   ? (uint64_t)status.st_size - offset
			   : 0;
	return (ssize_t)left;
}

/* As pread(2). What is unreadable and taken for damage is zeros, which are no
 * frame and in no frame. */
static ssize_t
read_some(
    struct segment_reader *reader, uint64_t offset, void *data, size_t size)
{
	ssize_t got;

	do
		got = pread(reader->fd, data, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	reader->read_error = got < 0 ? errno : 0;
	if (got >= 0 || !reader->takes_unreadable)
		return got;
	got = block_left(reader, offset);
	if (got > (ssize_t)size)
		got = (ssize_t)size;
	if (got > 0)
		memset(data, 0, (size_t)got);
	return got;
}

/* Reads anew from `offset`: `wanted` bytes or more, at least one, unless the
 * file ends. */
static int
fill(struct segment_reader *reader, uint64_t offset, size_t wanted,
    struct reason *reason)
{
	ssize_t got = 1;

	reader->read_error = 0;
	reader->data_offset = offset;
	reader->data_size = 0;
	if (grow(reader, wanted, reason) != 0)
		return -1;
	while (reader->data_size < reader->capacity && got > 0) {
		got = read_some(reader, offset + reader->data_size,
		    reader->data + reader->data_size,
		    reader->capacity - reader->data_size);
		if (got > 0)
			reader->data_size += (size_t)got;
	}
	reader->data_reaches_end = got == 0;
	if (got < 0 && (reader->data_size == 0 || reader->data_size < wanted))
		return reason_set_errno(reason, "%s", reader->name);
	return 0;
}

/* What is at hand of the file from the position on. */
static const uint8_t *
at_position(const struct segment_reader *reader, size_t *size_r)
{
	uint64_t skip = reader->position.offset - reader->data_offset;

	if (reader->position.offset < reader->data_offset ||
	    skip > reader->data_size)
		skip = reader->data_size;
	*size_r = reader->data_size - (size_t)skip;
	return reader->data + skip;
}

/* The header. */

static void
give_up(struct segment_reader *reader, const char *why)
{
	log_warn("segment=%s reason=unreadable: %s", reader->name, why);
	reader->damage->segments++;
	reader->ended = true;
}

/* Returns 1 when the header is known, 0 when it is not (yet, or ever), -1 on an
 * I/O error. */
static int
read_header(struct segment_reader *reader, bool final, struct reason *reason)
{
	struct reason why = {"an incomplete header"};
	struct segment_header_extent extent = {0, 0};
	int result;

	if (fill(reader, 0, 0, reason) != 0)
		return -1;
	arena_reset(reader->header_arena);
	result = segment_header_read(reader->data, reader->data_size,
	    reader->header_arena, &reader->header, &extent, &why);
	if (result == 0 && !final)
		return 0;
	reader->damage->headers += extent.damaged;
	if (result == 1) {
		if (extent.damaged > 0)
			log_warn("segment=%s reason=a damaged header copy",
			    reader->name);
		reader->header_known = true;
		if (reader->position.offset < extent.bytes)
			reader->position.offset = extent.bytes;
	} else if (reader->data_size > 0) {
		give_up(reader, why.text);
	} else {
		reader->ended = true;
	}
	return reader->header_known;
}

/* Records. */

/* Looks at the position; FRAME_SHORT means that the file ends too early. */
static int
look(struct segment_reader *reader, enum frame_state *state_r,
    const uint8_t **payload_r, size_t *payload_size_r, struct reason *reason)
{
	size_t size, wanted = 0;
	const uint8_t *data;

	for (int fills = 0;; fills++) {
		data = at_position(reader, &size);
		*state_r = frame_open(data, size, reader->header.checksum_seed,
		    payload_r, payload_size_r);
		if (*state_r == FRAME_WHOLE)
			return 0;
		if (*state_r == FRAME_DAMAGED && fills >= LOOKS)
			return 0;
		if (*state_r == FRAME_SHORT && fills > 0) {
			if (reader->data_reaches_end)
				return 0;
			wanted = frame_bytes_wanted(data, size);
		}
		if (fill(reader, reader->position.offset, wanted, reason) != 0)
			return -1;
	}
}

static void
step(struct segment_reader *reader, size_t bytes)
{
	if (!reader->in_damage) {
		reader->damage->records++;
		log_warn("segment=%s offset=%" PRIu64 " reason=damaged",
		    reader->name, reader->position.offset);
	}
	reader->in_damage = true;
	reader->damage->bytes += bytes;
	reader->position.offset += bytes;
}

/* To the next whole frame, else to what may be the beginning of one, else over
 * all that is at hand. */
static void
step_over_damage(struct segment_reader *reader)
{
	uint64_t seed = reader->header.checksum_seed;
	size_t size, next;
	const uint8_t *data = at_position(reader, &size);

	next = frame_find(data, size, seed);
	if (next == size)
		next = frame_find_beginning(data, size, seed);
	step(reader, next);
}

/* Returns whether there is something behind an incomplete record, which then
 * is damaged; the position is there. */
static bool
step_over_short(struct segment_reader *reader)
{
	size_t size, next;
	const uint8_t *data = at_position(reader, &size);

	next =
	    size > 0 ? frame_find(data, size, reader->header.checksum_seed) : 0;
	if (next == size)
		return false;
	step(reader, next);
	return true;
}

static void
end_segment(struct segment_reader *reader)
{
	size_t size;

	at_position(reader, &size);
	if (size > 0) {
		log_warn("segment=%s offset=%" PRIu64 " reason=torn",
		    reader->name, reader->position.offset);
		reader->damage->torn++;
		reader->damage->bytes += size;
		reader->position.offset += size;
	}
	reader->ended = true;
}

/* Returns whether the payload is an event that this program knows. */
static bool
take_record(struct segment_reader *reader, const uint8_t *payload, size_t size,
    struct journal_record *record_r)
{
	struct reason why;

	arena_reset(reader->arena);
	record_r->offset = reader->position.offset;
	record_r->segment = &reader->header;
	reader->position.offset += FRAME_HEADER_BYTES + size;
	record_r->position = reader->position;
	reader->in_damage = false;
	if (event_decode(
		payload, size, reader->arena, &record_r->event, &why) != 0) {
		log_warn("segment=%s offset=%" PRIu64 " reason=%s",
		    reader->name, record_r->offset, why.text);
		reader->damage->records++;
		reader->damage->bytes += FRAME_HEADER_BYTES + size;
		return false;
	}
	return record_r->event.type != EVENT_NONE;
}

int
segment_reader_next(struct segment_reader *reader, bool final,
    struct journal_record *record_r, struct reason *reason)
{
	enum frame_state state;
	const uint8_t *payload;
	size_t size;
	int result;

	if (!reader->header_known && !reader->ended) {
		result = read_header(reader, final, reason);
		if (result != 1)
			return result;
	}
	while (!reader->ended) {
		if (look(reader, &state, &payload, &size, reason) != 0)
			return -1;
		if (state == FRAME_WHOLE) {
			if (take_record(reader, payload, size, record_r))
				return 1;
		} else if (state == FRAME_DAMAGED) {
			step_over_damage(reader);
		} else if (!step_over_short(reader)) {
			if (!final)
				return 0;
			end_segment(reader);
		}
	}
	return 0;
}

bool
segment_reader_give_up_unreadable(struct segment_reader *reader)
{
	if (reader->read_error == 0 || reader->takes_unreadable)
		return false;
	log_error("segment=%s offset=%" PRIu64 " reason=unreadable, what can "
		  "be read behind it is read: %s",
	    reader->name, reader->position.offset,
	    strerror(reader->read_error));
	reader->takes_unreadable = true;
	return true;
}

bool
segment_reader_has_ended(const struct segment_reader *reader)
{
	return reader->ended;
}

struct journal_position
segment_reader_position(const struct segment_reader *reader)
{
	return reader->position;
}

const struct segment_header *
segment_reader_header(const struct segment_reader *reader)
{
	return reader->header_known ? &reader->header : NULL;
}

void
segment_reader_end(struct segment_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
	reader->ended = true;
}

void
segment_reader_free(struct segment_reader **reader)
{
	if (*reader == NULL)
		return;
	segment_reader_end(*reader);
	arena_free(&(*reader)->arena);
	arena_free(&(*reader)->header_arena);
	free((*reader)->data);
	free(*reader);
	*reader = NULL;
}

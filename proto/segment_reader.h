/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment_reader: read the records of one segment, stepping over damage.
 *
 * Reads with pread(2) into a buffer; the file may grow meanwhile. One reader
 * serves one segment after the other. Not thread-safe.
 */
#ifndef PROTO_SEGMENT_READER_H
#define PROTO_SEGMENT_READER_H

#include "proto/event.h"
#include "proto/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct segment_reader;
struct reason;

struct journal_record {
	struct event event;
	/* Behind this record: where to go on after it. */
	struct journal_position position;
	uint64_t offset; /* where it begins in its segment */
	const struct segment_header *segment;
};

struct journal_damage {
	uint64_t records;  /* places where at least one record was lost */
	uint64_t bytes;    /* stepped over */
	uint64_t torn;     /* incomplete records at the end of a segment */
	uint64_t headers;  /* damaged copies of segment headers */
	uint64_t segments; /* unreadable: both copies damaged, a newer format,
			      no permission */
};

/* Damage is added to *damage, which must stay. Returns NULL when there is no
 * memory. */
struct segment_reader *segment_reader_new(struct journal_damage *damage);

/* Begins with the segment open as `fd`, which is owned from now on, behind
 * `from`; an offset within its header means its first record. `name` is kept
 * for log lines. */
void segment_reader_begin(struct segment_reader *reader, int fd,
    struct journal_position from, const char *name);

/* Returns 1 with a record, valid until the next call; 0 at the end of what is
 * there; -1 on an I/O error, which what stands in front of it does not suffer
 * from, and after which it may be called again. `final` says
 * that the file was complete before the call: then nothing more is waited for
 * and 0 means that the segment has ended. */
int segment_reader_next(struct segment_reader *reader, bool final,
    struct journal_record *record_r, struct reason *reason);

/* After -1: takes what cannot be read, up to the segment's end, for damage from
 * now on. Returns whether that is new and may help; the reason was another if
 * not. */
bool segment_reader_give_up_unreadable(struct segment_reader *reader);

/* Whether nothing more will come: its end was reached, or it is unreadable. */
bool segment_reader_has_ended(const struct segment_reader *reader);

/* Behind the last record or damage stepped over. */
struct journal_position segment_reader_position(
    const struct segment_reader *reader);

/* The header, once a record was read or the end was reached; NULL before, and
 * when it is unreadable. */
const struct segment_header *segment_reader_header(
    const struct segment_reader *reader);

/* Closes the segment, if there is one. */
void segment_reader_end(struct segment_reader *reader);

void segment_reader_free(struct segment_reader **reader);

#endif

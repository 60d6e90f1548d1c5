/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_reader: read the events of one source in order, from any position.
 *
 * Never writes, never blocks on the writer. At the end of what is there it says
 * so and may be asked again later. An incomplete record at the end is waited
 * for until a newer segment exists or the writer's lock is free; then it is
 * counted as torn. Damage in the middle is stepped over to the next whole
 * record and counted. A position beyond the end of its file (a power cut took
 * bytes that were read before) ends that segment. Segments that cannot be read
 * are counted and passed over, events of unknown kinds are passed over. What a
 * disk fails to read is tried again for JOURNAL_UNREADABLE_NS; then it is
 * damage too, and reading goes on behind it. Whoever waits for more watches the
 * source's directory: a record is IN_MODIFY there, a new segment IN_MOVED_TO.
 * Not thread-safe.
 */
#ifndef PROTO_JOURNAL_READER_H
#define PROTO_JOURNAL_READER_H

#include "proto/segment_reader.h"

#include <stdint.h>

struct journal_reader;
struct reason;

/* A path to a disk may fail and come back. */
#define JOURNAL_UNREADABLE_NS (300 * CLOCK_NS_PER_SECOND)

/* Opens the journal of `source` below `directory` to read what lies behind
 * `from`. The source's directory need not exist yet. Returns NULL only when
 * there is no memory or `directory` cannot be opened. */
struct journal_reader *journal_reader_open(const char *directory,
    const char *source, struct journal_position from, struct reason *reason);

/* Returns 1 with a record, valid until the next call; 0 at the end of what is
 * there; -1 on an I/O error, after which it may be called again. */
int journal_reader_next(struct journal_reader *reader,
    struct journal_record *record_r, struct reason *reason);

/* Where reading goes on: behind the last record or damage stepped over, or at a
 * segment that could not be opened. */
struct journal_position journal_reader_position(
    const struct journal_reader *reader);

/* Damage met since the reader was opened. */
const struct journal_damage *journal_reader_damage(
    const struct journal_reader *reader);

/* Bytes written and not read yet, over all segments; -1 on an error. */
int64_t journal_reader_behind_bytes(struct journal_reader *reader);

/* Unlinks the segments that lie wholly behind `position`, always keeping the
 * newest, whose number the next writer counts on from. Returns how many, or -1.
 */
int journal_reader_remove(struct journal_reader *reader,
    struct journal_position position, struct reason *reason);

void journal_reader_free(struct journal_reader **reader);

#endif

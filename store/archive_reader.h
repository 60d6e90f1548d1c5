/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * archive_reader: what archive.db has of days that are purged.
 *
 * On the thread of the reader.
 */
#ifndef STORE_ARCHIVE_READER_H
#define STORE_ARCHIVE_READER_H

#include <stdint.h>

struct database;
struct reason;
struct statement;
struct store_reader;

/* The archive within a read transaction, good until archive_reader_done().
 * Returns 1; 0 when nothing was ever purged; -1 with a reason. */
int archive_reader(struct store_reader *reader, struct database **archive_r,
    struct reason *reason);
void archive_reader_done(struct database *archive);

/* Its days, newest first, to be freed. Returns how many; a failure sticks to
 * the connection. */
long archive_reader_days(struct database *archive, int64_t **days_r);

struct archive_hours {
	int64_t day;
	int64_t series; /* its number in the archive */
	int64_t since, until; /* hours since 1970, the latter not included */
};

/* The rows (time, count, sum_ns, cells) of these; see statement_step(). */
struct statement *archive_reader_hours(
    struct database *archive, const struct archive_hours *hours);

/* The rows (time, state, count) of a day's outcomes from hour `since` of it on,
 * up to `until`, which is not included. */
struct statement *archive_reader_outcomes(
    struct database *archive, int64_t day, int64_t since, int64_t until);

#endif

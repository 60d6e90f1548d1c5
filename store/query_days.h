/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_days: visit what there is of some days: their files, or what the
 * archive has of those that are purged.
 *
 * On the reader's thread.
 */
#ifndef STORE_QUERY_DAYS_H
#define STORE_QUERY_DAYS_H

#include "base/reason.h"

#include <stdbool.h>
#include <stdint.h>

struct database;
struct day_tables;
struct store_reader;

struct query_days {
	/* Days since 1970, both included; LAYOUT_ODD is before all others. */
	int64_t first, last;
	void *context;
	/* Reads a file, within a transaction. A failure of the connection is
	 * looked at when it returns. */
	void (*file)(void *context, struct day_tables *tables, int64_t day);
	/* Reads a day of the archive that has no file any more; NULL: these are
	 * not asked for. */
	void (*archived)(void *context, struct database *archive, int64_t day);
};

/* What could not be read, and was passed over. */
struct query_gap {
	bool is_there;
	struct reason reason; /* of the last one */
};

/* Each day once, also while it is being purged. Of a file that could not be
 * read to its end the beginning may have been told. Returns 0, or -1 with a
 * reason: the directory cannot be read. */
int query_days_visit(struct store_reader *reader, const struct query_days *days,
    struct query_gap *gap_r, struct reason *reason);

#endif

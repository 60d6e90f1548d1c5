/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes from day to day. Called by queries over time on their caller's
 * thread. */
#include "store/query_days.h"

#include <stdlib.h>

#include "store/archive_reader.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/reader_file.h"
#include "store/reader_private.h"

static void
miss(struct query_gap *gap, const struct reason *reason)
{
	gap->is_there = true;
	gap->reason = *reason;
}

static bool
is_asked_for(const struct query_days *days, int64_t day)
{
	return day >= days->first && day <= days->last;
}

/* Returns whether there is a file that could be read. */
static bool
visit_file(struct store_reader *reader, const struct query_days *days,
    int64_t day, struct query_gap *gap)
{
	struct day_tables *tables;
	struct reason reason;
	int opened = reader_file(reader->pool, day, &tables, &reason);
	bool failed = opened < 0;

	if (opened == 1) {
		days->file(days->context, tables, day);
		failed = database_check(tables->database, &reason) != 0;
		reader_file_done(tables);
	}
	if (failed)
		miss(gap, &reason);
	return opened == 1 && !failed;
}

static bool
is_among(const int64_t *days, long count, int64_t day)
{
	for (long i = 0; i < count; i++)
		if (days[i] == day)
			return true;
	return false;
}

/* Days whose file was not read. A purge may be under way: after the files, so
 * that none is missed, and without those that were read, so that none counts
 * twice. */
static void
visit_archive(struct store_reader *reader, const struct query_days *days,
    const int64_t *read, long read_count, struct query_gap *gap)
{
	struct database *archive;
	struct reason reason;
	int64_t *archived = NULL;
	int opened = archive_reader(reader, &archive, &reason);
	long count = opened == 1 ? archive_reader_days(archive, &archived) : 0;

	for (long i = 0; i < count; i++)
		if (is_asked_for(days, archived[i]) &&
		    !is_among(read, read_count, archived[i]))
			days->archived(days->context, archive, archived[i]);
	free(archived);
	if (opened == 1) {
		opened = database_check(archive, &reason);
		archive_reader_done(archive);
	}
	if (opened < 0)
		miss(gap, &reason);
}

int
query_days_visit(struct store_reader *reader, const struct query_days *days,
    struct query_gap *gap_r, struct reason *reason)
{
	int64_t *found = NULL;
	long count = layout_list(reader->directory, &found, reason);
	long read = 0;

	*gap_r = (struct query_gap){.is_there = false};
	if (count < 0)
		return -1;
	/* Of those that were found, the ones that were read remain. */
	for (long i = 0; i < count; i++)
		if (is_asked_for(days, found[i]) &&
		    visit_file(reader, days, found[i], gap_r))
			found[read++] = found[i];
	if (days->archived != NULL)
		visit_archive(reader, days, found, read, gap_r);
	free(found);
	return 0;
}

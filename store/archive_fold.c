/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by archive.c within its transaction. */
#include "store/archive_fold.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/schema_archive.h"
#include "store/totals_rows.h"
#include "store/totals_writer.h"

struct series_sum {
	int64_t series;
	struct histogram_total total;
};

/* Rows come by series. Returns how many sums, to be freed. */
static size_t
sum_up(struct statement *rows, struct series_sum **sums_r)
{
	struct series_sum *sums = NULL;
	size_t count = 0;

	while (statement_step(rows) == 1) {
		int64_t series = column_integer(rows, 0);
		struct histogram_total of_row = totals_row_histogram(rows);

		if (count == 0 || sums[count - 1].series != series) {
			sums = memory_resize(sums, count + 1, sizeof(*sums));
			sums[count++] = (struct series_sum){.series = series};
		}
		histogram_total_add(&sums[count - 1].total, &of_row);
	}
	statement_end(rows);
	*sums_r = sums;
	return count;
}

static void
write_sum(struct database *archive, const struct series_sum *sum)
{
	struct statement *write =
	    database_statement(archive, SQL_ARCHIVE_SUM_WRITE);
	struct buffer buckets = {0};

	bind_integer(write, sum->series);
	totals_row_bind(write, &sum->total, &buckets);
	statement_run(write);
	buffer_free(&buckets);
}

static void
run_until(struct database *archive, enum archive_sql number, int64_t last)
{
	struct statement *statement = database_statement(archive, number);

	bind_integer(statement, last);
	statement_run(statement);
}

static void
note_sum_day(struct database *archive)
{
	struct statement *note =
	    database_statement(archive, SQL_ARCHIVE_NOTE_DAY);

	bind_integer(note, ARCHIVE_SUM_DAY);
	statement_run(note);
}

void
archive_fold(struct database *archive, int64_t last)
{
	struct statement *rows;
	struct series_sum *sums;
	size_t count;

	if (last <= ARCHIVE_SUM_DAY)
		return;
	run_until(archive, SQL_ARCHIVE_EXPIRE_DAYS, last);
	if (database_check(archive, NULL) != 0 ||
	    database_changes(archive) == 0)
		return;
	note_sum_day(archive);
	run_until(archive, SQL_ARCHIVE_FOLD_COUNTERS, last);
	run_until(archive, SQL_ARCHIVE_EXPIRE_COUNTERS, last);
	rows = database_statement(archive, SQL_ARCHIVE_TOTALS_UNTIL);
	bind_integer(rows, last);
	count = sum_up(rows, &sums);
	for (size_t i = 0; i < count; i++)
		write_sum(archive, &sums[i]);
	free(sums);
	run_until(archive, SQL_ARCHIVE_EXPIRE_TOTALS, last);
}

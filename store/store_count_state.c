/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through all files with connections of its own: those of the writer may
 * be in a batch. Called by the exporter on the ingest thread.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "store/database.h"
#include "store/layout.h"
#include "store/store_private.h"

static int
count_in_file(
    const char *path, const char *sql, int64_t *count_r, struct reason *reason)
{
	enum database_failure failure;
	struct database *file =
	    database_open(path, DATABASE_READ, NULL, 0, &failure, reason);
	int result = -1;

	if (file == NULL)
		return -1;
	database_read_integer(file, sql, count_r);
	result = database_check(file, reason);
	database_close(&file);
	return result;
}

int
store_count_state(struct store *store, enum recipient_state state,
    int64_t *count_r, struct reason *reason)
{
	char *sql = memory_format(
	    "SELECT sum(count) FROM outcome_hour WHERE state = %d", (int)state);
	int64_t *days = NULL, count = 0;
	long day_count = layout_list(store->directory, &days, reason);
	int result = day_count < 0 ? -1 : 0;

	*count_r = 0;
	for (long i = 0; i < day_count && result == 0; i++) {
		char *path = layout_day_path(store->directory, days[i]);

		result = count_in_file(path, sql, &count, reason);
		*count_r += count;
		free(path);
	}
	free(days);
	free(sql);
	return result;
}

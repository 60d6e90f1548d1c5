/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The batch's changes, added up by minute before they are written: a thousand
 * rows are of a few minutes. Called by the functions that write recipients, and
 * by day_file, on the ingest thread.
 */
#include "store/day_outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/database.h"
#include "store/day_tables.h"

#define US_PER_MINUTE 60000000
#define MINUTES_PER_HOUR 60
#define HOURS_PER_DAY 24
#define MINUTES_PER_DAY (HOURS_PER_DAY * MINUTES_PER_HOUR)

struct change {
	unsigned minute;
	int64_t counts[RECIPIENT_STATES];
};

struct day_outcomes {
	uint16_t place[MINUTES_PER_DAY]; /* in changes, from 1; 0: none */
	struct change *changes;
	size_t count, capacity;
};

struct day_outcomes *
day_outcomes_new(void)
{
	return memory_zeroed(1, sizeof(struct day_outcomes));
}

void
day_outcomes_free(struct day_outcomes **outcomes)
{
	if (*outcomes == NULL)
		return;
	free((*outcomes)->changes);
	free(*outcomes);
	*outcomes = NULL;
}

/* Rows may run on past midnight, if a moment was crowded. */
static unsigned
minute_of_row(int64_t message_row)
{
	int64_t minute = message_row / US_PER_MINUTE;

	return minute < MINUTES_PER_DAY ? (unsigned)minute
					: MINUTES_PER_DAY - 1;
}

static struct change *
change_at(struct day_outcomes *outcomes, unsigned minute)
{
	uint16_t *place = &outcomes->place[minute];

	if (*place == 0) {
		if (outcomes->count == outcomes->capacity) {
			outcomes->capacity = 2 * outcomes->capacity + 16;
			outcomes->changes = memory_resize(outcomes->changes,
			    outcomes->capacity, sizeof(*outcomes->changes));
		}
		outcomes->changes[outcomes->count] =
		    (struct change){.minute = minute};
		*place = (uint16_t)++outcomes->count;
	}
	return &outcomes->changes[*place - 1];
}

void
day_outcomes_add(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state state)
{
	change_at(outcomes, minute_of_row(message_row))->counts[state]++;
}

void
day_outcomes_remove(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state state)
{
	change_at(outcomes, minute_of_row(message_row))->counts[state]--;
}

void
day_outcomes_move(struct day_outcomes *outcomes, int64_t message_row,
    enum recipient_state from, enum recipient_state to)
{
	if (from == to)
		return;
	day_outcomes_remove(outcomes, message_row, from);
	day_outcomes_add(outcomes, message_row, to);
}

static void
write_counts(struct day_tables *tables, enum day_sql sql, unsigned time,
    const int64_t *counts)
{
	for (unsigned state = 0; state < RECIPIENT_STATES; state++) {
		struct statement *add;

		if (counts[state] == 0)
			continue;
		add = database_statement(tables->database, sql);
		bind_integer(add, time);
		bind_integer(add, state);
		bind_integer(add, counts[state]);
		statement_run(add);
	}
}

static void
write_hours(const struct day_outcomes *outcomes, struct day_tables *tables)
{
	int64_t hours[HOURS_PER_DAY][RECIPIENT_STATES] = {{0}};

	for (size_t i = 0; i < outcomes->count; i++) {
		const struct change *change = &outcomes->changes[i];

		for (unsigned state = 0; state < RECIPIENT_STATES; state++)
			hours[change->minute / MINUTES_PER_HOUR][state] +=
			    change->counts[state];
	}
	for (unsigned hour = 0; hour < HOURS_PER_DAY; hour++)
		write_counts(tables, SQL_OUTCOME_HOUR_ADD, hour, hours[hour]);
}

void
day_outcomes_write(struct day_outcomes *outcomes, struct day_tables *tables)
{
	if (outcomes->count == 0)
		return;
	for (size_t i = 0; i < outcomes->count; i++)
		write_counts(tables, SQL_OUTCOME_MINUTE_ADD,
		    outcomes->changes[i].minute, outcomes->changes[i].counts);
	write_hours(outcomes, tables);
	day_outcomes_discard(outcomes);
}

void
day_outcomes_discard(struct day_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++)
		outcomes->place[outcomes->changes[i].minute] = 0;
	outcomes->count = 0;
}

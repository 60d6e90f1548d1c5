/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds up counts. Called by the exporter's HTTP threads. */
#include "store/query_outcomes.h"

#include "base/arena.h"
#include "base/clock.h"
#include "store/archive_reader.h"
#include "store/database.h"
#include "store/day_tables.h"

struct collection {
	const struct query_period *period;
	struct outcome_answer *answer;
};

/* Of a day, in its own minutes or hours. */
struct part_of_day {
	int64_t since, until;
};

static struct part_of_day
part_of(const struct query_period *period, int64_t day)
{
	int64_t unit_ns = query_period_unit_ns(period);
	int64_t midnight_ns = day * CLOCK_NS_PER_DAY;
	int64_t first_ns = query_period_first_ns(period);
	int64_t end_ns = query_period_end_ns(period);

	return (struct part_of_day){
	    .since = (first_ns - midnight_ns) / unit_ns,
	    .until = (end_ns - midnight_ns) / unit_ns,
	};
}

/* Rows of (time, state, count). */
static void
add_rows(
    struct collection *collection, struct statement *rows, int64_t midnight_ns)
{
	const struct query_period *period = collection->period;
	int64_t unit_ns = query_period_unit_ns(period);
	int64_t first_ns = query_period_first_ns(period);

	while (statement_step(rows) == 1) {
		int64_t at_ns = midnight_ns + column_integer(rows, 0) * unit_ns;
		int64_t state = column_integer(rows, 1);
		int64_t count = column_integer(rows, 2);
		struct outcome_point *point;

		if (state < 0 || state >= RECIPIENT_STATES || count < 0)
			continue;
		point = &collection->answer
			     ->points[(at_ns - first_ns) / period->step_ns];
		point->counts[state] += (uint64_t)count;
		collection->answer->whole.counts[state] += (uint64_t)count;
	}
	statement_end(rows);
}

static void
add_file(void *context, struct day_tables *tables, int64_t day)
{
	struct collection *collection = context;
	struct part_of_day part = part_of(collection->period, day);
	struct statement *rows = database_statement(tables->database,
	    query_period_is_by_hour(collection->period)
		? SQL_OUTCOME_HOURS_READ
		: SQL_OUTCOME_MINUTES_READ);

	bind_integer(rows, part.since);
	bind_integer(rows, part.until);
	add_rows(collection, rows, day * CLOCK_NS_PER_DAY);
}

static void
add_archived(void *context, struct database *archive, int64_t day)
{
	struct collection *collection = context;
	struct part_of_day part = part_of(collection->period, day);

	add_rows(collection,
	    archive_reader_outcomes(archive, day, part.since, part.until),
	    day * CLOCK_NS_PER_DAY);
}

static void
divide(const struct query_period *period, struct arena *arena,
    struct outcome_answer *answer)
{
	int64_t start_ns = query_period_first_ns(period);

	answer->count = query_period_steps(period);
	answer->points =
	    arena_alloc(arena, answer->count * sizeof(*answer->points));
	answer->whole.start_wall_ns = start_ns;
	for (size_t i = 0; answer->points != NULL && i < answer->count; i++)
		answer->points[i] = (struct outcome_point){
		    .start_wall_ns = start_ns + (int64_t)i * period->step_ns};
}

int
store_outcomes(struct store_reader *reader, const struct query_period *period,
    struct arena *arena, struct outcome_answer *answer_r, struct reason *reason)
{
	struct collection collection = {period, answer_r};
	struct query_days days = {
	    .context = &collection,
	    .file = add_file,
	};

	*answer_r = (struct outcome_answer){.count = 0};
	if (query_period_check(period, reason) != 0)
		return -1;
	divide(period, arena, answer_r);
	if (answer_r->points == NULL)
		return reason_set(reason, "too many steps");
	days.first = clock_day(query_period_first_ns(period));
	days.last = clock_day(query_period_end_ns(period) - 1);
	if (query_period_is_by_hour(period))
		days.archived = add_archived;
	return query_days_visit(reader, &days, &answer_r->gap, reason);
}

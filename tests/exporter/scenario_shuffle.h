/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_shuffle: read a scenario's sources in one of very many ways.
 *
 * Each source keeps its own order. By its number a shuffle takes them in turns,
 * in bursts, one wholly behind the other, or by the clock, when time may also
 * expire what waits; commits now and then; crashes, and reads on from where the
 * store says or from anywhere before that. After each commit it looks for what
 * cannot be.
 */
#ifndef TESTS_EXPORTER_SCENARIO_SHUFFLE_H
#define TESTS_EXPORTER_SCENARIO_SHUFFLE_H

#include "tests/exporter/scenario_check.h"

#define CRASHES_MAX 4
/* Once in so many commits all rows are looked at. */
#define ROWS_CHANCE 8
/* Time after which nothing waits any more. */
#define LONG_NS (3600 * SECOND_NS)

/* How the next source is chosen. */
enum reading {
	READ_IN_TURNS,
	READ_IN_BURSTS,
	READ_ONE_BY_ONE,
	READ_BY_THE_CLOCK,
	READINGS
};

struct shuffle_figures {
	unsigned long applied, commits, crashes;
};

struct shuffle {
	const struct scenario *scenario;
	struct world world;
	struct checker checker;
	uint32_t seed;
	enum reading reading;
	bool is_causal; /* nothing runs ahead of its cause */
	int64_t lag_ns; /* of one source behind another; 0: any */
	unsigned commit_chance, crash_chance; /* one of so many */
	unsigned crashes;
	size_t next[JOURNALS]; /* to be applied */
	size_t seen[JOURNALS]; /* how many were ever applied */
	int source;            /* of the burst */
	int order[JOURNALS];   /* READ_ONE_BY_ONE */
	int64_t until_ns;      /* READ_BY_THE_CLOCK: all before is there */
	struct shuffle_figures *figures;
};

/* Small, and the same everywhere. */
static inline uint32_t
shuffle_random(struct shuffle *shuffle, uint32_t limit)
{
	shuffle->seed = shuffle->seed * 1664525 + 1013904223;
	return (shuffle->seed >> 8) % limit;
}

/* Once in so many times; 0: never. */
static inline bool
happens(struct shuffle *shuffle, unsigned chance)
{
	return chance > 0 && shuffle_random(shuffle, chance) == 0;
}

static inline void
parse_item(const struct item *item, struct log_record *record_r)
{
	if (item->line == NULL)
		return;
	maillog_line_parse(item->line, strlen(item->line), &record_r->line);
	maillog_record_parse(&record_r->line, &record_r->record);
}

static inline void
apply_item_line(struct world *world, const struct item *item)
{
	struct log_record record = item->log;
	struct reason reason;

	parse_item(item, &record);
	if (join_apply_log(world->join, journal_names[MAILLOG], &record,
		world->now_ns, &reason) != 0)
		fail_msg("%s", reason.text);
	world->applied[MAILLOG] = record.position;
}

static inline void
apply_item(struct world *world, int source, const struct item *item)
{
	struct reason reason;

	/* Nothing is read before it was written. */
	if (item->end_ns > world->now_ns)
		world->now_ns = item->end_ns;
	if (source == MAILLOG) {
		apply_item_line(world, item);
		return;
	}
	if (join_apply(world->join, journal_names[source], &item->record,
		world->now_ns, &reason) != 0)
		fail_msg("%s", reason.text);
	world->applied[source] = item->record.position;
}

/* The join keeps the source's name. */
static inline void
apply_record(
    void *context, struct world *world, const struct source_record *record)
{
	const char *source = journal_names[source_number(record)];
	struct reason reason;
	int result = record->line != NULL
			 ? join_apply_log(world->join, source, record->line,
			       world->now_ns, &reason)
			 : join_apply(world->join, source, record->record,
			       world->now_ns, &reason);

	if (result != 0)
		fail_msg("%s", reason.text);
}

static inline void
let_time_pass(struct world *world, int64_t now_ns)
{
	struct reason reason;

	world->now_ns = now_ns;
	if (join_expire(world->join, now_ns, &reason) != 0)
		fail_msg("%s", reason.text);
}

/* What an exporter makes of it that finds everything there. */
static inline void
read_by_the_exporter(const struct scenario *scenario, struct world *world)
{
	scenario_begin_world(scenario, world);
	world->now_ns = scenario->clock_ns;
	scenario_read(scenario, world, apply_record, NULL);
	let_time_pass(world, scenario->clock_ns + LONG_NS);
	world_commit(world);
}

static inline void
commit(struct shuffle *shuffle)
{
	world_commit(&shuffle->world);
	shuffle->figures->commits++;
	check_moment(&shuffle->checker, &shuffle->world,
	    shuffle_random(shuffle, ROWS_CHANCE) == 0);
}

/* The first record of a source behind a position. */
static inline size_t
first_behind(
    const struct shuffle *shuffle, int source, struct journal_position position)
{
	const struct scenario *scenario = shuffle->scenario;
	size_t number = 0;

	while (number < scenario->counts[source]) {
		const struct item *item = &scenario->items[source][number];

		if (journal_position_compare(source == MAILLOG
						 ? item->log.position
						 : item->record.position,
			position) > 0)
			break;
		number++;
	}
	return number;
}

/* Goes on where the store says, or somewhere before. */
static inline void
read_again(struct shuffle *shuffle)
{
	struct world *world = &shuffle->world;

	for (int i = 0; i < JOURNALS; i++) {
		size_t number = first_behind(shuffle, i,
		    store_lower_bound(world->store,
			i == MAILLOG ? LOG_START : journal_names[i]));

		if (number > 0 && shuffle_random(shuffle, 2) == 0)
			number = shuffle_random(shuffle, (uint32_t)number);
		shuffle->next[i] = number;
		world->applied[i] = (struct journal_position){0, 0};
	}
}

/* What was not committed is gone; memory is built again, by the same process
 * or another. */
static inline void
crash(struct shuffle *shuffle)
{
	struct world *world = &shuffle->world;
	struct reason reason;

	shuffle->crashes++;
	shuffle->figures->crashes++;
	store_rollback(world->store);
	if (shuffle_random(shuffle, 4) == 0) {
		world_close(world);
		world_open(world);
	} else if (join_rebuild(world->join, world->now_ns, &reason) != 0) {
		fail_msg("%s", reason.text);
	}
	read_again(shuffle);
}

/* Whether a source has a record that is not applied and was written before this
 * moment. */
static inline bool
is_behind(const struct shuffle *shuffle, int source, int64_t moment_ns)
{
	const struct scenario *scenario = shuffle->scenario;
	size_t next = shuffle->next[source];

	return next < scenario->counts[source] &&
	       scenario->items[source][next].begin_ns < moment_ns;
}

/* A record as the exporter's sources would show it to the join. */
static inline bool
is_ready(const struct shuffle *shuffle, int source, const struct item *item)
{
	struct log_record record = item->log;

	if (source != MAILLOG)
		return join_is_ready(shuffle->world.join, &item->record);
	parse_item(item, &record);
	return join_log_is_ready(shuffle->world.join, &record);
}

/* Whether sources_next() would hold it back: what other sources had when it was
 * written is not applied yet. */
static inline bool
is_held_back(const struct shuffle *shuffle, int source, const struct item *item)
{
	if (is_ready(shuffle, source, item))
		return false;
	if (is_behind(shuffle, MILTER, item->end_ns))
		return true;
	return source == LMTP ? is_behind(shuffle, MAILLOG, item->end_ns)
			      : is_behind(shuffle, LMTP, item->begin_ns);
}

/* Whether lines are to come that were read before a crash: see join_rebuild().
 */
static inline bool
log_is_replayed(const struct shuffle *shuffle)
{
	const struct scenario *scenario = shuffle->scenario;
	size_t next = shuffle->next[MAILLOG];

	return next < scenario->counts[MAILLOG] &&
	       store_is_replay(shuffle->world.store, journal_names[MAILLOG],
		   scenario->items[MAILLOG][next].log.position);
}

static inline bool
comes_too_early(
    const struct shuffle *shuffle, int source, const struct item *item)
{
	if (log_is_replayed(shuffle))
		return source != MAILLOG;
	for (int i = 0; shuffle->lag_ns > 0 && i < JOURNALS; i++)
		if (i != source &&
		    is_behind(shuffle, i, item->begin_ns - shuffle->lag_ns))
			return true;
	return shuffle->is_causal && is_held_back(shuffle, source, item);
}

static inline bool
has_more(const struct shuffle *shuffle, int source)
{
	const struct scenario *scenario = shuffle->scenario;
	size_t next = shuffle->next[source];

	if (next == scenario->counts[source] ||
	    comes_too_early(shuffle, source, &scenario->items[source][next]))
		return false;
	return shuffle->reading != READ_BY_THE_CLOCK ||
	       scenario->items[source][next].begin_ns < shuffle->until_ns;
}

/* A source that has more, by turns from a random one on; -1: none has. */
static inline int
any_source(struct shuffle *shuffle)
{
	int first = (int)shuffle_random(shuffle, JOURNALS);

	for (int i = 0; i < JOURNALS; i++)
		if (has_more(shuffle, (first + i) % JOURNALS))
			return (first + i) % JOURNALS;
	return -1;
}

static inline int
next_source(struct shuffle *shuffle)
{
	switch (shuffle->reading) {
	case READ_IN_BURSTS:
		if (shuffle_random(shuffle, 5) == 0 ||
		    !has_more(shuffle, shuffle->source))
			shuffle->source = any_source(shuffle);
		return shuffle->source;
	case READ_ONE_BY_ONE:
		for (int i = 0; i < JOURNALS; i++)
			if (has_more(shuffle, shuffle->order[i]))
				return shuffle->order[i];
		return -1;
	default:
		return any_source(shuffle);
	}
}

static inline void
apply_next(struct shuffle *shuffle, int source)
{
	size_t number = shuffle->next[source]++;
	const struct item *item = &shuffle->scenario->items[source][number];

	apply_item(&shuffle->world, source, item);
	shuffle->figures->applied++;
	if (number == shuffle->seen[source]) {
		shuffle->seen[source]++;
		shuffle->checker.told += item->delivered;
	}
}

/* The next whole second in which something was written; 0: none is left. */
static inline int64_t
next_moment(const struct shuffle *shuffle)
{
	const struct scenario *scenario = shuffle->scenario;
	int64_t first_ns = INT64_MAX;

	for (int i = 0; i < JOURNALS; i++)
		if (shuffle->next[i] < scenario->counts[i] &&
		    scenario->items[i][shuffle->next[i]].begin_ns < first_ns)
			first_ns =
			    scenario->items[i][shuffle->next[i]].begin_ns;
	return first_ns != INT64_MAX
		   ? first_ns - first_ns % SECOND_NS + SECOND_NS
		   : 0;
}

/* Everything there is was read. Returns whether there is more later. */
static inline bool
wait_for_more(struct shuffle *shuffle)
{
	int64_t moment_ns = next_moment(shuffle);

	if (shuffle->reading != READ_BY_THE_CLOCK || moment_ns == 0)
		return false;
	/* A crash leads back in the records, not in time. */
	if (moment_ns > shuffle->until_ns) {
		if (shuffle->until_ns > 0 &&
		    moment_ns - SECOND_NS > shuffle->world.now_ns)
			let_time_pass(&shuffle->world, moment_ns - SECOND_NS);
		shuffle->until_ns = moment_ns;
	}
	return true;
}

static inline void
read_all(struct shuffle *shuffle)
{
	for (;;) {
		int source = next_source(shuffle);

		if (source < 0) {
			if (!wait_for_more(shuffle))
				break;
			continue;
		}
		apply_next(shuffle, source);
		if (happens(shuffle, shuffle->commit_chance))
			commit(shuffle);
		if (shuffle->crashes < CRASHES_MAX &&
		    happens(shuffle, shuffle->crash_chance))
			crash(shuffle);
	}
}

static inline void
shuffle_begin(struct shuffle *shuffle, unsigned number)
{
	static const int orders[][JOURNALS] = {{MILTER, LMTP, MAILLOG},
	    {MILTER, MAILLOG, LMTP}, {LMTP, MILTER, MAILLOG},
	    {LMTP, MAILLOG, MILTER}, {MAILLOG, MILTER, LMTP},
	    {MAILLOG, LMTP, MILTER}};

	/* Each scenario in other ways. */
	shuffle->seed = number * 2654435761u + 1;
	for (const char *name = shuffle->scenario->name; *name != '\0'; name++)
		shuffle->seed = shuffle->seed * 31 + (unsigned char)*name;
	shuffle->reading = (enum reading)shuffle_random(shuffle, READINGS);
	shuffle->commit_chance = 1 + shuffle_random(shuffle, 12);
	shuffle->crash_chance = 10 + shuffle_random(shuffle, 100);
	shuffle->source = (int)shuffle_random(shuffle, JOURNALS);
	memcpy(shuffle->order, orders[shuffle_random(shuffle, COUNT(orders))],
	    sizeof(shuffle->order));
	shuffle->checker.counters =
	    calloc(metrics_names()->counter_count, sizeof(uint64_t));
	scenario_begin_world(shuffle->scenario, &shuffle->world);
}

static inline bool
shuffle_end(struct shuffle *shuffle, unsigned number)
{
	char *dump = scenario_dump(&shuffle->world, shuffle->scenario);

	compare_ends(&shuffle->checker, dump);
	if (shuffle->checker.trouble != NULL)
		printf("# %s, shuffle %u: %s\n", shuffle->scenario->name,
		    number, shuffle->checker.trouble);
	free(dump);
	free(shuffle->checker.counters);
	world_end(&shuffle->world);
	return shuffle->checker.trouble == NULL;
}

/* Returns whether all was well; otherwise says what was not. */
static inline bool
shuffle_once(const struct scenario *scenario,
    const struct expectation *expected, unsigned number,
    struct shuffle_figures *figures)
{
	struct shuffle shuffle = {
	    .scenario = scenario,
	    .is_causal = expected->is_causal,
	    .lag_ns = expected->lag_ns,
	    .checker = {.scenario = scenario, .expected = expected},
	    .figures = figures,
	};
	bool well;

	shuffle_begin(&shuffle, number);
	read_all(&shuffle);
	let_time_pass(&shuffle.world, scenario->clock_ns + LONG_NS);
	commit(&shuffle);
	well = shuffle_end(&shuffle, number);
	free(shuffle.checker.trouble);
	return well;
}

#endif

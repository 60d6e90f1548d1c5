/* SPDX-License-Identifier: BSD-2-Clause */
/* Percentiles over time, against the durations themselves. */
#include "store/query_latency.h"

#include "store/archive.h"
#include "store/layout.h"
#include "store/observation.h"
#include "store/series_slots.h"

#include <math.h>

#include "tests/store/store_fixture.h"

#define OBSERVATIONS 20000
#define HOURS 60

struct seen {
	int64_t wall_ns, value_ns;
	unsigned histogram;
	/* Maybe NULL, as the question has them. */
	struct series_labels labels;
};

static struct seen observations[OBSERVATIONS];
static uint32_t random_state;

static unsigned
random_below(unsigned limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

/* Microseconds to hours, some of them 0. */
static int64_t
random_duration(void)
{
	int64_t value_ns = 1 + random_below(1 << 10);

	if (random_below(50) == 0)
		return 0;
	return value_ns << random_below(33);
}

static const char *const hosts[] = {NULL, "mx1.example.com", "mx2"};
static const char *const relays[] = {
    "mx.example.net", "192.0.2.1", "unix:/run/lmtp", "a.example.org"};
static const char *const providers[] = {
    "example.org", "other.example", "x--y.example"};

/* Without a host nothing else is kept. */
static void
random_labels(struct series_labels *labels)
{
	labels->host = hosts[random_below(COUNT(hosts))];
	if (labels->host == NULL || random_below(3) == 0)
		return;
	labels->relay = relays[random_below(COUNT(relays))];
	labels->provider = providers[random_below(COUNT(providers))];
}

/* As logs and people write them. */
static void
observe(struct day_file *file, const struct seen *one)
{
	struct observation observation = {
	    .histogram = one->histogram,
	    .labels = one->labels,
	    .wall_ns = one->wall_ns,
	    .value_ns = one->value_ns,
	};

	if (one->labels.relay == relays[0])
		observation.labels.relay = "MX.example.net[192.0.2.9]:25";
	if (one->labels.relay == relays[1])
		observation.labels.relay = "[192.0.2.1]:10025";
	if (one->labels.provider == providers[0])
		observation.labels.provider = "Example.Org";
	day_file_observe_labelled(file, &observation);
}

/* Complete at any time of HOURS, kept in the file of any day before. */
static void
observe_all(struct fixture *fixture)
{
	random_state = 7;
	for (size_t i = 0; i < OBSERVATIONS; i++) {
		struct seen *one = &observations[i];
		struct day_file *file = store_file(fixture->store,
		    NOW_NS - (int64_t)random_below(4) * DAY_NS,
		    &fixture->reason);

		assert_non_null(file);
		*one = (struct seen){
		    .wall_ns = NOW_NS -
			       (int64_t)random_below(HOURS * 3600) * SECOND_NS,
		    .value_ns = random_duration(),
		    .histogram = random_below(HISTOGRAMS),
		};
		random_labels(&one->labels);
		observe(file, one);
		if (random_below(1000) == 0)
			fixture_must_commit(fixture, i + 1);
	}
	fixture_must_commit(fixture, OBSERVATIONS + 1);
}

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	observe_all(*state);
	return 0;
}

static struct latency_answer
ask(struct fixture *fixture, const struct latency_question *question)
{
	struct latency_answer answer;

	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	if (store_latency(fixture->reader, question, fixture->arena, &answer,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	assert_false(answer.gap.is_there);
	return answer;
}

static int
compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static bool
is_asked_for(const char *asked, const char *label)
{
	return asked == NULL || (label != NULL && strcmp(asked, label) == 0);
}

static bool
has_labels(const struct seen *one, const struct series_labels *labels)
{
	return is_asked_for(labels->host, one->labels.host) &&
	       is_asked_for(labels->relay, one->labels.relay) &&
	       is_asked_for(labels->provider, one->labels.provider);
}

/* The durations of an interval in their order; returns how many. */
static size_t
select_durations(const struct latency_question *question, int64_t from_ns,
    int64_t to_ns, int64_t *sorted)
{
	size_t count = 0;

	for (size_t i = 0; i < OBSERVATIONS; i++) {
		const struct seen *one = &observations[i];

		if (one->wall_ns < from_ns || one->wall_ns >= to_ns ||
		    !has_labels(one, &question->labels))
			continue;
		for (size_t j = 0; j < question->series_count; j++)
			if (question->series[j] ==
			    fixture_histograms[one->histogram])
				sorted[count++] = one->value_ns;
	}
	qsort(sorted, count, sizeof(*sorted), compare);
	return count;
}

static bool
is_near(int64_t ours, int64_t exact)
{
	return fabs((double)(ours - exact)) <= 0.0111 * (double)exact + 1;
}

static void
check_point(const struct latency_question *question,
    const struct latency_point *point, int64_t to_ns)
{
	static const double quantiles[] = {0.5, 0.9, 0.95, 0.99};
	static int64_t sorted[2 * OBSERVATIONS];
	size_t count =
	    select_durations(question, point->start_wall_ns, to_ns, sorted);
	int64_t sum_ns = 0;
	uint64_t cells = 0;

	for (size_t i = 0; i < count; i++)
		sum_ns += sorted[i];
	assert_int_equal(point->count, count);
	assert_int_equal(point->sum_ns, sum_ns);
	for (size_t i = 0; i < COUNT(quantiles) && count > 0; i++) {
		size_t rank = (size_t)ceil(quantiles[i] * (double)count);

		if (!is_near(point->quantiles_ns[i],
			sorted[rank > 0 ? rank - 1 : 0]))
			fail_msg("%s is %lld, not %lld",
			    latency_quantile_name((enum latency_quantile)i),
			    (long long)point->quantiles_ns[i],
			    (long long)sorted[rank > 0 ? rank - 1 : 0]);
	}
	if (count > 0)
		assert_true(
		    point->quantiles_ns[LATENCY_MAX] >= sorted[count - 1] - 1);
	for (size_t i = 0; i < point->cell_count; i++) {
		cells += point->cells[i].count;
		assert_true(i == 0 || point->cells[i].bound_ns >
					  point->cells[i - 1].bound_ns);
	}
	if (question->with_cells)
		assert_int_equal(cells, count);
}

static void
check(struct fixture *fixture, const struct latency_question *question)
{
	struct latency_answer answer = ask(fixture, question);
	int64_t step_ns = question->period.step_ns, at_ns;

	for (size_t i = 0; i < answer.count; i++) {
		at_ns = answer.points[i].start_wall_ns;
		assert_int_equal(at_ns % step_ns, 0);
		assert_int_equal(at_ns,
		    answer.points[0].start_wall_ns + (int64_t)i * step_ns);
		check_point(question, &answer.points[i], at_ns + step_ns);
	}
	at_ns = answer.points[answer.count - 1].start_wall_ns + step_ns;
	assert_true(at_ns >= question->period.until_wall_ns);
	check_point(question, &answer.whole, at_ns);
}

static void
percentiles_are_those_of_the_durations(void **state)
{
	static const int64_t steps_ns[] = {QUERY_MINUTE_NS * 5,
	    QUERY_MINUTE_NS * 45, QUERY_HOUR_NS, 6 * QUERY_HOUR_NS};
	struct latency_question question = {
	    .series = fixture_histograms,
	    .series_count = 1,
	    .period.since_wall_ns = NOW_NS - (HOURS + 3) * QUERY_HOUR_NS,
	    .period.until_wall_ns = NOW_NS,
	};

	for (size_t i = 0; i < COUNT(steps_ns); i++) {
		question.period.step_ns = steps_ns[i];
		question.with_cells = i % 2 == 1;
		check(*state, &question);
	}
	/* Both together. */
	question.series_count = HISTOGRAMS;
	check(*state, &question);
}

/* Of hosts, relays and providers. */
static void
percentiles_by_hour_are_exact_enough(void **state)
{
	struct latency_question question = {
	    .series = fixture_histograms,
	    .series_count = HISTOGRAMS,
	    .period = {NOW_NS - HOURS * QUERY_HOUR_NS, NOW_NS, QUERY_HOUR_NS},
	    .with_cells = true,
	};

	for (size_t host = 0; host < COUNT(hosts); host++) {
		question.labels = (struct series_labels){.host = hosts[host]};
		check(*state, &question);
		for (size_t i = 0; i < COUNT(relays); i++) {
			question.labels.relay = relays[i];
			check(*state, &question);
		}
		question.labels.relay = NULL;
		for (size_t i = 0; i < COUNT(providers); i++) {
			question.labels.provider = providers[i];
			check(*state, &question);
		}
	}
}

static void
percentiles_by_minute_are_exact_enough(void **state)
{
	const struct latency_question question = {
	    .series = fixture_histograms,
	    .series_count = HISTOGRAMS,
	    .labels.host = hosts[1],
	    .period = {NOW_NS - 9 * QUERY_HOUR_NS, NOW_NS, QUERY_MINUTE_NS},
	    .with_cells = true,
	};

	check(*state, &question);
}

/* By the hour, from the archive. */
static void
a_purged_day_counts_as_before(void **state)
{
	struct fixture *fixture = *state;
	int64_t day = clock_day(NOW_NS) - 2;
	char *path = layout_day_path(fixture->directory, day);
	struct archive *archive;

	store_close(&fixture->store);
	assert_int_equal(archive_open(fixture->directory, true, &archive,
			     &fixture->reason),
	    0);
	assert_int_equal(archive_put(archive, day, 0, &fixture->reason), 0);
	archive_close(&archive);
	assert_int_equal(layout_remove(path, &fixture->reason), 0);
	free(path);
	percentiles_by_hour_are_exact_enough(state);
}

/* DESIGN 11, I8 and I2: however many there are, also behind a restart. */
static void
labels_beyond_the_limit_are_kept_together(void **state)
{
	enum { RELAYS = 3 * SERIES_RELAYS, ROUNDS = 3 };
	const char *const base[] = {fixture_histograms[0]};
	struct latency_question question = {
	    .series = base,
	    .series_count = 1,
	    .period = {NOW_NS - DAY_NS, NOW_NS + DAY_NS, DAY_NS},
	};
	struct fixture *fixture = *state;
	uint64_t own = 0, other;

	for (uint64_t i = 0; i < RELAYS * ROUNDS; i++) {
		struct day_file *file =
		    store_file(fixture->store, NOW_NS, &fixture->reason);
		char relay[40];
		const struct observation observation = {
		    .labels = {.host = "mx", .relay = relay},
		    .wall_ns = NOW_NS,
		    .value_ns = SECOND_NS};

		snprintf(relay, sizeof(relay), "mx%u.example.net",
		    (unsigned)(i % RELAYS));
		day_file_observe_labelled(file, &observation);
		if (i % 50 != 49)
			continue;
		fixture_must_commit(fixture, i + 1);
		if (i % 100 == 99)
			fixture_reopen(fixture);
	}
	fixture_must_commit(fixture, RELAYS * ROUNDS + 1);
	question.labels.relay = SERIES_OTHER;
	other = ask(fixture, &question).whole.count;
	for (unsigned i = 0; i < RELAYS; i++) {
		char relay[40];
		uint64_t count;

		snprintf(relay, sizeof(relay), "mx%u.example.net", i);
		question.labels.relay = relay;
		count = ask(fixture, &question).whole.count;
		assert_true(count == 0 || count == ROUNDS);
		own += count;
	}
	assert_int_equal(own, SERIES_RELAYS * ROUNDS);
	assert_int_equal(other, (RELAYS - SERIES_RELAYS) * ROUNDS);
	question.labels.relay = NULL;
	assert_int_equal(
	    ask(fixture, &question).whole.count, RELAYS * ROUNDS);
}

static void
minutes_and_hours_agree(void **state)
{
	struct latency_question question = {
	    .series = fixture_histograms,
	    .series_count = HISTOGRAMS,
	    .period.since_wall_ns = NOW_NS - 20 * QUERY_HOUR_NS,
	    .period.until_wall_ns = NOW_NS,
	    .period.step_ns = QUERY_HOUR_NS,
	    .with_cells = true,
	};
	struct latency_answer hours = ask(*state, &question), minutes;
	const struct latency_cell *cell;

	question.period.step_ns = QUERY_MINUTE_NS;
	minutes = ask(*state, &question);
	assert_int_equal(hours.whole.count, minutes.whole.count);
	assert_int_equal(hours.whole.sum_ns, minutes.whole.sum_ns);
	assert_int_equal(hours.whole.cell_count, minutes.whole.cell_count);
	for (size_t i = 0; i < hours.whole.cell_count; i++) {
		cell = &hours.whole.cells[i];
		assert_int_equal(cell->count, minutes.whole.cells[i].count);
		assert_int_equal(
		    cell->bound_ns, minutes.whole.cells[i].bound_ns);
	}
}

static void
a_series_that_nobody_has_is_empty(void **state)
{
	static const char *const nobody[] = {"nobody"};
	struct latency_question question = {
	    .series = nobody,
	    .series_count = 1,
	    .period.since_wall_ns = NOW_NS - QUERY_HOUR_NS,
	    .period.until_wall_ns = NOW_NS,
	    .period.step_ns = QUERY_MINUTE_NS,
	};
	struct latency_answer answer = ask(*state, &question);

	assert_int_equal(answer.count, 60);
	assert_int_equal(answer.whole.count, 0);
	assert_int_equal(answer.whole.quantiles_ns[LATENCY_MAX], 0);
}

static void
steps_that_are_none_are_refused(void **state)
{
	static const struct {
		int64_t since_ns, until_ns, step_ns;
	} rows[] = {
	    {0, QUERY_HOUR_NS, 0},
	    {0, QUERY_HOUR_NS, -1},
	    {0, QUERY_HOUR_NS, QUERY_MINUTE_NS / 2},
	    {0, QUERY_HOUR_NS, QUERY_HOUR_NS + QUERY_MINUTE_NS},
	    {QUERY_HOUR_NS, QUERY_HOUR_NS, QUERY_HOUR_NS},
	    {QUERY_HOUR_NS, 0, QUERY_MINUTE_NS},
	    {-1, QUERY_HOUR_NS, QUERY_MINUTE_NS},
	    {0, (QUERY_STEPS_MAX + 1) * QUERY_MINUTE_NS,
		QUERY_MINUTE_NS},
	};
	struct fixture *fixture = *state;
	struct latency_answer answer;

	fixture->reader =
	    store_reader_open(fixture->directory, &fixture->reason);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct latency_question question = {
		    .series = fixture_histograms,
		    .series_count = 1,
		    .period.since_wall_ns = rows[i].since_ns,
		    .period.until_wall_ns = rows[i].until_ns,
		    .period.step_ns = rows[i].step_ns,
		};

		assert_row(
		    i, store_latency(fixture->reader, &question, fixture->arena,
			   &answer, &fixture->reason) == -1);
	}
}

static void
labels_that_do_not_go_together_are_refused(void **state)
{
	static const struct {
		struct series_labels labels;
		int64_t step_ns;
	} rows[] = {
	    {{NULL, "a", "b"}, QUERY_HOUR_NS},
	    {{NULL, "a", NULL}, QUERY_MINUTE_NS},
	    {{"mx", NULL, "b"}, QUERY_MINUTE_NS},
	};
	struct reason reason;

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, store_latency_check(
				  &(struct latency_question){
				      .series = fixture_histograms,
				      .series_count = 1,
				      .labels = rows[i].labels,
				      .period = {0, QUERY_HOUR_NS,
					  rows[i].step_ns}},
				  &reason) == -1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		percentiles_are_those_of_the_durations, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		percentiles_by_hour_are_exact_enough, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		percentiles_by_minute_are_exact_enough, setup,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_purged_day_counts_as_before, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		labels_beyond_the_limit_are_kept_together, fixture_setup,
		fixture_teardown),
	    cmocka_unit_test(labels_that_do_not_go_together_are_refused),
	    cmocka_unit_test_setup_teardown(
		minutes_and_hours_agree, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(a_series_that_nobody_has_is_empty,
		fixture_setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(steps_that_are_none_are_refused,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

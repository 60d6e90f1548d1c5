/* SPDX-License-Identifier: BSD-2-Clause */
/* Outcomes over time, against the recipients themselves. */
#include "store/query_outcomes.h"

#include "tests/lib/outcome_rows.h"
#include "tests/store/retention_fixture.h"

#define MESSAGES 3000
#define DAYS 4

/* What a message's recipient is in by now. */
struct known {
	struct message_key key;
	int64_t wall_ns;
	enum recipient_state state;
};

#define NONE RECIPIENT_STATES /* it was taken away */

static struct known known[MESSAGES];
static uint32_t random_state;

static unsigned
random_below(unsigned limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

/* At one->wall_ns. */
static void
put(struct fixture *fixture, size_t number)
{
	struct fixture_message message;
	struct known *one = &known[number];

	fixture_fill_message(&message, number);
	message.event.id = fixture_id(one->wall_ns, number);
	message.event.mail_at = fixture_stamp(one->wall_ns);
	message.event.recipient_count = 1;
	message.verdicts[0].state = one->state;
	one->key.file =
	    store_file(fixture->store, one->wall_ns, &fixture->reason);
	assert_non_null(one->key.file);
	assert_int_equal(
	    store_add_message(one->key.file, &message.event, &fixture_segment,
		&message.verdict, &one->key, &fixture->reason),
	    0);
}

static void
change(struct known *one)
{
	const struct recipient_change change = {
	    .former = one->state,
	    .state = (enum recipient_state)random_below(RECIPIENT_STATES),
	};

	if (one->state == NONE)
		return;
	assert_int_equal(store_change_recipient(&one->key, &change, NULL), 0);
	one->state = change.state;
}

/* Takes it away, and tells it anew, or not. */
static void
retell(struct fixture *fixture, size_t number)
{
	struct taken_message taken;

	if (known[number].state == NONE)
		return;
	arena_reset(fixture->arena);
	assert_int_equal(store_take_message(&known[number].key, fixture->arena,
			     &taken, &fixture->reason),
	    0);
	if (random_below(3) == 0)
		known[number].state = NONE;
	else
		put(fixture, number);
}

/* Messages come, change their states, are told anew, in any batch. */
static int
setup(void **state)
{
	struct fixture *fixture;

	if (fixture_setup(state) != 0)
		return -1;
	fixture = *state;
	random_state = 11;
	for (size_t i = 0; i < MESSAGES; i++) {
		known[i].wall_ns =
		    NOW_NS - (int64_t)random_below(DAYS * 86400) * SECOND_NS;
		known[i].state = RECIPIENT_IN_FLIGHT;
		put(fixture, i);
		for (unsigned j = random_below(4); j > 0; j--)
			change(&known[random_below((unsigned)i + 1)]);
		if (random_below(10) == 0)
			retell(fixture, random_below((unsigned)i + 1));
		if (random_below(50) == 0)
			fixture_must_commit(fixture, i + 1);
	}
	fixture_must_commit(fixture, MESSAGES + 1);
	outcome_rows_check(fixture->directory);
	return 0;
}

static struct outcome_answer
ask(struct fixture *fixture, const struct query_period *period)
{
	struct outcome_answer answer;

	if (fixture->reader == NULL)
		fixture->reader =
		    store_reader_open(fixture->directory, &fixture->reason);
	if (store_outcomes(fixture->reader, period, fixture->arena, &answer,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	assert_false(answer.gap.is_there);
	return answer;
}

static void
check_point(const struct outcome_point *point, int64_t end_ns)
{
	uint64_t counts[RECIPIENT_STATES + 1] = {0};

	for (size_t i = 0; i < MESSAGES; i++)
		if (known[i].wall_ns >= point->start_wall_ns &&
		    known[i].wall_ns < end_ns)
			counts[known[i].state]++;
	for (unsigned i = 0; i < RECIPIENT_STATES; i++)
		assert_row(i, point->counts[i] == counts[i]);
}

static void
check(struct fixture *fixture, const struct query_period *period)
{
	struct outcome_answer answer = ask(fixture, period);

	for (size_t i = 0; i < answer.count; i++)
		check_point(&answer.points[i],
		    answer.points[i].start_wall_ns + period->step_ns);
	check_point(&answer.whole,
	    answer.points[answer.count - 1].start_wall_ns + period->step_ns);
}

static void
outcomes_are_those_of_the_recipients(void **state)
{
	static const struct query_period periods[] = {
	    {NOW_NS - 20 * QUERY_HOUR_NS, NOW_NS, QUERY_MINUTE_NS},
	    {NOW_NS - 50 * QUERY_HOUR_NS, NOW_NS - 7 * QUERY_MINUTE_NS,
		45 * QUERY_MINUTE_NS},
	    {NOW_NS - (DAYS + 1) * DAY_NS, NOW_NS + DAY_NS, QUERY_HOUR_NS},
	    {NOW_NS - 3 * DAY_NS, NOW_NS - DAY_NS, 5 * QUERY_HOUR_NS},
	    {0, NOW_NS, DAY_NS * 30},
	};

	for (size_t i = 0; i < COUNT(periods); i++)
		check(*state, &periods[i]);
}

/* DESIGN 11, I2: what is not committed is not counted. */
static void
what_is_rolled_back_does_not_count(void **state)
{
	static const struct query_period period = {
	    NOW_NS - (DAYS + 1) * DAY_NS, NOW_NS + DAY_NS, QUERY_HOUR_NS};
	struct fixture *fixture = *state;
	struct known kept = known[7];

	change(&known[7]);
	store_rollback(fixture->store);
	known[7] = kept;
	check(fixture, &period);
	change(&known[7]);
	fixture_must_commit(fixture, MESSAGES + 2);
	check(fixture, &period);
}

/* The hours of a day stay when its file goes. */
static void
a_purged_day_counts_as_before(void **state)
{
	static const struct query_period period = {
	    NOW_NS - (DAYS + 1) * DAY_NS, NOW_NS + DAY_NS, QUERY_HOUR_NS};
	struct fixture *fixture = *state;
	int64_t day = clock_day(NOW_NS - 2 * DAY_NS);
	char *path = layout_day_path(fixture->directory, day);
	struct archive *archive;

	store_close(&fixture->store);
	assert_int_equal(archive_open(fixture->directory, true, &archive,
			     &fixture->reason),
	    0);
	assert_int_equal(
	    archive_put(archive, day, 0, &fixture->reason), 0);
	archive_close(&archive);
	check(fixture, &period);
	assert_int_equal(layout_remove(path, &fixture->reason), 0);
	check(fixture, &period);
	free(path);
}

/* Messages of a wrong clock have no time. */
static void
what_is_odd_is_not_counted(void **state)
{
	struct outcome_answer answer;

	known[0].wall_ns = NOW_NS - 300 * DAY_NS;
	known[0].state = RECIPIENT_DELIVERED;
	put(*state, 0);
	fixture_must_commit(*state, 1);
	assert_true(day_file_is_odd(known[0].key.file));
	answer = ask(*state, &(struct query_period){NOW_NS - 900 * DAY_NS,
			 NOW_NS + 900 * DAY_NS, DAY_NS});
	assert_int_equal(answer.whole.counts[RECIPIENT_DELIVERED], 0);
	outcome_rows_check(((struct fixture *)*state)->directory);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		outcomes_are_those_of_the_recipients, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		what_is_rolled_back_does_not_count, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		a_purged_day_counts_as_before, setup, fixture_teardown),
	    cmocka_unit_test_setup_teardown(what_is_odd_is_not_counted,
		fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

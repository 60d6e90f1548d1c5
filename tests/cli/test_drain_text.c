/* SPDX-License-Identifier: BSD-2-Clause */
/* When a queue is empty: what is told from what, and what is not told. */
#include "tests/cli/text_fixture.h"

#include "cli/drain_text.h"

#include <jansson.h>

#include "tests/lib/unit.h"

#define MINUTE (60 * SECOND)
#define NOW_NS (MAIL_WALL_NS + 1000 * MINUTE)

static void
a_time_needs_enough_that_left(void **state)
{
	static const struct {
		struct drain_domain domain; /* oldest: minutes ago */
		struct drain_estimate estimate;
	} rows[] = {
	    {{"a", 120, 300, 10, 10, NULL},
		{DRAIN_MOVING, 10, 10, 120 * MINUTE}},
	    {{"a", 5, 300, 1000, 1000, NULL},
		{DRAIN_MOVING, 1000, 10, 3 * SECOND}},
	    {{"a", 100, 300, 9, 14, NULL},
		{DRAIN_MOVING, 14, 70, 500 * MINUTE}},
	    {{"a", 100, 300, 9, 9, NULL}, {DRAIN_TOO_FEW, 9, 70, 0}},
	    {{"a", 100, 300, 0, 1, NULL}, {DRAIN_TOO_FEW, 1, 70, 0}},
	    {{"a", 100, 69, 0, 0, NULL}, {DRAIN_TOO_EARLY, 0, 70, 0}},
	    {{"a", 1, 70, 0, 0, NULL}, {DRAIN_STANDING, 0, 70, 0}},
	    {{"a", UINT64_MAX, 70, 10, 10, NULL},
		{DRAIN_MOVING, 10, 10, INT64_MAX}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct drain_domain domain = rows[i].domain;
		struct drain_estimate got;

		domain.oldest_wall_ns =
		    NOW_NS - rows[i].domain.oldest_wall_ns * MINUTE;
		got = drain_estimate(&domain, NOW_NS);
		assert_row(i, got.state == rows[i].estimate.state);
		assert_row(i, got.left == rows[i].estimate.left);
		assert_row(i, got.minutes == rows[i].estimate.minutes);
		assert_row(
		    i, got.remaining_ns == rows[i].estimate.remaining_ns);
	}
}

static struct drain_domain domains[] = {
    {"gmail.example", 4812, NOW_NS - 720 * MINUTE, 120, 700, NULL},
    {"a-long-name-of-a-host.with.many.labels.example", 1200,
	NOW_NS - 2000 * MINUTE, 0, 0, NULL},
    {"new.example", 40, NOW_NS - 30 * SECOND, 0, 0, NULL},
    {"x\x1b[31m\\\".example", 30, NOW_NS - 90 * MINUTE, 0, 4, NULL},
    {NULL, 4, NOW_NS - 3 * MINUTE, 0, 0, NULL},
    {"six.example", 2, NOW_NS - 9 * MINUTE, 6, 9, NULL},
    {"seven.example", 1, NOW_NS - 8 * MINUTE, 6, 9, NULL},
};

static void
the_table_shows_the_longest_queues(void **state)
{
	const struct drain drain = {{domains, COUNT(domains)}, NOW_NS, false};
	struct buffer out = {0};
	struct text_page page = {wide, &out, 0};

	drain_text(&page, &drain, NULL);
	expect_text("drain_text/many", &out);
}

static void
six_are_shown_whole_and_none_not_at_all(void **state)
{
	struct drain drain = {{domains, 6}, NOW_NS, false};
	struct buffer out = {0};
	struct text_page page = {wide, &out, 0};

	drain_text(&page, &drain, NULL);
	expect_text("drain_text/six", &out);
	drain.answer.count = 0;
	drain_text(&page, &drain, NULL);
	assert_int_equal(out.size, 0);
}

/* What a postmaster wants to know first. */
static void
of_a_long_queue_the_reason_stands_below_each_domain(void **state)
{
	struct made made = make();
	struct drain_domain domain = {
	    "Remote.example", 4000, NOW_NS - 720 * MINUTE, 0, 0, NULL};
	const struct drain drain = {{&domain, 1}, NOW_NS, true};
	struct buffer out = {0};
	struct text_page page = {wide, &out, 0};

	add_recipient(&made, "u1@other.example", RECIPIENT_IN_FLIGHT);
	add_recipient(&made, "u2@remote.example", RECIPIENT_DELIVERED);
	add_recipient(&made, "u3@remote.example", RECIPIENT_DEFERRED);
	add_attempt(&made, 1 * SECOND, busy);
	add_attempt(&made, 310 * SECOND, busy);
	domain.oldest = &made.record;
	drain_text(&page, &drain, made.arena);
	expect_text("drain_text/reason", &out);
	arena_free(&made.arena);
}

static void
json_has_all_and_null_for_what_cannot_be_told(void **state)
{
	const struct drain drain = {{domains, COUNT(domains)}, NOW_NS, false};
	struct buffer out = {0};
	json_t *array, *first, *second;

	drain_json(&drain, &out);
	array = json_loadb((char *)out.data, out.size, 0, NULL);
	assert_int_equal(json_array_size(array), COUNT(domains));
	first = json_array_get(array, 0);
	second = json_array_get(array, 1);
	assert_int_equal(
	    json_integer_value(json_object_get(first, "empty_in_seconds")),
	    4812 * 600 / 120);
	assert_int_equal(
	    json_integer_value(json_object_get(first, "left")), 120);
	assert_true(json_is_null(json_object_get(second, "empty_in_seconds")));
	assert_string_equal(
	    json_string_value(json_object_get(second, "drain")), "standing");
	assert_string_equal(json_string_value(json_object_get(
				json_array_get(array, 3), "domain")),
	    "x?[31m\\\".example");
	assert_true(
	    json_is_null(json_object_get(json_array_get(array, 4), "domain")));
	json_decref(array);
	buffer_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_time_needs_enough_that_left),
	    cmocka_unit_test(the_table_shows_the_longest_queues),
	    cmocka_unit_test(six_are_shown_whole_and_none_not_at_all),
	    cmocka_unit_test(
		of_a_long_queue_the_reason_stands_below_each_domain),
	    cmocka_unit_test(json_has_all_and_null_for_what_cannot_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Of which time the log tells everything. */
#include "exporter/read/log_trust.h"

#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "exporter/read/log_record.h"
#include "exporter/read/log_trust_record.h"
#include "tests/lib/unit.h"

#define MX "mx.example.org"
#define SECOND CLOCK_NS_PER_SECOND
/* A second of the test's day. */
#define AT(seconds) ((INT64_C(1800000000) + (seconds)) * SECOND)

static int
setup(void **state)
{
	struct log_trust *trust = log_trust_new();

	log_trust_line(trust, MX, AT(100));
	*state = trust;
	return 0;
}

static int
teardown(void **state)
{
	struct log_trust *trust = *state;

	log_trust_free(&trust);
	return 0;
}

static void
a_log_that_was_never_read_covers_nothing(void **state)
{
	struct log_trust *trust = log_trust_new();

	assert_false(log_trust_is_alive(trust, AT(100)));
	assert_false(log_trust_covers(trust, MX, AT(99), AT(100)));
	log_trust_free(&trust);
}

static void
the_time_before_its_first_line_is_not_covered(void **state)
{
	assert_false(log_trust_covers(*state, MX, AT(90), AT(200)));
	assert_true(log_trust_covers(*state, MX, AT(99), AT(200)));
	assert_true(log_trust_covers(*state, MX, AT(150), AT(200)));
}

static void
a_gap_is_not_covered_and_what_began_later_is(void **state)
{
	log_trust_gap(*state, AT(200), AT(210));
	assert_false(log_trust_covers(*state, MX, AT(150), AT(300)));
	assert_false(log_trust_covers(*state, MX, AT(205), AT(300)));
	assert_false(log_trust_covers(*state, MX, AT(211), AT(300)));
	assert_true(log_trust_covers(*state, MX, AT(220), AT(300)));
}

static void
a_pause_lasts_until_the_next_line(void **state)
{
	log_trust_pause(*state, AT(200));
	assert_false(log_trust_is_alive(*state, AT(210)));
	assert_false(log_trust_covers(*state, MX, AT(205), AT(210)));
	log_trust_line(*state, MX, AT(220));
	assert_true(log_trust_is_alive(*state, AT(230)));
	assert_false(log_trust_covers(*state, MX, AT(205), AT(230)));
	assert_true(log_trust_covers(*state, MX, AT(225), AT(230)));
}

static void
a_pause_that_is_read_again_stays_what_it_was(void **state)
{
	log_trust_pause(*state, AT(200));
	log_trust_line(*state, MX, AT(220));
	log_trust_line(*state, MX, AT(300));
	log_trust_pause(*state, AT(200));
	assert_true(log_trust_is_alive(*state, AT(310)));
	log_trust_line(*state, MX, AT(220));
	assert_true(log_trust_covers(*state, MX, AT(225), AT(310)));
}

static void
a_log_that_does_not_tell_of_mail_is_dead(void **state)
{
	log_trust_line(*state, MX, AT(200));
	log_trust_expect(*state, MX, AT(220));
	assert_true(log_trust_covers(*state, MX, AT(150), AT(1000)));
	log_trust_expect(*state, MX, AT(300));
	assert_true(log_trust_covers(*state, MX, AT(150), AT(310)));
	assert_false(log_trust_covers(*state, MX, AT(150), AT(1000)));
	log_trust_line(*state, MX, AT(301));
	assert_true(log_trust_covers(*state, MX, AT(150), AT(1000)));
}

static void
each_instance_speaks_for_itself(void **state)
{
	log_trust_line(*state, "out", AT(200));
	assert_false(log_trust_covers(*state, "other", AT(150), AT(300)));
	assert_false(log_trust_covers(*state, "out", AT(150), AT(300)));
	assert_true(log_trust_covers(*state, "out", AT(200), AT(300)));
	log_trust_expect(*state, "out", AT(300));
	log_trust_expect(*state, "other", AT(300));
	assert_false(log_trust_covers(*state, "out", AT(200), AT(400)));
	assert_true(log_trust_covers(*state, MX, AT(200), AT(400)));
	assert_false(log_trust_is_alive(*state, AT(400)));
}

static void
a_log_that_cannot_be_read_is_not_trusted(void **state)
{
	log_trust_see(*state, false);
	assert_false(log_trust_covers(*state, MX, AT(150), AT(200)));
	log_trust_see(*state, true);
	assert_true(log_trust_covers(*state, MX, AT(150), AT(200)));
}

static void
another_boot_takes_what_was_not_on_disk(void **state)
{
	static const uint8_t first[CLOCK_BOOT_ID_BYTES] = {1};
	static const uint8_t second[CLOCK_BOOT_ID_BYTES] = {2};
	struct log_trust *trust = log_trust_new();

	log_trust_boot(trust, first, AT(0));
	log_trust_line(trust, MX, AT(10));
	log_trust_boot(trust, first, AT(0));
	assert_true(log_trust_covers(trust, MX, AT(10), AT(20)));
	log_trust_boot(trust, second, AT(50));
	assert_false(log_trust_covers(trust, MX, AT(10), AT(60)));
	assert_true(log_trust_covers(trust, MX, AT(55), AT(60)));
	log_trust_line(trust, MX, AT(60));
	assert_false(log_trust_covers(trust, MX, AT(10), AT(70)));
	assert_true(log_trust_covers(trust, MX, AT(55), AT(70)));
	log_trust_free(&trust);
}

/* Written down and read again in between. */
static struct log_trust *
restarted(struct log_trust *trust)
{
	struct log_trust *again = log_trust_new();
	struct buffer note = {.data = NULL};

	log_trust_write(trust, &note);
	log_trust_read(again, note.data, note.size);
	buffer_free(&note);
	log_trust_free(&trust);
	return again;
}

static void
a_boot_is_no_gap_for_who_had_ended_before(void **state)
{
	static const uint8_t first[CLOCK_BOOT_ID_BYTES] = {1};
	static const uint8_t second[CLOCK_BOOT_ID_BYTES] = {2};
	struct log_trust *trust = log_trust_new();

	log_trust_boot(trust, first, AT(0));
	log_trust_line(trust, MX, AT(10));
	log_trust_line(trust, "out", AT(10));
	/* Of its end we read only after the boot. */
	log_trust_boot(trust, second, AT(50));
	trust = restarted(trust);
	assert_false(log_trust_covers(trust, MX, AT(10), AT(60)));
	log_trust_line(trust, MX, AT(20));
	log_trust_stop(trust, MX);
	log_trust_line(trust, "out", AT(20));
	trust = restarted(trust);
	assert_false(log_trust_covers(trust, MX, AT(10), AT(60)));
	log_trust_line(trust, MX, AT(55));
	assert_true(log_trust_covers(trust, MX, AT(10), AT(60)));
	/* The other one was running when the lights went out. */
	assert_false(log_trust_covers(trust, "out", AT(10), AT(60)));
	log_trust_line(trust, "out", AT(56));
	assert_false(log_trust_covers(trust, "out", AT(10), AT(60)));
	assert_true(log_trust_covers(trust, "out", AT(54), AT(60)));
	log_trust_free(&trust);
}

static void
a_logger_that_ends_after_everybody_misses_nothing(void **state)
{
	struct log_trust *trust = *state;

	log_trust_stop(trust, MX);
	log_trust_pause(trust, AT(101));
	log_trust_line(trust, MX, AT(200));
	assert_true(log_trust_covers(trust, MX, AT(100), AT(210)));
	log_trust_pause(trust, AT(201));
	log_trust_line(trust, MX, AT(300));
	assert_false(log_trust_covers(trust, MX, AT(100), AT(310)));
}

static void
who_was_started_again_has_not_ended(void **state)
{
	static const uint8_t second[CLOCK_BOOT_ID_BYTES] = {2};
	struct log_trust *trust = log_trust_new();

	log_trust_line(trust, MX, AT(10));
	log_trust_stop(trust, MX);
	log_trust_line(trust, MX, AT(20));
	log_trust_boot(trust, second, AT(50));
	log_trust_line(trust, MX, AT(60));
	assert_false(log_trust_covers(trust, MX, AT(20), AT(70)));
	log_trust_free(&trust);
}

static const char *
written(struct log_trust *trust)
{
	static struct buffer text;

	buffer_clear(&text);
	log_trust_write(trust, &text);
	buffer_append(&text, "", 1);
	return (const char *)text.data;
}

static unsigned
gaps(struct log_trust *trust)
{
	const char *text = written(trust);
	unsigned count = 0;

	while ((text = strstr(text, "gap ")) != NULL) {
		count++;
		text++;
	}
	return count;
}

/* The line behind it may have been written in any moment of its second. */
static void
a_gap_in_whole_seconds_reaches_to_the_end_of_the_last(void **state)
{
	const struct log_record gap = {.gap = LOG_GAP_COPIED,
	    .gap_start_wall_ns = AT(200),
	    .wall_ns = AT(201),
	    .precision_ns = CLOCK_NS_PER_SECOND - 1};

	log_trust_record(*state, MX, &gap);
	assert_true(log_trust_misses(*state, AT(202) - 1));
	assert_false(log_trust_misses(*state, AT(202)));
}

static void
gaps_that_touch_become_one(void **state)
{
	log_trust_gap(*state, AT(200), AT(210));
	log_trust_gap(*state, AT(400), AT(410));
	log_trust_gap(*state, AT(300), AT(310));
	assert_int_equal(gaps(*state), 3);
	log_trust_gap(*state, AT(305), AT(400));
	assert_int_equal(gaps(*state), 2);
	log_trust_gap(*state, AT(100), AT(500));
	assert_int_equal(gaps(*state), 1);
	log_trust_gap(*state, AT(510), AT(505));
	assert_int_equal(gaps(*state), 1);
	assert_true(log_trust_covers(*state, MX, AT(505), AT(600)));
}

static void
their_number_is_bounded(void **state)
{
	for (int i = 0; i < 2000; i++)
		log_trust_gap(*state, AT(1000 + 10 * i), AT(1001 + 10 * i));
	assert_true(gaps(*state) <= 500);
	assert_false(log_trust_covers(*state, MX, AT(20991), AT(30000)));
	assert_true(log_trust_covers(*state, MX, AT(20995), AT(30000)));
	log_trust_forget(*state, AT(20000));
	assert_true(gaps(*state) <= 101);
}

static void
what_is_kept_is_what_was(void **state)
{
	struct log_trust *copy = log_trust_new();
	char text[1000];

	assert_true(log_trust_is_unsaved(*state));
	log_trust_gap(*state, AT(200), AT(210));
	log_trust_gap(*state, AT(300), AT(310));
	log_trust_pause(*state, AT(400));
	snprintf(text, sizeof(text), "%s", written(*state));
	assert_false(log_trust_is_unsaved(*state));
	log_trust_gap(*state, AT(205), AT(208));
	assert_false(log_trust_is_unsaved(*state));
	log_trust_gap(*state, AT(205), AT(212));
	assert_true(log_trust_is_unsaved(*state));
	log_trust_read(copy, text, strlen(text));
	assert_false(log_trust_is_unsaved(copy));
	assert_string_equal(written(copy), text);
	log_trust_line(copy, MX, AT(410));
	assert_true(log_trust_is_unsaved(copy));
	written(copy);
	log_trust_line(copy, MX, AT(420));
	assert_false(log_trust_is_unsaved(copy));
	log_trust_line(copy, MX, AT(500));
	assert_true(log_trust_is_unsaved(copy));
	log_trust_free(&copy);
}

static void
what_is_no_note_is_not_trusted(void **state)
{
	static const char *const bad[] = {"", "x", "voice", "voice 1 2\n",
	    "voice 1 2 \n", "boot 12", "boot 1", "boot ", "gap 1\n", "\n\n\n"};

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct log_trust *trust = log_trust_new();

		log_trust_read(trust, bad[i], strlen(bad[i]));
		assert_false(log_trust_covers(trust, MX, AT(100), AT(200)));
		log_trust_free(&trust);
	}
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_log_that_was_never_read_covers_nothing),
	    TEST(the_time_before_its_first_line_is_not_covered),
	    TEST(a_gap_is_not_covered_and_what_began_later_is),
	    TEST(a_pause_lasts_until_the_next_line),
	    TEST(a_pause_that_is_read_again_stays_what_it_was),
	    TEST(a_log_that_does_not_tell_of_mail_is_dead),
	    TEST(each_instance_speaks_for_itself),
	    TEST(a_log_that_cannot_be_read_is_not_trusted),
	    TEST(another_boot_takes_what_was_not_on_disk),
	    TEST(a_boot_is_no_gap_for_who_had_ended_before),
	    TEST(a_logger_that_ends_after_everybody_misses_nothing),
	    TEST(who_was_started_again_has_not_ended),
	    TEST(a_gap_in_whole_seconds_reaches_to_the_end_of_the_last),
	    TEST(gaps_that_touch_become_one),
	    TEST(their_number_is_bounded),
	    TEST(what_is_kept_is_what_was),
	    TEST(what_is_no_note_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations: the one subtraction (I7), and what each phase is between. */
#include "proto/phase.h"

#include <string.h>

#include "tests/lib/unit.h"

static const uint8_t boot_a[CLOCK_BOOT_ID_BYTES] = {1};
static const uint8_t boot_b[CLOCK_BOOT_ID_BYTES] = {2};
static const uint8_t no_boot[CLOCK_BOOT_ID_BYTES];

static struct moment
at(int64_t wall_ns, int64_t monotonic_ns, const uint8_t *boot_id)
{
	return (struct moment){{wall_ns, monotonic_ns}, boot_id};
}

static void
one_boot_is_measured_on_the_monotonic_clock(void **state)
{
	/* The wall clock was set back by 900 ns meanwhile. */
	struct duration duration =
	    duration_between(at(1000, 50, boot_a), at(170, 120, boot_a));

	assert_int_equal(duration.state, DURATION_KNOWN);
	assert_int_equal(duration.ns, 70);
}

static void
others_are_measured_on_the_wall_clock(void **state)
{
	static const struct {
		const uint8_t *from, *to;
	} rows[] = {
	    {boot_a, boot_b},
	    {NULL, boot_a},
	    {boot_a, NULL},
	    {NULL, NULL},
	    {no_boot, no_boot},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct duration duration = duration_between(
		    at(1000, 500, rows[i].from), at(1030, 20, rows[i].to));

		assert_row(i, duration.state == DURATION_KNOWN);
		assert_row(i, duration.ns == 30);
	}
}

static void
a_negative_difference_is_skew_and_zero_is_a_time(void **state)
{
	struct duration duration;

	duration = duration_between(at(1000, 1, boot_a), at(999, 2, boot_b));
	assert_int_equal(duration.state, DURATION_SKEWED);
	duration = duration_between(at(1, 1000, boot_a), at(2, 999, boot_a));
	assert_int_equal(duration.state, DURATION_SKEWED);
	duration = duration_between(at(5, 5, boot_a), at(5, 5, boot_a));
	assert_int_equal(duration.state, DURATION_KNOWN);
	assert_int_equal(duration.ns, 0);
}

static void
what_was_never_supplied_has_no_duration(void **state)
{
	struct moment none = at(0, 0, boot_a), some = at(5, 5, boot_a);

	assert_int_equal(duration_between(none, some).state, DURATION_UNKNOWN);
	assert_int_equal(duration_between(some, none).state, DURATION_UNKNOWN);
}

static void
absurd_stamps_do_not_overflow(void **state)
{
	struct moment early = at(INT64_MIN, INT64_MIN, boot_a);
	struct moment late = at(INT64_MAX, INT64_MAX, boot_a);

	assert_int_equal(duration_between(early, late).state, DURATION_KNOWN);
	assert_int_equal(duration_between(late, early).state, DURATION_SKEWED);
}

/* A message and its delivery on one boot, every step 2^n ns after the one
 * before, so that each phase has a length of its own. */
static struct message_recipient rcpt[2] = {
    {.rcpt_at = {4, 1 + 2 + 4}}, {.rcpt_at = {5, 1000}}};
static struct message_event message = {
    .connect_at = {1, 1},
    .helo_at = {2, 1 + 2},
    .mail_at = {3, 1 + 2 + 3},
    .data_at = {5, 1 + 2 + 4 + 8},
    .content_at = {6, 1 + 2 + 4 + 8 + 16},
    .eom_at = {7, 1 + 2 + 4 + 8 + 16 + 32},
    .recipients = rcpt,
    .recipient_count = 2,
};
static struct delivery_recipient recipient = {.final.at = {11, 1023}};
static struct delivery_event delivery = {
    .mail_at = {8, 127},
    .data_at = {9, 255},
    .content_end_at = {10, 511},
};
static const struct phase_view view = {
    &message, boot_a, &delivery, boot_a, &recipient};

static void
each_phase_is_between_its_two_stamps(void **state)
{
	static const struct {
		const char *name;
		int64_t ns;
	} rows[PHASES] = {
	    {"connect_to_helo", 2},
	    {"helo_to_mail", 3},
	    {"mail_to_rcpt", 1},
	    {"rcpt_to_data", 8},
	    {"data_to_content", 16},
	    {"content_to_eom", 32},
	    {"queue", 64},
	    {"lmtp_envelope", 128},
	    {"lmtp_data", 256},
	    {"lmtp_reply", 512},
	};

	for (enum phase i = 0; i < PHASES; i++) {
		const struct phase_description *phase = phase_describe(i);
		struct duration duration = phase_duration(i, &view);

		assert_row_string(i, phase->name, rows[i].name);
		assert_row(i, duration.state == DURATION_KNOWN);
		assert_row(i, duration.ns == rows[i].ns);
		assert_row(i, strlen(phase->from) > 0 && strlen(phase->to) > 0);
		assert_row(i, strlen(phase->includes) > 0);
	}
}

static void
the_phases_from_mail_on_add_up_to_the_latency(void **state)
{
	int64_t sum_ns = 0;

	for (enum phase i = PHASE_MAIL_TO_RCPT; i < PHASES; i++)
		sum_ns += phase_duration(i, &view).ns;
	assert_int_equal(delivery_latency(&view).state, DURATION_KNOWN);
	assert_int_equal(delivery_latency(&view).ns, sum_ns);
}

static void
each_phase_ends_where_the_next_begins(void **state)
{
	struct moment from, to, end_of_last = {{0, 0}, NULL};

	for (enum phase i = 0; i < PHASES; i++) {
		phase_moments(i, &view, &from, &to);
		if (i > 0)
			assert_memory_equal(&from, &end_of_last, sizeof(from));
		end_of_last = to;
	}
}

static void
missing_halves_leave_their_phases_unknown(void **state)
{
	const struct phase_view only_message = {.message = &message};
	const struct phase_view only_delivery = {
	    .delivery = &delivery, .recipient = &recipient};
	const struct phase_view nothing = {0};
	struct phase_view no_recipient = view;
	struct message_event bare = {.mail_at = {1, 1}, .data_at = {2, 2}};
	const struct phase_view without_rcpt = {.message = &bare};

	no_recipient.recipient = NULL;
	for (enum phase i = 0; i < PHASES; i++) {
		assert_row(i,
		    phase_duration(i, &only_message).state ==
			(i < PHASE_QUEUE ? DURATION_KNOWN : DURATION_UNKNOWN));
		assert_row(i,
		    phase_duration(i, &only_delivery).state ==
			(i > PHASE_QUEUE ? DURATION_KNOWN : DURATION_UNKNOWN));
		assert_row(
		    i, phase_duration(i, &nothing).state == DURATION_UNKNOWN);
		assert_row(i, phase_duration(i, &no_recipient).state ==
				  (i < PHASE_LMTP_REPLY ? DURATION_KNOWN
							: DURATION_UNKNOWN));
		assert_row(i,
		    phase_duration(i, &without_rcpt).state == DURATION_UNKNOWN);
	}
	assert_int_equal(
	    delivery_latency(&only_delivery).state, DURATION_UNKNOWN);
	assert_int_equal(
	    delivery_latency(&no_recipient).state, DURATION_UNKNOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_boot_is_measured_on_the_monotonic_clock),
	    cmocka_unit_test(others_are_measured_on_the_wall_clock),
	    cmocka_unit_test(a_negative_difference_is_skew_and_zero_is_a_time),
	    cmocka_unit_test(what_was_never_supplied_has_no_duration),
	    cmocka_unit_test(absurd_stamps_do_not_overflow),
	    cmocka_unit_test(each_phase_is_between_its_two_stamps),
	    cmocka_unit_test(the_phases_from_mail_on_add_up_to_the_latency),
	    cmocka_unit_test(each_phase_ends_where_the_next_begins),
	    cmocka_unit_test(missing_halves_leave_their_phases_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

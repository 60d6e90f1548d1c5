/* SPDX-License-Identifier: BSD-2-Clause */
/* Enumerators are numbers on disk, and each has a word. */
#include "proto/event.h"
#include "proto/producer_counter.h"

#include <string.h>

#include "tests/lib/unit.h"

static void
enumerators_keep_their_numbers(void **state)
{
	assert_int_equal(MESSAGE_PHASE_CONNECT, 1);
	assert_int_equal(MESSAGE_PHASE_HELO, 2);
	assert_int_equal(MESSAGE_PHASE_MAIL, 3);
	assert_int_equal(MESSAGE_PHASE_RCPT, 4);
	assert_int_equal(MESSAGE_PHASE_DATA, 5);
	assert_int_equal(MESSAGE_PHASE_CONTENT, 6);
	assert_int_equal(MESSAGE_PHASE_EOM, 7);
	assert_int_equal(MESSAGE_ENDING_ACCEPTED, 1);
	assert_int_equal(MESSAGE_ENDING_ABORTED, 2);
	assert_int_equal(MESSAGE_ENDING_CLOSED, 3);
	assert_int_equal(DELIVERY_PHASE_CONNECT, 1);
	assert_int_equal(DELIVERY_PHASE_LHLO, 2);
	assert_int_equal(DELIVERY_PHASE_MAIL, 3);
	assert_int_equal(DELIVERY_PHASE_RCPT, 4);
	assert_int_equal(DELIVERY_PHASE_DATA, 5);
	assert_int_equal(DELIVERY_PHASE_CONTENT_END, 6);
	assert_int_equal(DELIVERY_ENDING_COMPLETED, 1);
	assert_int_equal(DELIVERY_ENDING_RESET, 2);
	assert_int_equal(DELIVERY_ENDING_CLIENT_LOST, 3);
	assert_int_equal(DELIVERY_ENDING_BACKEND_LOST, 4);
	assert_int_equal(DELIVERY_ENDING_TIMED_OUT, 5);
	assert_int_equal(DELIVERY_ENDING_STOPPED, 6);
}

static void
counters_keep_their_numbers(void **state)
{
	static const char *const names[] = {"events_appended",
	    "events_dropped_limit", "events_dropped_error",
	    "events_dropped_memory", "bytes_appended", "sessions",
	    "aborts_connect", "aborts_helo", "aborts_mail", "aborts_rcpt",
	    "aborts_data", "aborts_content", "unstamped_stopped",
	    "unstamped_dropped", "unstamped_refused"};

	assert_true(PRODUCER_COUNTERS >= COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++)
		assert_row_string(i, producer_counter_name(i), names[i]);
}

static void
every_enumerator_has_a_word_of_its_own(void **state)
{
	static const struct {
		unsigned count;
		const char *(*name)(unsigned value);
	} enums[] = {
	    {MESSAGE_PHASES, (const char *(*)(unsigned))message_phase_name},
	    {MESSAGE_ENDINGS, (const char *(*)(unsigned))message_ending_name},
	    {DELIVERY_PHASES, (const char *(*)(unsigned))delivery_phase_name},
	    {DELIVERY_ENDINGS, (const char *(*)(unsigned))delivery_ending_name},
	    {OPERATION_KINDS, (const char *(*)(unsigned))operation_kind_name},
	    {PRODUCER_COUNTERS,
		(const char *(*)(unsigned))producer_counter_name},
	};

	for (size_t i = 0; i < COUNT(enums); i++) {
		for (unsigned a = 0; a < enums[i].count; a++) {
			const char *name = enums[i].name(a);

			assert_row(i, name != NULL && name[0] != '\0');
			assert_row(i, strcmp(name, "unknown") != 0);
			for (unsigned b = 0; b < a; b++)
				assert_row(
				    i, strcmp(name, enums[i].name(b)) != 0);
		}
		assert_row_string(i, enums[i].name(enums[i].count), "unknown");
		assert_row_string(i, enums[i].name(4000000000u), "unknown");
	}
}

static void
what_was_taken_is_not_told_twice_and_can_be_given_back(void **state)
{
	uint64_t increases[PRODUCER_COUNTERS];

	producer_counters_reset();
	producer_count(PRODUCER_SESSIONS, 3);
	producer_count(PRODUCER_SESSIONS, 4);
	producer_counters_take(increases);
	assert_int_equal(increases[PRODUCER_SESSIONS], 7);
	producer_count(PRODUCER_SESSIONS, 1);
	producer_counters_give_back(increases);
	producer_counters_take(increases);
	assert_int_equal(increases[PRODUCER_SESSIONS], 8);
	producer_counters_take(increases);
	assert_int_equal(increases[PRODUCER_SESSIONS], 0);
	assert_int_equal(producer_counted(PRODUCER_SESSIONS), 8);
	producer_counters_reset();
	assert_int_equal(producer_counted(PRODUCER_SESSIONS), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(enumerators_keep_their_numbers),
	    cmocka_unit_test(counters_keep_their_numbers),
	    cmocka_unit_test(every_enumerator_has_a_word_of_its_own),
	    cmocka_unit_test(
		what_was_taken_is_not_told_twice_and_can_be_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What is recorded of a transaction, in parts. */
#include "lmtp/transaction.h"

#include <string.h>

#include "lmtp/header_scan.h"
#include "lmtp/reply.h"
#include "tests/lib/unit.h"

static const struct header_scan_names names = {"mx.test", "X-Perf-Sent"};
static const struct reply_description good = {250, "2.0.0", "Ok"};
static const struct reply_description bad = {550, "5.1.1", "No"};

static struct stamp
at(int64_t ns)
{
	return (struct stamp){1000 + ns, ns};
}

static struct transaction *
begin(const char *ident)
{
	struct transaction *transaction = transaction_new(&names, "inet:b:24");
	const struct transaction_origin origin = {
	    .session = 7,
	    .sequence = 2,
	    .connect_at = at(1),
	    .mail_at = at(2),
	    .ident = ident,
	};

	transaction_open(transaction, &origin, "s@x", 3);
	return transaction;
}

/* "address:position:envelope/final ..." */
static const char *
recipients(const struct delivery_event *event)
{
	static char text[1000];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < event->recipient_count; i++) {
		const struct delivery_recipient *one = &event->recipients[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "%s%s:%u:%u/%u", i > 0 ? " " : "", one->address,
		    one->position, one->envelope.code, one->final.code);
	}
	return text;
}

/* Five recipients; the second and the last are refused. */
static struct transaction *
to_five(void)
{
	static const char *const addresses[] = {"a", "b", "c", "a", "d"};
	struct transaction *transaction = begin("");

	for (size_t i = 0; i < 5; i++)
		transaction_recipient(transaction, addresses[i], 1, at(3));
	for (size_t i = 0; i < 5; i++)
		transaction_recipient_reply(
		    transaction, i == 1 || i == 4 ? &bad : &good, at(4));
	transaction_data(transaction, at(5));
	transaction_content(transaction, "\r\n.\r\n", 5);
	transaction_content_end(transaction, 2, at(6));
	return transaction;
}

static void
replies_in_one_piece_make_one_part(void **state)
{
	struct transaction *transaction = to_five();
	struct delivery_event event;

	for (int i = 0; i < 3; i++)
		transaction_final_reply(transaction, &good, at(7));
	assert_int_equal(transaction_event(transaction,
			     DELIVERY_ENDING_COMPLETED, at(7), &event),
	    1);
	assert_string_equal(recipients(&event),
	    "a:0:250/250 b:1:550/0 c:2:250/250 a:3:250/250 d:4:550/0");
	assert_int_equal(event.part, 0);
	assert_int_equal(event.ending, DELIVERY_ENDING_COMPLETED);
	assert_int_equal(event.phase, DELIVERY_PHASE_CONTENT_END);
	assert_int_equal(event.session, 7);
	assert_int_equal(event.sequence, 2);
	assert_int_equal(event.content_bytes, 2);
	assert_int_equal(event.connect_at.monotonic_ns, 1);
	assert_int_equal(event.mail_at.monotonic_ns, 2);
	assert_int_equal(event.recipients[0].rcpt_at.monotonic_ns, 3);
	assert_int_equal(event.recipients[0].envelope.at.monotonic_ns, 4);
	assert_int_equal(event.data_at.monotonic_ns, 5);
	assert_int_equal(event.content_end_at.monotonic_ns, 6);
	assert_int_equal(event.recipients[0].final.at.monotonic_ns, 7);
	assert_int_equal(event.end_at.monotonic_ns, 7);
	assert_string_equal(event.sender, "s@x");
	assert_string_equal(event.backend, "inet:b:24");
	assert_string_equal(event.recipients[1].envelope.enhanced, "5.1.1");
	assert_string_equal(event.recipients[1].envelope.text, "No");
	assert_null(event.queue_id);
	transaction_free(&transaction);
}

static void
replies_in_pieces_make_parts_of_one_id(void **state)
{
	struct transaction *transaction = to_five();
	struct delivery_event event;
	struct uuid id;

	transaction_final_reply(transaction, &good, at(7));
	assert_int_equal(
	    transaction_event(transaction, DELIVERY_ENDING_NONE, at(7), &event),
	    1);
	assert_string_equal(
	    recipients(&event), "a:0:250/250 b:1:550/0 d:4:550/0");
	assert_int_equal(event.part, 0);
	assert_false(stamp_is_set(&event.end_at));
	id = event.id;
	assert_int_equal(
	    transaction_event(transaction, DELIVERY_ENDING_NONE, at(7), &event),
	    0);

	transaction_final_reply(transaction, &bad, at(8));
	assert_int_equal(
	    transaction_event(transaction, DELIVERY_ENDING_NONE, at(8), &event),
	    1);
	assert_string_equal(recipients(&event), "c:2:250/550");
	assert_int_equal(event.part, 1);

	assert_int_equal(transaction_event(transaction,
			     DELIVERY_ENDING_BACKEND_LOST, at(9), &event),
	    1);
	assert_string_equal(recipients(&event), "a:3:250/0");
	assert_int_equal(event.part, 2);
	assert_true(uuid_equal(&id, &event.id));
	transaction_free(&transaction);
}

static void
an_ending_without_news_is_told_too(void **state)
{
	struct transaction *transaction = to_five();
	struct delivery_event event;

	for (int i = 0; i < 3; i++)
		transaction_final_reply(transaction, &good, at(7));
	assert_int_equal(
	    transaction_event(transaction, DELIVERY_ENDING_NONE, at(7), &event),
	    1);
	assert_int_equal(event.recipient_count, 5);
	assert_int_equal(transaction_event(transaction,
			     DELIVERY_ENDING_COMPLETED, at(7), &event),
	    1);
	assert_int_equal(event.recipient_count, 0);
	assert_int_equal(event.part, 1);
	transaction_free(&transaction);
}

static void
before_the_dot_everything_is_in_one_part(void **state)
{
	struct transaction *transaction = begin("");
	struct delivery_event event;

	transaction_recipient(transaction, "a", 1, at(3));
	transaction_recipient(transaction, "b", 1, at(3));
	transaction_recipient_reply(transaction, &good, at(4));
	assert_int_equal(transaction_event(
			     transaction, DELIVERY_ENDING_RESET, at(5), &event),
	    1);
	assert_string_equal(recipients(&event), "a:0:250/0 b:1:0/0");
	assert_int_equal(event.phase, DELIVERY_PHASE_RCPT);
	transaction_free(&transaction);
}

static void
a_refusal_of_data_is_the_last_reply_of_the_accepted(void **state)
{
	struct transaction *transaction = begin("");
	struct delivery_event event;

	for (int i = 0; i < 3; i++)
		transaction_recipient(transaction, &"abc"[i], 1, at(3));
	transaction_recipient_reply(transaction, &good, at(4));
	transaction_recipient_reply(transaction, &bad, at(4));
	transaction_recipient_reply(transaction, &good, at(4));
	transaction_data(transaction, at(5));
	transaction_data_refused(transaction, &bad, at(6));
	assert_int_equal(transaction_event(transaction,
			     DELIVERY_ENDING_COMPLETED, at(6), &event),
	    1);
	assert_string_equal(
	    recipients(&event), "a:0:250/550 b:1:550/0 c:2:250/550");
	assert_int_equal(event.phase, DELIVERY_PHASE_DATA);
	transaction_free(&transaction);
}

static void
the_queue_id_is_received_s_else_ident_s_else_the_stamp_s(void **state)
{
	static const char received[] = "Received: by mx.test (P) id RRRR\r\n";
	static const char stamp[] =
	    "X-Perf-Sent: 2026-11-30T07:47:42.123456Z;\r\n"
	    "\tid=019ad3a1-5c00-7abc-8def-0123456789ab; q=SSSS\r\n";
	static const struct {
		const char *ident;
		bool received, stamp;
		const char *queue_id;
	} rows[] = {{"IIII", true, true, "RRRR"}, {"IIII", false, true, "IIII"},
	    {"", false, true, "SSSS"}, {"", false, false, NULL}};
	struct delivery_event event;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transaction *transaction = begin(rows[i].ident);

		if (rows[i].stamp)
			transaction_content(
			    transaction, stamp, sizeof(stamp) - 1);
		if (rows[i].received)
			transaction_content(
			    transaction, received, sizeof(received) - 1);
		transaction_content_end(transaction, 0, at(3));
		assert_row(
		    i, transaction_event(transaction, DELIVERY_ENDING_COMPLETED,
			   at(4), &event) == 1);
		if (rows[i].queue_id == NULL)
			assert_null(event.queue_id);
		else
			assert_row_string(i, event.queue_id, rows[i].queue_id);
		assert_row(i, event.stamps_seen == rows[i].stamp);
		assert_row(i, (event.stamp_queue_id != NULL) == rows[i].stamp);
		assert_row(i, (event.stamp_mail_wall_ns != 0) == rows[i].stamp);
		transaction_free(&transaction);
	}
}

static void
more_recipients_than_memory_lose_the_record_only(void **state)
{
	struct transaction *transaction = begin("");
	struct delivery_event event;

	for (int i = 0; i < 50000; i++)
		transaction_recipient(transaction, "address@x", 9, at(3));
	for (int i = 0; i < 50000; i++)
		transaction_recipient_reply(transaction, &good, at(4));
	transaction_content_end(transaction, 0, at(5));
	for (int i = 0; i < 50000; i++)
		transaction_final_reply(transaction, &good, at(6));
	assert_int_equal(transaction_event(transaction,
			     DELIVERY_ENDING_COMPLETED, at(6), &event),
	    -1);
	transaction_close(transaction);
	assert_false(transaction_is_open(transaction));
	transaction_free(&transaction);
}

static void
nothing_is_left_for_the_next_transaction(void **state)
{
	struct transaction *transaction = to_five();
	const struct transaction_origin origin = {
	    .sequence = 3,
	    .mail_at = at(9),
	    .ident = "",
	};
	struct delivery_event event;

	transaction_final_reply(transaction, &good, at(7));
	transaction_event(
	    transaction, DELIVERY_ENDING_TIMED_OUT, at(8), &event);
	transaction_close(transaction);
	transaction_open(transaction, &origin, "", 0);
	assert_int_equal(transaction_event(
			     transaction, DELIVERY_ENDING_RESET, at(9), &event),
	    1);
	assert_int_equal(event.recipient_count, 0);
	assert_int_equal(event.part, 0);
	assert_int_equal(event.phase, DELIVERY_PHASE_MAIL);
	assert_int_equal(event.content_bytes, 0);
	assert_false(stamp_is_set(&event.data_at));
	assert_string_equal(event.sender, "");
	assert_string_equal(event.backend, "inet:b:24");
	transaction_free(&transaction);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(replies_in_one_piece_make_one_part),
	    cmocka_unit_test(replies_in_pieces_make_parts_of_one_id),
	    cmocka_unit_test(an_ending_without_news_is_told_too),
	    cmocka_unit_test(before_the_dot_everything_is_in_one_part),
	    cmocka_unit_test(
		a_refusal_of_data_is_the_last_reply_of_the_accepted),
	    cmocka_unit_test(
		the_queue_id_is_received_s_else_ident_s_else_the_stamp_s),
	    cmocka_unit_test(more_recipients_than_memory_lose_the_record_only),
	    cmocka_unit_test(nothing_is_left_for_the_next_transaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

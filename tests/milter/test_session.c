/* SPDX-License-Identifier: BSD-2-Clause */
/* The session as a state machine: callbacks in, events out. */
#include "milter/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "milter/client.h"
#include "proto/event.h"

static const struct session_settings settings = {
    .stamp_name = "X-Perf-Sent",
    .memory_bytes = 1 << 20,
    .recipients_max = 1000,
};

/* The n-th moment of a test. */
static struct stamp
at(int64_t n)
{
	return (struct stamp){
	    .wall_ns = INT64_C(1764488862000000000) + n * 1000,
	    .monotonic_ns = n * 1000,
	};
}

static void
assert_at(struct stamp stamp, int64_t n)
{
	assert_memory_equal(&stamp, &(struct stamp[]){at(n)}, sizeof(stamp));
}

static void
assert_unset(struct stamp stamp)
{
	assert_false(stamp_is_set(&stamp));
}

static void
mail(struct session *session, const char *address, int64_t n)
{
	char *copy = strdup(address), size[] = "SIZE=4321";
	char *arguments[] = {copy, size, NULL};

	session_mail(session, arguments, at(n));
	free(copy);
}

static void
rcpt(struct session *session, const char *address, int64_t n)
{
	char *copy = strdup(address);
	char *arguments[] = {copy, NULL};

	session_rcpt(session, arguments, at(n));
	free(copy);
}

static void
rcpt_rejected(struct session *session, const char *address, int64_t n)
{
	char *copy = strdup(address);
	char *arguments[] = {copy, NULL};

	session_rcpt_rejected(
	    session, arguments, "5.1.1", "User unknown", at(n));
	free(copy);
}

static struct session *
begin(bool trusted)
{
	static const struct client client = {
	    .name = "client.example", .address = "192.0.2.1", .port = 4711};
	struct session *session = session_new(&settings, 7);

	assert_non_null(session);
	session_connect(session, &client, trusted, at(1));
	session_helo(session, "helo.example", at(2));
	return session;
}

static void
records_every_command_of_a_message(void **state)
{
	struct session *session = begin(false);
	const struct message_event *event;

	assert_null(session_event(session));
	mail(session, "<sender@example.com>", 3);
	rcpt(session, "<one@example.com>", 4);
	rcpt_rejected(session, "<two@example.com>", 5);
	session_data(session, at(6));
	session_header(session, "Message-Id", "<id@example.com>", at(7));
	session_header(session, "X-Perf-Run", " run 1 ", at(8));
	session_eom(session, at(9));
	event = session_event(session);
	assert_int_equal(event->session, 7);
	assert_int_equal(event->sequence, 1);
	assert_int_equal(event->ending, MESSAGE_ENDING_ACCEPTED);
	assert_int_equal(event->phase, MESSAGE_PHASE_EOM);
	assert_string_equal(event->sender, "sender@example.com");
	assert_int_equal(event->declared_bytes, 4321);
	assert_string_equal(event->message_id, "<id@example.com>");
	assert_string_equal(event->run, "run 1");
	assert_string_equal(event->client_name, "client.example");
	assert_string_equal(event->client_address, "192.0.2.1");
	assert_int_equal(event->client_port, 4711);
	assert_string_equal(event->helo, "helo.example");
	assert_at(event->connect_at, 1);
	assert_at(event->helo_at, 2);
	assert_at(event->mail_at, 3);
	assert_at(event->data_at, 6);
	assert_at(event->content_at, 7);
	assert_at(event->eom_at, 9);
	assert_unset(event->end_at);
	assert_int_equal(event->recipient_count, 2);
	assert_string_equal(event->recipients[0].address, "one@example.com");
	assert_at(event->recipients[0].rcpt_at, 4);
	assert_false(event->recipients[0].rejected);
	assert_true(event->recipients[1].rejected);
	assert_string_equal(event->recipients[1].reject_dsn, "5.1.1");
	assert_string_equal(event->recipients[1].reject_text, "User unknown");
	assert_true(session_has_recipient(session));
	assert_int_equal(
	    uuid_wall_ns(&event->id) / 1000000, at(3).wall_ns / 1000000);
	session_free(&session);
	assert_null(session);
}

/* Case 53: nothing of a message is left over for the next one. */
static void
begins_each_message_anew(void **state)
{
	struct session *session = begin(true);
	const struct message_event *event;
	struct uuid first;

	mail(session, "<first@example.com>", 3);
	session_fact(session, SESSION_QUEUE_ID, "FIRST");
	session_fact(session, SESSION_SASL_USER, "user");
	rcpt(session, "<one@example.com>", 4);
	rcpt_rejected(session, "<two@example.com>", 4);
	session_data(session, at(5));
	session_header(session, "Message-ID", "<1@example.com>", at(6));
	session_header(session, "X-Perf-Run", "run", at(6));
	session_header(session, "X-Perf-Sent", "rubbish", at(6));
	session_eom(session, at(7));
	first = session_event(session)->id;

	mail(session, "<>", 8);
	event = session_event(session);
	assert_int_equal(event->sequence, 2);
	assert_int_equal(event->phase, MESSAGE_PHASE_MAIL);
	assert_int_equal(event->ending, MESSAGE_ENDING_NONE);
	assert_string_equal(event->sender, "");
	assert_null(event->queue_id);
	assert_null(event->sasl_user);
	assert_null(event->message_id);
	assert_null(event->run);
	assert_int_equal(event->recipient_count, 0);
	assert_int_equal(event->forged_stamps, 0);
	assert_int_equal(session_stamps_seen(session), 0);
	assert_false(session_has_recipient(session));
	assert_false(uuid_equal(&event->id, &first));
	assert_unset(event->data_at);
	assert_unset(event->content_at);
	assert_unset(event->eom_at);
	assert_at(event->connect_at, 1);
	assert_at(event->helo_at, 2);
	session_free(&session);
}

static void
says_how_far_an_aborted_message_came(void **state)
{
	struct session *session = begin(false);
	const struct message_event *event;

	mail(session, "<a@example.com>", 3);
	assert_true(session_abort(session, at(4)));
	event = session_event(session);
	assert_int_equal(event->ending, MESSAGE_ENDING_ABORTED);
	assert_int_equal(event->phase, MESSAGE_PHASE_MAIL);
	assert_at(event->end_at, 4);
	assert_false(session_has_recipient(session));

	mail(session, "<a@example.com>", 5);
	rcpt_rejected(session, "<b@example.com>", 6);
	assert_true(session_abort(session, at(7)));
	assert_int_equal(event->phase, MESSAGE_PHASE_RCPT);
	assert_false(session_has_recipient(session));

	mail(session, "<a@example.com>", 5);
	rcpt(session, "<b@example.com>", 6);
	session_data(session, at(7));
	assert_true(session_close(session, at(8)));
	assert_int_equal(event->phase, MESSAGE_PHASE_DATA);
	assert_int_equal(event->ending, MESSAGE_ENDING_CLOSED);
	assert_true(session_has_recipient(session));

	mail(session, "<a@example.com>", 9);
	rcpt(session, "<b@example.com>", 9);
	session_data(session, at(9));
	session_header(session, "Subject", "x", at(10));
	assert_true(session_abort(session, at(11)));
	assert_int_equal(event->phase, MESSAGE_PHASE_CONTENT);
	assert_int_equal(event->sequence, 4);
	session_free(&session);
}

static void
nothing_ends_twice(void **state)
{
	struct session *session = begin(false);

	assert_false(session_abort(session, at(3)));
	assert_false(session_close(session, at(3)));
	mail(session, "<a@example.com>", 4);
	session_eom(session, at(5));
	assert_false(session_abort(session, at(6)));
	assert_false(session_close(session, at(6)));
	assert_unset(session_event(session)->end_at);
	session_free(&session);
}

static void
ignores_what_belongs_to_no_message(void **state)
{
	struct session *session = begin(false);

	rcpt(session, "<a@example.com>", 3);
	rcpt_rejected(session, "<a@example.com>", 3);
	session_data(session, at(3));
	session_header(session, "X-Perf-Sent", "x", at(3));
	session_fact(session, SESSION_QUEUE_ID, "X");
	session_eom(session, at(3));
	assert_null(session_event(session));
	assert_false(session_has_recipient(session));
	session_free(&session);
}

static void
content_of_a_message_without_header_begins_at_its_end(void **state)
{
	struct session *session = begin(false);

	mail(session, "<a@example.com>", 3);
	session_eom(session, at(9));
	assert_at(session_event(session)->content_at, 9);
	session_free(&session);
}

/* Case 54: the queue id comes late. */
static void
takes_facts_when_they_come_and_keeps_the_first(void **state)
{
	struct session *session = begin(false);
	const struct message_event *event;

	mail(session, "<a@example.com>", 3);
	event = session_event(session);
	session_fact(session, SESSION_QUEUE_ID, NULL);
	session_fact(session, SESSION_QUEUE_ID, "");
	assert_null(event->queue_id);
	session_fact(session, SESSION_QUEUE_ID, "4fXyz");
	session_fact(session, SESSION_QUEUE_ID, "other");
	session_fact(session, SESSION_DAEMON_NAME, "submission");
	session_fact(session, SESSION_TLS_VERSION, "TLSv1.3");
	session_fact(session, SESSION_TLS_CIPHER, "cipher");
	session_fact(session, SESSION_SASL_METHOD, "PLAIN");
	session_fact(session, SESSION_SASL_USER, "user");
	assert_string_equal(event->queue_id, "4fXyz");
	assert_string_equal(event->daemon_name, "submission");
	assert_string_equal(event->tls_version, "TLSv1.3");
	assert_string_equal(event->tls_cipher, "cipher");
	assert_string_equal(event->sasl_method, "PLAIN");
	assert_string_equal(event->sasl_user, "user");
	session_free(&session);
}

static void
a_second_helo_replaces_the_first(void **state)
{
	struct session *session = begin(false);

	session_helo(session, "x", at(5));
	mail(session, "<a@example.com>", 6);
	assert_string_equal(session_event(session)->helo, "x");
	assert_at(session_event(session)->helo_at, 5);
	session_free(&session);
}

static void
stamps_with_the_time_of_mail_from(void **state)
{
	struct session *session = begin(false);
	char value[STAMP_HEADER_VALUE_SIZE];
	struct stamp_header stamp;

	mail(session, "<a@example.com>", 3);
	session_fact(session, SESSION_QUEUE_ID, "4fXyz");
	session_eom(session, at(9));
	session_stamp(session, value);
	assert_int_equal(stamp_header_parse(value, strlen(value), &stamp), 0);
	assert_true(stamp.mail_wall_ns == at(3).wall_ns);
	assert_true(uuid_equal(&stamp.id, &session_event(session)->id));
	assert_string_equal(stamp.queue_id, "4fXyz");
	session_free(&session);
}

static void
leaves_a_queue_id_that_no_stamp_holds_out_of_it(void **state)
{
	struct session *session = begin(false);
	char value[STAMP_HEADER_VALUE_SIZE], id[STAMP_QUEUE_ID_MAX + 2];
	struct stamp_header stamp;

	memset(id, 'A', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	mail(session, "<a@example.com>", 3);
	session_fact(session, SESSION_QUEUE_ID, id);
	session_stamp(session, value);
	assert_int_equal(stamp_header_parse(value, strlen(value), &stamp), 0);
	assert_string_equal(stamp.queue_id, "");
	assert_string_equal(session_event(session)->queue_id, id);
	session_free(&session);
}

#define GENUINE                                                                \
	"2026-11-30T07:47:42.123456Z;\n\t"                                     \
	"id=0193a4c8-6f00-7abc-8def-0123456789ab; q=4fXyz"

/* Case 61. */
static void
counts_all_stamps_of_strangers_as_forged(void **state)
{
	struct session *session = begin(false);
	const struct message_event *event;

	mail(session, "<a@example.com>", 3);
	event = session_event(session);
	session_header(session, "X-Perf-Sent", GENUINE, at(4));
	session_header(session, "x-perf-sent", "1970", at(4));
	session_header(session, "X-PERF-SENT", "", at(4));
	session_header(session, "X-Perf-Sentry", GENUINE, at(4));
	assert_int_equal(event->forged_stamps, 3);
	assert_int_equal(session_stamps_seen(session), 3);
	assert_false(uuid_is_set(&event->previous));
	session_free(&session);
}

static void
keeps_the_topmost_id_from_trusted_reinjectors(void **state)
{
	struct session *session = begin(true);
	const struct message_event *event;
	char text[UUID_TEXT_SIZE];

	mail(session, "<a@example.com>", 3);
	event = session_event(session);
	session_header(session, "X-Perf-Sent", "rubbish", at(4));
	session_header(session, "X-Perf-Sent", " " GENUINE " ", at(4));
	session_header(session, "X-Perf-Sent",
	    "2026-11-30T07:47:42.123456Z;\r\n "
	    "id=0193a4c8-6f00-7abc-8def-ffffffffffff; q=A",
	    at(4));
	assert_int_equal(event->forged_stamps, 1);
	assert_int_equal(session_stamps_seen(session), 3);
	uuid_format(&event->previous, text);
	assert_string_equal(text, "0193a4c8-6f00-7abc-8def-0123456789ab");
	session_free(&session);
}

/* I8. */
static void
counts_recipients_beyond_its_number(void **state)
{
	struct session *session = begin(false);

	mail(session, "<a@example.com>", 3);
	for (int i = 0; i < 100000; i++)
		rcpt(session, "<recipient@example.com>", i);
	assert_int_equal(session_event(session)->recipient_count, 1000);
	assert_int_equal(session_event(session)->recipients_omitted, 99000);
	session_free(&session);
}

/* I8: what recipients take never costs the message its queue id. */
static void
memory_is_bounded_and_leaves_room_for_the_rest(void **state)
{
	static const struct session_settings small = {
	    .stamp_name = "X-Perf-Sent",
	    .memory_bytes = 16 << 10,
	    .recipients_max = 100000,
	};
	static const struct client client = {.name = "client"};
	struct session *session = session_new(&small, 1);
	const struct message_event *event;
	char address[1000];

	memset(address, 'a', sizeof(address) - 1);
	address[sizeof(address) - 1] = '\0';
	session_connect(session, &client, false, at(1));
	mail(session, address, 3);
	for (int i = 0; i < 5000; i++)
		rcpt_rejected(session, address, i);
	session_fact(session, SESSION_QUEUE_ID, "4fXyz");
	session_header(session, "Message-ID", "<1@example.com>", at(4));
	session_eom(session, at(5));
	event = session_event(session);
	assert_true(event->recipient_count < 20);
	assert_int_equal(
	    event->recipient_count + event->recipients_omitted, 5000);
	for (size_t i = 0; i < event->recipient_count; i++)
		assert_string_equal(event->recipients[i].address, address);
	assert_string_equal(event->queue_id, "4fXyz");
	assert_string_equal(event->message_id, "<1@example.com>");
	session_free(&session);
}

static void
cuts_what_is_too_long(void **state)
{
	struct session *session = begin(false);
	const struct message_event *event;
	char *text = malloc(70000);

	memset(text, 'a', 69999);
	text[69999] = '\0';
	session_helo(session, text, at(2));
	mail(session, text, 3);
	rcpt(session, text, 4);
	session_fact(session, SESSION_SASL_USER, text);
	session_header(session, "Message-ID", text, at(5));
	session_header(session, "X-Perf-Run", text, at(5));
	session_header(session, "X-Perf-Sent", text, at(5));
	event = session_event(session);
	assert_int_equal(strlen(event->helo), 512);
	assert_int_equal(strlen(event->sender), 2048);
	assert_int_equal(strlen(event->recipients[0].address), 2048);
	assert_int_equal(strlen(event->sasl_user), 512);
	assert_int_equal(strlen(event->message_id), 998);
	assert_int_equal(strlen(event->run), 128);
	assert_int_equal(event->forged_stamps, 1);
	free(text);
	session_free(&session);
}

/* Case 36. */
static void
a_message_may_have_no_message_id_or_several(void **state)
{
	struct session *session = begin(false);

	mail(session, "<a@example.com>", 3);
	session_header(session, "Message-ID", "  ", at(4));
	assert_null(session_event(session)->message_id);
	session_header(session, "Message-ID", "\n\t<1@example.com>", at(4));
	session_header(session, "MESSAGE-ID", "<2@example.com>", at(4));
	assert_string_equal(
	    session_event(session)->message_id, "<1@example.com>");
	session_free(&session);
}

static void
an_unknown_client_is_recorded_as_such(void **state)
{
	static const struct client client = {.name = ""};
	struct session *session = session_new(&settings, 1);

	session_connect(session, &client, false, at(1));
	mail(session, "<a@example.com>", 3);
	assert_null(session_event(session)->client_name);
	assert_null(session_event(session)->client_address);
	assert_null(session_event(session)->helo);
	assert_unset(session_event(session)->helo_at);
	assert_false(session_said_helo(session));
	session_free(&session);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(records_every_command_of_a_message),
	    cmocka_unit_test(begins_each_message_anew),
	    cmocka_unit_test(says_how_far_an_aborted_message_came),
	    cmocka_unit_test(nothing_ends_twice),
	    cmocka_unit_test(ignores_what_belongs_to_no_message),
	    cmocka_unit_test(
		content_of_a_message_without_header_begins_at_its_end),
	    cmocka_unit_test(takes_facts_when_they_come_and_keeps_the_first),
	    cmocka_unit_test(a_second_helo_replaces_the_first),
	    cmocka_unit_test(stamps_with_the_time_of_mail_from),
	    cmocka_unit_test(leaves_a_queue_id_that_no_stamp_holds_out_of_it),
	    cmocka_unit_test(counts_all_stamps_of_strangers_as_forged),
	    cmocka_unit_test(keeps_the_topmost_id_from_trusted_reinjectors),
	    cmocka_unit_test(counts_recipients_beyond_its_number),
	    cmocka_unit_test(memory_is_bounded_and_leaves_room_for_the_rest),
	    cmocka_unit_test(cuts_what_is_too_long),
	    cmocka_unit_test(a_message_may_have_no_message_id_or_several),
	    cmocka_unit_test(an_unknown_client_is_recorded_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

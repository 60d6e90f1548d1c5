/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proxy without sockets: what each side is told, when, and what is
 * recorded. `client()` and `backend()` give bytes, `to_client()` and
 * `to_backend()` say what must have come out; events are kept as text.
 */
#include "lmtp/dialogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "proto/event.h"
#include "tests/lib/unit.h"

static struct dialogue *dialogue;
static struct stamp now;
static char events[64000];

static void
record(void *context, const struct delivery_event *event)
{
	size_t used = strlen(events);

	used += (size_t)snprintf(events + used, sizeof(events) - used,
	    "%u.%u %s %s", event->sequence, event->part,
	    delivery_phase_name(event->phase),
	    delivery_ending_name(event->ending));
	if (event->queue_id != NULL)
		used += (size_t)snprintf(events + used, sizeof(events) - used,
		    " %s", event->queue_id);
	for (size_t i = 0; i < event->recipient_count; i++)
		used += (size_t)snprintf(events + used, sizeof(events) - used,
		    " %s:%u/%u", event->recipients[i].address,
		    event->recipients[i].envelope.code,
		    event->recipients[i].final.code);
	snprintf(events + used, sizeof(events) - used, "\n");
}

static const struct dialogue_settings settings = {
    .names = {.host = "mx.test", .stamp = "X-Perf-Sent"},
    .backend = "inet:b:24",
    .record = record,
};

static struct stamp
tick(void)
{
	now.wall_ns += 10;
	now.monotonic_ns += 10;
	return now;
}

static int
begin(void **state)
{
	events[0] = '\0';
	dialogue = dialogue_new(&settings, 1, tick());
	return dialogue == NULL;
}

static int
end(void **state)
{
	dialogue_free(&dialogue);
	return 0;
}

static void
client(const char *text)
{
	dialogue_input(dialogue, DIALOGUE_CLIENT, text, strlen(text), tick());
}

static void
backend(const char *text)
{
	dialogue_input(dialogue, DIALOGUE_BACKEND, text, strlen(text), tick());
}

static void
expect(enum dialogue_side side, const char *wanted, const char *file, int line)
{
	struct buffer *output = dialogue_output(dialogue, side);

	buffer_append(output, "", 1);
	_assert_string_equal((const char *)output->data, wanted, file, line);
	buffer_clear(output);
	dialogue_resume(dialogue, tick());
}

#define to_client(text) expect(DIALOGUE_CLIENT, text, __FILE__, __LINE__)
#define to_backend(text) expect(DIALOGUE_BACKEND, text, __FILE__, __LINE__)
#define recorded(text)                                                         \
	do {                                                                   \
		assert_string_equal(events, text);                             \
		events[0] = '\0';                                              \
	} while (0)
#define over(how) assert_int_equal(dialogue_close(dialogue), how)

static void
hello(const char *capability)
{
	char reply[100];

	backend("220 hi\r\n");
	to_client("220 hi\r\n");
	client("LHLO c\r\n");
	to_backend("LHLO c\r\n");
	snprintf(reply, sizeof(reply), "250-b\r\n250 %s\r\n", capability);
	backend(reply);
	snprintf(reply, sizeof(reply),
	    "250-b\r\n250-%s\r\n250 XFORWARD IDENT\r\n", capability);
	to_client(reply);
}

/* As far as the backend's "go ahead" for a and b. */
static void
go_ahead(void)
{
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nRCPT TO:<b>\r\nDATA\r\n");
	to_backend("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nRCPT TO:<b>\r\nDATA\r\n");
	backend("250 m\r\n250 a\r\n250 b\r\n354 go\r\n");
	to_client("250 m\r\n250 a\r\n250 b\r\n354 go\r\n");
}

static void
send_content(void)
{
	client("x\r\n.\r\n");
	to_backend("x\r\n.\r\n");
}

static void
a_pipelined_transaction_passes_and_is_recorded_once(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	assert_string_equal(events, "");
	assert_int_equal(
	    dialogue_waits_for(dialogue), DIALOGUE_WAITS_FOR_FINAL_REPLY);
	backend("250 2.0.0 a\r\n452 4.2.2 b\r\n");
	recorded("1.0 content_end completed a:250/250 b:250/452\n");
	to_client("250 2.0.0 a\r\n452 4.2.2 b\r\n");
	client("QUIT\r\n");
	to_backend("QUIT\r\n");
	backend("221 bye\r\n");
	to_client("221 bye\r\n");
	over(DIALOGUE_CLOSE_NOW);
	recorded("");
}

static void
each_piece_of_replies_is_recorded_before_it_is_passed_on(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	backend("250 a\r\n25");
	recorded("1.0 content_end none a:250/250\n");
	to_client("250 a\r\n");
	backend("0-b\r\n");
	recorded("");
	to_client("");
	backend("550 b\r\n");
	recorded("1.1 content_end completed b:250/550\n");
	to_client("250-b\r\n550 b\r\n");
}

static void
a_refused_recipient_is_in_the_first_part(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nRCPT TO:<a>\r\nRCPT TO:<c>\r\n"
	       "DATA\r\n");
	backend("250 m\r\n250 a\r\n250 a\r\n550 c\r\n354 go\r\n");
	client(".\r\n");
	backend("250 a\r\n");
	recorded("1.0 content_end none a:250/250 c:550/0\n");
	backend("451 a\r\n");
	recorded("1.1 content_end completed a:250/451\n");
}

static void
no_content_passes_before_the_backend_says_so(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\nbody\r\n.\r\n");
	to_backend("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\n");
	backend("250 m\r\n250 a\r\n");
	to_backend("");
	backend("354 go\r\n");
	to_backend("body\r\n.\r\n");
	to_client("250 m\r\n250 a\r\n354 go\r\n");
}

static void
a_refusal_of_data_completes_the_transaction(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nRCPT TO:<b>\r\nDATA\r\n");
	backend("250 m\r\n250 a\r\n550 b\r\n");
	recorded("");
	backend("451 no\r\n");
	recorded("1.0 data completed a:250/451 b:550/0\n");
	to_client("250 m\r\n250 a\r\n550 b\r\n451 no\r\n");
	client("RSET\r\nMAIL FROM:<t>\r\n");
	backend("250 r\r\n250 m\r\n");
	to_client("250 r\r\n250 m\r\n");
	recorded("");
}

static void
xforward_is_answered_in_its_place_and_not_passed_on(void **state)
{
	hello("PIPELINING");
	client("NOOP\r\nXFORWARD IDENT=Q1 SOURCE=LOCAL\r\nXFORWARD rubbish\r\n"
	       "MAIL FROM:<s>\r\nXFORWARD IDENT=Q2\r\n");
	to_backend("NOOP\r\nMAIL FROM:<s>\r\n");
	to_client("");
	backend("250 n\r\n");
	to_client(
	    "250 n\r\n250 2.0.0 Ok\r\n501 5.5.4 Malformed parameters\r\n");
	backend("250 m\r\n");
	to_client("250 m\r\n503 5.5.1 Mail transaction in progress\r\n");
	client("RSET\r\n");
	recorded("1.0 mail reset Q1\n");
	backend("250 r\r\n");
	client("MAIL FROM:<s>\r\nRSET\r\n");
	backend("250 m\r\n");
	recorded("2.0 mail reset\n");
}

static void
without_pipelining_the_backend_gets_one_command_at_a_time(void **state)
{
	hello("8BITMIME");
	client("XFORWARD IDENT=Q\r\nMAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\n");
	to_client("250 2.0.0 Ok\r\n");
	to_backend("MAIL FROM:<s>\r\n");
	backend("250 m\r\n");
	to_backend("RCPT TO:<a>\r\n");
	backend("250 a\r\n");
	to_backend("DATA\r\n");
	backend("354 go\r\n");
	to_backend("");
	to_client("250 m\r\n250 a\r\n354 go\r\n");
	send_content();
}

static void
before_the_greeting_nothing_passes(void **state)
{
	client("LHLO c\r\n");
	to_backend("");
	assert_int_equal(
	    dialogue_waits_for(dialogue), DIALOGUE_WAITS_FOR_GREETING);
	backend("220 hi\r\n");
	to_client("220 hi\r\n");
	to_backend("LHLO c\r\n");
}

static void
dot_and_quit_may_come_together(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("x\r\n.\r\nQUIT\r\n");
	to_backend("x\r\n.\r\n");
	backend("250 a\r\n");
	to_backend("");
	backend("250 b\r\n");
	to_backend("QUIT\r\n");
	recorded("1.0 content_end none a:250/250\n"
		 "1.1 content_end completed b:250/250\n");
	backend("221 bye\r\n");
	to_client("250 a\r\n250 b\r\n221 bye\r\n");
}

static void
the_next_transaction_may_stand_behind_the_dot(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("x\r\n.\r\nMAIL FROM:<t>\r\nRCPT TO:<c>\r\n");
	to_backend("x\r\n.\r\n");
	backend("250 a\r\n250 b\r\n");
	to_backend("MAIL FROM:<t>\r\nRCPT TO:<c>\r\n");
	to_client("250 a\r\n250 b\r\n");
	backend("250 m\r\n550 c\r\n");
	client("RSET\r\n");
	recorded("1.0 content_end completed a:250/250 b:250/250\n"
		 "2.0 rcpt reset c:550/0\n");
}

static void
reset_waits_for_the_replies_before_it(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nRSET\r\nNOOP\r\n");
	to_backend("MAIL FROM:<s>\r\nRCPT TO:<a>\r\n");
	backend("250 m\r\n250 a\r\n");
	to_backend("RSET\r\nNOOP\r\n");
	recorded("1.0 rcpt reset a:250/0\n");
}

static void
the_backend_lost_before_the_dot_closes_at_once(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("half");
	dialogue_end_of_input(dialogue, DIALOGUE_BACKEND, tick());
	over(DIALOGUE_CLOSE_NOW);
	to_client("");
	recorded("1.0 data backend_lost a:250/0 b:250/0\n");
}

static void
the_backend_lost_after_the_dot_answers_for_nobody_else(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	backend("250 a\r\n25");
	dialogue_end_of_input(dialogue, DIALOGUE_BACKEND, tick());
	over(DIALOGUE_CLOSE_GENTLY);
	to_client("250 a\r\n");
	recorded("1.0 content_end none a:250/250\n"
		 "1.1 content_end backend_lost b:250/0\n");
}

static void
a_backend_that_cannot_be_reached_says_nothing_to_the_client(void **state)
{
	dialogue_lost(dialogue, DIALOGUE_BACKEND, tick());
	to_client("");
	recorded("");
	assert_int_not_equal(dialogue_close(dialogue), DIALOGUE_OPEN);
}

static void
a_client_lost_before_the_dot_ends_it(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("half\r\n.");
	dialogue_end_of_input(dialogue, DIALOGUE_CLIENT, tick());
	over(DIALOGUE_CLOSE_NOW);
	recorded("1.0 data client_lost a:250/0 b:250/0\n");
}

static void
a_client_lost_after_the_dot_does_not_lose_the_replies(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	dialogue_lost(dialogue, DIALOGUE_CLIENT, tick());
	over(DIALOGUE_OPEN);
	backend("250 a\r\n");
	recorded("1.0 content_end none a:250/250\n");
	backend("451 b\r\n");
	recorded("1.1 content_end client_lost b:250/451\n");
	over(DIALOGUE_CLOSE_NOW);
	to_client("");
}

static void
a_client_that_only_stops_sending_gets_all_its_replies(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("x\r\n.\r\nQUIT\r\n");
	dialogue_end_of_input(dialogue, DIALOGUE_CLIENT, tick());
	backend("250 a\r\n250 b\r\n");
	to_backend("x\r\n.\r\nQUIT\r\n");
	backend("221 bye\r\n");
	to_client("250 a\r\n250 b\r\n221 bye\r\n");
	recorded("1.0 content_end completed a:250/250 b:250/250\n");
}

static void
a_client_that_leaves_with_commands_under_way_ends_it(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\n");
	dialogue_end_of_input(dialogue, DIALOGUE_CLIENT, tick());
	over(DIALOGUE_OPEN);
	backend("250 m\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
	to_client("250 m\r\n");
	recorded("1.0 mail client_lost\n");
}

/* However long it takes to read them; without them it would deliver again. */
static void
a_client_that_only_stops_sending_is_left_with_no_reply_unread(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	dialogue_end_of_input(dialogue, DIALOGUE_CLIENT, tick());
	backend("250 a\r\n250 b\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
	to_client("250 a\r\n250 b\r\n");
	recorded("1.0 content_end completed a:250/250 b:250/250\n");
}

static void
replies_during_content_are_not_taken_for_final_ones(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("half");
	backend("552 5.3.4 too big\r\n");
	to_client("");
	client("\r\n.\r\n");
	to_client("552 5.3.4 too big\r\n");
	recorded("1.0 content_end none a:250/552\n");
}

static void
a_success_that_nobody_asked_for_reaches_nobody(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	backend("250 a\r\n250 b\r\n250 c\r\n");
	to_client("250 a\r\n250 b\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
	recorded("1.0 content_end completed a:250/250 b:250/250\n");
}

static void
an_unasked_421_is_passed_on(void **state)
{
	hello("PIPELINING");
	backend("421 4.3.2 shutting down\r\n");
	to_client("421 4.3.2 shutting down\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
}

static void
go_ahead_for_anything_but_data_ends_it(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\n DATA\r\n");
	backend("250 m\r\n354 go\r\n");
	to_client("250 m\r\n");
	over(DIALOGUE_CLOSE_NOW);
	recorded("1.0 mail backend_lost\n");
}

static void
rubbish_belongs_to_the_reply_it_stands_in(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	backend("rubbish\r\n250 a\r\n250-b\r\nmore\r\n250 b\r\n");
	to_client("rubbish\r\n250 a\r\n250-b\r\nmore\r\n250 b\r\n");
	recorded("1.0 content_end completed a:250/250 b:250/250\n");
}

static void
a_reply_without_end_ends_it(void **state)
{
	static char rubbish[60000];

	hello("PIPELINING");
	go_ahead();
	send_content();
	memset(rubbish, 'x', sizeof(rubbish) - 1);
	backend(rubbish);
	over(DIALOGUE_OPEN);
	backend(rubbish);
	over(DIALOGUE_CLOSE_GENTLY);
	to_client("");
	recorded("1.0 content_end backend_lost a:250/0 b:250/0\n");
}

static void
a_second_mail_is_the_backends_to_judge(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nMAIL FROM:<t>\r\n");
	to_backend("MAIL FROM:<s>\r\n");
	backend("250 m\r\n");
	to_backend("MAIL FROM:<t>\r\n");
	backend("503 nested\r\n");
	recorded("");
	client("RCPT TO:<a>\r\nMAIL FROM:<u>\r\n");
	backend("250 a\r\n");
	backend("250 m\r\n");
	recorded("1.0 rcpt reset a:250/0\n");
	client("RSET\r\n");
	recorded("2.0 mail reset\n");
}

static void
a_refused_mail_is_followed_by_another(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\n");
	backend("451 no\r\n");
	client("MAIL FROM:<t>\r\nRCPT TO:<a>\r\n");
	recorded("1.0 mail reset\n");
	backend("250 m\r\n250 a\r\n");
	to_client("451 no\r\n250 m\r\n250 a\r\n");
}

static void
what_would_change_the_stream_is_refused_here(void **state)
{
	hello("PIPELINING");
	client("BDAT 3 LAST\r\nSTARTTLS\r\nNOOP\r\n");
	to_backend("NOOP\r\n");
	to_client("502 5.5.1 Command not supported\r\n"
		  "502 5.5.1 Command not supported\r\n");
}

static void
a_command_without_end_ends_it(void **state)
{
	static char text[20000];

	hello("PIPELINING");
	memset(text, 'x', sizeof(text) - 1);
	client(text);
	over(DIALOGUE_CLOSE_NOW);
	to_backend("");
}

static void
more_recipients_than_replies_outstanding_are_held(void **state)
{
	size_t passed;

	hello("PIPELINING");
	client("MAIL FROM:<s>\r\n");
	for (int i = 0; i < 2000; i++)
		client("RCPT TO:<a>\r\n");
	passed = dialogue_output(dialogue, DIALOGUE_BACKEND)->size;
	assert_true(passed < 1000 * 13);
	for (int i = 0; i < 2001; i++)
		backend("250 ok\r\n");
	client("RSET\r\n");
	assert_int_equal(dialogue_output(dialogue, DIALOGUE_BACKEND)->size,
	    15 + 2000 * 13 + 6);
}

static void
output_that_nobody_takes_stops_input(void **state)
{
	static char content[50001];

	hello("PIPELINING");
	go_ahead();
	memset(content, 'x', sizeof(content) - 1);
	client(content);
	assert_true(dialogue_wants_input(dialogue, DIALOGUE_CLIENT));
	client(content);
	assert_false(dialogue_wants_input(dialogue, DIALOGUE_CLIENT));
	assert_true(dialogue_wants_input(dialogue, DIALOGUE_BACKEND));
	assert_int_equal(
	    dialogue_waits_for(dialogue), DIALOGUE_WAITS_FOR_REPLY);
	buffer_consume(dialogue_output(dialogue, DIALOGUE_BACKEND), 50000);
	assert_true(dialogue_wants_input(dialogue, DIALOGUE_CLIENT));
}

static void
own_replies_that_nobody_takes_stop_commands(void **state)
{
	static char noise[60001];
	struct buffer *output = dialogue_output(dialogue, DIALOGUE_CLIENT);
	size_t replies = 0;

	hello("PIPELINING");
	for (size_t i = 0; i + 6 < sizeof(noise); i += 6)
		memcpy(noise + i, "BDAT\r\n", 6);
	client(noise);
	client(noise);
	while (output->size > 0) {
		assert_true(output->size < DIALOGUE_PIECE_BYTES + 100);
		replies += output->size / 33;
		buffer_clear(output);
		dialogue_resume(dialogue, tick());
	}
	assert_int_equal(replies, 2 * (sizeof(noise) / 6));
}

static void
stop_tells_idle_clients_so(void **state)
{
	hello("PIPELINING");
	dialogue_stop(dialogue, tick());
	to_client("421 4.3.2 Service shutting down\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
	recorded("");
}

static void
stop_cuts_a_transaction_without_content(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\n");
	backend("250 m\r\n250 a\r\n");
	dialogue_stop(dialogue, tick());
	over(DIALOGUE_CLOSE_NOW);
	recorded("1.0 data stopped a:250/0\n");
}

static void
stop_waits_for_content_and_its_replies(void **state)
{
	hello("PIPELINING");
	go_ahead();
	dialogue_stop(dialogue, tick());
	over(DIALOGUE_OPEN);
	send_content();
	dialogue_stop(dialogue, tick());
	over(DIALOGUE_OPEN);
	backend("250 a\r\n250 b\r\n");
	to_client("250 a\r\n250 b\r\n421 4.3.2 Service shutting down\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
	recorded("1.0 content_end completed a:250/250 b:250/250\n");
}

static void
stop_before_the_greeting_closes(void **state)
{
	dialogue_stop(dialogue, tick());
	over(DIALOGUE_CLOSE_NOW);
	to_client("");
}

static void
abandoned_replies_are_recorded_as_stopped(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	backend("250 a\r\n");
	dialogue_stop(dialogue, tick());
	dialogue_abandon(dialogue, tick());
	recorded("1.0 content_end none a:250/250\n"
		 "1.1 content_end stopped b:250/0\n");
	over(DIALOGUE_CLOSE_NOW);
}

static void
an_idle_client_that_waits_too_long_is_told_so(void **state)
{
	hello("PIPELINING");
	assert_int_equal(
	    dialogue_waits_for(dialogue), DIALOGUE_WAITS_FOR_CLIENT);
	dialogue_timed_out(dialogue, tick());
	to_client("421 4.4.2 Timeout\r\n");
	over(DIALOGUE_CLOSE_GENTLY);
}

static void
a_backend_that_does_not_answer_is_given_up(void **state)
{
	hello("PIPELINING");
	go_ahead();
	send_content();
	dialogue_timed_out(dialogue, tick());
	to_client("");
	recorded("1.0 content_end timed_out a:250/0 b:250/0\n");
	over(DIALOGUE_CLOSE_GENTLY);
}

static void
a_client_that_stops_within_content_is_given_up(void **state)
{
	hello("PIPELINING");
	go_ahead();
	client("half");
	to_backend("half");
	assert_int_equal(
	    dialogue_waits_for(dialogue), DIALOGUE_WAITS_FOR_CLIENT);
	dialogue_timed_out(dialogue, tick());
	recorded("1.0 data timed_out a:250/0 b:250/0\n");
	over(DIALOGUE_CLOSE_NOW);
}

static void
go_ahead_without_recipients_expects_no_reply(void **state)
{
	hello("PIPELINING");
	client("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\n");
	backend("250 m\r\n550 a\r\n354 go\r\n");
	client(".\r\nNOOP\r\n");
	to_backend("MAIL FROM:<s>\r\nRCPT TO:<a>\r\nDATA\r\n.\r\nNOOP\r\n");
	recorded("1.0 content_end completed a:550/0\n");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(a_pipelined_transaction_passes_and_is_recorded_once),
	    TEST(each_piece_of_replies_is_recorded_before_it_is_passed_on),
	    TEST(a_refused_recipient_is_in_the_first_part),
	    TEST(no_content_passes_before_the_backend_says_so),
	    TEST(a_refusal_of_data_completes_the_transaction),
	    TEST(xforward_is_answered_in_its_place_and_not_passed_on),
	    TEST(without_pipelining_the_backend_gets_one_command_at_a_time),
	    TEST(before_the_greeting_nothing_passes),
	    TEST(dot_and_quit_may_come_together),
	    TEST(the_next_transaction_may_stand_behind_the_dot),
	    TEST(reset_waits_for_the_replies_before_it),
	    TEST(the_backend_lost_before_the_dot_closes_at_once),
	    TEST(the_backend_lost_after_the_dot_answers_for_nobody_else),
	    TEST(a_backend_that_cannot_be_reached_says_nothing_to_the_client),
	    TEST(a_client_lost_before_the_dot_ends_it),
	    TEST(a_client_lost_after_the_dot_does_not_lose_the_replies),
	    TEST(a_client_that_only_stops_sending_gets_all_its_replies),
	    TEST(a_client_that_leaves_with_commands_under_way_ends_it),
	    TEST(a_client_that_only_stops_sending_is_left_with_no_reply_unread),
	    TEST(replies_during_content_are_not_taken_for_final_ones),
	    TEST(a_success_that_nobody_asked_for_reaches_nobody),
	    TEST(an_unasked_421_is_passed_on),
	    TEST(go_ahead_for_anything_but_data_ends_it),
	    TEST(rubbish_belongs_to_the_reply_it_stands_in),
	    TEST(a_reply_without_end_ends_it),
	    TEST(a_second_mail_is_the_backends_to_judge),
	    TEST(a_refused_mail_is_followed_by_another),
	    TEST(what_would_change_the_stream_is_refused_here),
	    TEST(a_command_without_end_ends_it),
	    TEST(more_recipients_than_replies_outstanding_are_held),
	    TEST(output_that_nobody_takes_stops_input),
	    TEST(own_replies_that_nobody_takes_stop_commands),
	    TEST(stop_tells_idle_clients_so),
	    TEST(stop_cuts_a_transaction_without_content),
	    TEST(stop_waits_for_content_and_its_replies),
	    TEST(stop_before_the_greeting_closes),
	    TEST(abandoned_replies_are_recorded_as_stopped),
	    TEST(an_idle_client_that_waits_too_long_is_told_so),
	    TEST(a_backend_that_does_not_answer_is_given_up),
	    TEST(a_client_that_stops_within_content_is_given_up),
	    TEST(go_ahead_without_recipients_expects_no_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `postlag show` prints, against tests/cli/timeline_text/NAME.ref. With
 * POSTLAG_WRITE_REF in the environment the files are written instead; read the
 * difference before committing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/text_page.h"
#include "cli/timeline_text.h"
#include "store/timeline.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MAIL_WALL_NS INT64_C(1796024862123456000) /* 2026-11-30T07:47:42Z */
#define MAIL_MONOTONIC_NS (1000 * SECOND)

static const struct text_style wide = {.width = 80, .utf8 = true};

/* A message under construction. */
struct made {
	struct arena *arena;
	struct message_record record;
};

static struct stamp
at(int64_t ns)
{
	return (struct stamp){MAIL_WALL_NS + ns, MAIL_MONOTONIC_NS + ns};
}

static void
set_boot(uint8_t *boot_id, uint8_t value)
{
	memset(boot_id, value, CLOCK_BOOT_ID_BYTES);
}

static struct made
make(void)
{
	struct made made = {.arena = arena_new(16 << 20)};
	struct message_event *event = &made.record.event;

	assert_int_equal(0,
	    uuid_parse("019ad3c7-5c8b-7abc-8def-0123456789ab", 36, &event->id));
	event->ending = MESSAGE_ENDING_ACCEPTED;
	event->phase = MESSAGE_PHASE_EOM;
	event->queue_id = "4XyZab1234z5";
	event->message_id = "<20261130074742.1@client.example>";
	event->sender = "alice@client.example";
	event->client_name = "mail.client.example";
	event->client_address = "192.0.2.1";
	event->client_port = 54321;
	event->helo = "mail.client.example";
	event->tls_version = "TLSv1.3";
	event->tls_cipher = "TLS_AES_256_GCM_SHA384";
	event->declared_bytes = 12000;
	event->connect_at = at(-21 * MS);
	event->helo_at = at(-9 * MS);
	event->mail_at = at(0);
	event->data_at = at(3 * MS);
	event->content_at = at(3 * MS + 412000);
	event->eom_at = at(150 * MS);
	made.record.instance = "mx1.example";
	set_boot(made.record.boot_id, 1);
	return made;
}

static struct recipient_record *
add_recipient(
    struct made *made, const char *address, enum recipient_state state)
{
	struct recipient_record *recipient =
	    arena_append(made->arena, &made->record.recipients,
		&made->record.recipient_count, sizeof(*recipient));

	assert_non_null(recipient);
	recipient->address = arena_string(made->arena, address);
	recipient->state = state;
	recipient->expected = true;
	recipient->rcpt_at = at(1 * MS);
	recipient->leg = recipient->leg_recipient = -1;
	return recipient;
}

/* A delivery that began at `begin_ns`. */
static struct leg_record *
add_leg(struct made *made, int64_t begin_ns)
{
	struct leg_record *leg = arena_append(made->arena, &made->record.legs,
	    &made->record.leg_count, sizeof(*leg));

	assert_non_null(leg);
	leg->state = LEG_STAMPED;
	leg->instance = "mx1.example";
	set_boot(leg->boot_id, 1);
	leg->event.ending = DELIVERY_ENDING_COMPLETED;
	leg->event.phase = DELIVERY_PHASE_CONTENT_END;
	leg->event.queue_id = made->record.event.queue_id;
	leg->event.backend = "unix:/run/dovecot/lmtp";
	leg->event.content_bytes = 12345;
	leg->event.mail_at = at(begin_ns);
	leg->event.data_at = at(begin_ns + 2 * MS);
	leg->event.content_end_at = at(begin_ns + 5 * MS);
	return leg;
}

static struct delivery_recipient *
add_reply(struct made *made, struct leg_record *leg, const char *address,
    struct delivery_reply reply)
{
	struct delivery_recipient *recipient =
	    arena_append(made->arena, &leg->event.recipients,
		&leg->event.recipient_count, sizeof(*recipient));

	assert_non_null(recipient);
	recipient->address = arena_string(made->arena, address);
	recipient->position = (uint32_t)leg->event.recipient_count - 1;
	recipient->envelope =
	    (struct delivery_reply){250, "2.1.5", "Ok", leg->event.mail_at};
	recipient->final = reply;
	return recipient;
}

/* The recipient added last was decided by the last reply of `leg`. */
static void
decided(struct made *made, const struct leg_record *leg)
{
	struct recipient_record *recipient =
	    &made->record.recipients[made->record.recipient_count - 1];

	recipient->attempts = 1;
	recipient->leg = (int)(leg - made->record.legs);
	recipient->leg_recipient = (int)leg->event.recipient_count - 1;
}

static void
add_delivered(struct made *made, struct leg_record *leg, const char *address,
    int64_t reply_ns)
{
	char text[96];

	snprintf(text, sizeof(text), "<%s> aBcDeFg%zu Saved", address,
	    made->record.recipient_count);
	add_recipient(made, address, RECIPIENT_DELIVERED);
	add_reply(made, leg, address,
	    (struct delivery_reply){
		250, "2.0.0", arena_string(made->arena, text), at(reply_ns)});
	decided(made, leg);
}

/* A line of the log about the recipient added last. */
static void
add_attempt(struct made *made, int64_t ns, struct attempt_record attempt)
{
	struct attempt_record *added =
	    arena_append(made->arena, &made->record.attempts,
		&made->record.attempt_count, sizeof(*added));

	assert_non_null(added);
	*added = attempt;
	added->wall_ns = (MAIL_WALL_NS + ns) / SECOND * SECOND;
	added->recipient = (uint32_t)made->record.recipient_count - 1;
}

static const struct attempt_record sent = {
    .agent = "smtp",
    .relay = "mx.remote.example[203.0.113.7]:25",
    .dsn = "2.0.0",
    .status = "sent",
    .text = "250 2.0.0 Ok: queued as 9F1E2D3C4B",
};
static const struct attempt_record busy = {
    .agent = "lmtp",
    .relay = "127.0.0.1[127.0.0.1]:24",
    .dsn = "4.2.0",
    .status = "deferred",
    .text = "host 127.0.0.1[127.0.0.1] said: 451 4.2.0 Mailbox busy (in "
	    "reply to end of DATA command)",
};
static const struct attempt_record filtered = {
    .agent = "pipe",
    .relay = "spamfilter",
    .dsn = "2.0.0",
    .status = "sent",
    .text = "delivered via spamfilter service",
};

static char *
reference(const char *name)
{
	static char text[1 << 16];
	char path[128];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "tests/cli/timeline_text/%s.ref", name);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	return text;
}

static void
write_reference(const char *name, const struct buffer *out)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "tests/cli/timeline_text/%s.ref", name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(out->data, 1, out->size, file);
	fclose(file);
}

static void
expect(struct made *made, const char *name, const struct text_style *style)
{
	struct timeline *timeline = timeline_build(&made->record, made->arena);
	struct buffer out = {0};

	assert_non_null(timeline);
	timeline_text(timeline, style, &out);
	if (getenv("POSTLAG_WRITE_REF") != NULL)
		write_reference(name, &out);
	buffer_append(&out, "", 1);
	assert_string_equal((const char *)out.data, reference(name));
	buffer_free(&out);
	arena_free(&made->arena);
}

static struct made
make_simple(void)
{
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);

	add_delivered(&made, leg, "bob@example.org", 1480 * MS);
	return made;
}

static void
a_delivered_message_shows_where_its_time_went(void **state)
{
	struct made made = make_simple();

	expect(&made, "simple", &wide);
}

static void
a_narrow_terminal_without_utf8_gets_lines_that_fit(void **state)
{
	struct text_style narrow = {.width = 48};
	struct made made = make_simple();

	expect(&made, "narrow", &narrow);
}

static void
a_terminal_without_utf8_gets_ascii_bars(void **state)
{
	struct text_style ascii = {.width = 80};
	struct made made = make_simple();

	expect(&made, "ascii", &ascii);
}

static void
a_terminal_with_colours_gets_colours(void **state)
{
	struct text_style colour = {.width = 100, .colour = true, .utf8 = true};
	struct made made = make_simple();

	add_recipient(&made, "eve@example.org", RECIPIENT_REJECTED);
	expect(&made, "colour", &colour);
}

static void
fifty_recipients_of_one_delivery_share_phases_and_line(void **state)
{
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);
	char address[32];

	for (int i = 1; i <= 50; i++) {
		snprintf(address, sizeof(address), "user%02d@example.org", i);
		add_delivered(&made, leg, address, (1400 + 2 * i) * MS);
	}
	expect(&made, "fifty", &wide);
}

static void
every_fate_stands_with_its_reason(void **state)
{
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);
	struct recipient_record *recipient;

	add_delivered(&made, leg, "bob@example.org", 172 * MS);
	add_recipient(&made, "full@example.org", RECIPIENT_BOUNCED);
	add_reply(&made, leg, "full@example.org",
	    (struct delivery_reply){552, "5.2.2",
		"<full@example.org> Quota exceeded (mailbox for user is full)",
		at(175 * MS)});
	decided(&made, leg);
	recipient =
	    add_recipient(&made, "busy@example.org", RECIPIENT_IN_FLIGHT);
	recipient->attempts = 2;
	add_reply(&made, leg, "busy@example.org",
	    (struct delivery_reply){
		451, "4.2.0", "Internal error", at(176 * MS)});
	recipient =
	    add_recipient(&made, "later@example.org", RECIPIENT_IN_FLIGHT);
	recipient = add_recipient(&made, "eve@example.org", RECIPIENT_REJECTED);
	recipient->reject_dsn = "5.1.1";
	recipient->reject_text =
	    "<eve@example.org>: Recipient address rejected:"
	    " User unknown in virtual mailbox table";
	leg = add_leg(&made, 310 * SECOND);
	add_reply(&made, leg, "busy@example.org",
	    (struct delivery_reply){
		451, "4.2.0", "Mailbox busy", at(311 * SECOND)});
	expect(&made, "fates", &wide);
}

static void
an_aborted_transaction_says_how_far_it_came(void **state)
{
	struct made made = make();
	struct message_event *event = &made.record.event;

	event->ending = MESSAGE_ENDING_ABORTED;
	event->phase = MESSAGE_PHASE_DATA;
	event->message_id = NULL;
	event->content_at = event->eom_at = (struct stamp){0};
	event->end_at = at(130 * SECOND);
	add_recipient(&made, "bob@example.org", RECIPIENT_ABORTED);
	expect(&made, "aborted", &wide);
}

static void
clocks_that_disagree_give_no_duration(void **state)
{
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 100 * MS);

	set_boot(leg->boot_id, 2);
	add_delivered(&made, leg, "bob@example.org", 160 * MS);
	expect(&made, "skewed", &wide);
}

static void
mail_without_a_stamp_shows_its_delivery_alone(void **state)
{
	struct made made = {.arena = arena_new(1 << 20)};
	struct leg_record *leg;

	made.record.event.queue_id = NULL;
	leg = add_leg(&made, 0);
	leg->state = LEG_UNSTAMPED;
	leg->event.queue_id = "4XyZab9999z5";
	leg->event.message_id = "<7@other.example>";
	leg->event.sender = "";
	add_delivered(&made, leg, "bob@example.org", 9 * MS);
	made.record.recipients[0].expected = false;
	expect(&made, "unstamped", &wide);
}

static void
a_foreign_delivery_stands_apart(void **state)
{
	struct made made = make_simple();
	struct leg_record *leg = add_leg(&made, 90 * SECOND);

	leg->state = LEG_FOREIGN;
	leg->event.queue_id = "4XyZab7777z5";
	leg->event.ending = DELIVERY_ENDING_BACKEND_LOST;
	add_reply(&made, leg, "bob@example.org", (struct delivery_reply){0});
	expect(&made, "foreign", &wide);
}

static void
many_attempts_show_the_last_ones(void **state)
{
	struct made made = make();
	struct recipient_record *recipient =
	    add_recipient(&made, "busy@example.org", RECIPIENT_IN_FLIGHT);

	recipient->attempts = 14;
	for (int i = 0; i < 14; i++) {
		struct leg_record *leg = add_leg(&made, i * 300 * SECOND);

		add_reply(&made, leg, "busy@example.org",
		    (struct delivery_reply){451, "4.2.0", "Mailbox busy",
			at(i * 300 * SECOND + 8 * MS)});
	}
	expect(&made, "attempts", &wide);
}

static void
what_the_log_says_stands_with_each_recipient(void **state)
{
	struct made made = make();
	struct recipient_record *recipient;
	const char *further[] = {"4XyZab7777z5"};

	made.record.size_bytes = 12480;
	made.record.queue_ids = further;
	made.record.queue_id_count = 1;
	add_recipient(&made, "sales@example.org", RECIPIENT_EXPANDED);
	recipient =
	    add_recipient(&made, "carol@remote.example", RECIPIENT_RELAYED);
	recipient->expected = false;
	recipient->original = "sales@example.org";
	add_attempt(&made, 0, sent);
	recipient = add_recipient(&made, "dan@example.org", RECIPIENT_MERGED);
	recipient->reason = FATE_REASON_DUPLICATE;
	add_recipient(&made, "busy@example.org", RECIPIENT_DEFERRED);
	add_attempt(&made, 1 * SECOND, busy);
	add_attempt(&made, 310 * SECOND, busy);
	add_recipient(&made, "filter@example.org", RECIPIENT_HANDED_OFF);
	add_attempt(&made, 1 * SECOND, filtered);
	add_recipient(&made, "gone@example.org", RECIPIENT_LOST);
	recipient = add_recipient(&made, "who@example.org", RECIPIENT_UNKNOWN);
	recipient->reason = FATE_REASON_LOG_GAP;
	expect(&made, "log", &wide);
}

/* Three attempts, one latency: two put off, the third seen by the hook. */
static void
a_delivery_after_deferrals_shows_them_all(void **state)
{
	struct made made = make();
	struct attempt_record last = busy;
	struct leg_record *leg = add_leg(&made, 900 * SECOND);

	last.dsn = "2.0.0";
	last.status = "sent";
	last.text = "250 2.0.0 <bob@example.org> aBcDeFg0 Saved";
	add_delivered(&made, leg, "bob@example.org", 901 * SECOND);
	made.record.recipients[0].attempts = 3;
	add_attempt(&made, 1 * SECOND, busy);
	add_attempt(&made, 310 * SECOND, busy);
	add_attempt(&made, 901 * SECOND, last);
	expect(&made, "deferrals", &wide);
}

static void
one_line_of_the_log_does_not_repeat_the_hook(void **state)
{
	struct made made = make_simple();
	struct attempt_record same = busy;

	same.status = "sent";
	add_attempt(&made, 1 * SECOND, same);
	expect(&made, "simple", &wide);
}

static void
many_lines_of_the_log_show_the_last_ones(void **state)
{
	struct text_style narrow = {.width = 48};
	struct made made = make();

	add_recipient(&made, "busy@example.org", RECIPIENT_DEFERRED);
	for (int i = 0; i < 14; i++)
		add_attempt(&made, i * 300 * SECOND, busy);
	expect(&made, "many_lines", &narrow);
}

static void
recipients_that_the_log_says_the_same_of_share_a_line(void **state)
{
	struct made made = make();
	struct attempt_record each = sent;
	char address[32];

	for (int i = 1; i <= 12; i++) {
		snprintf(address, sizeof(address), "u%02d@remote.example", i);
		add_recipient(&made, address, RECIPIENT_RELAYED);
		each.text = arena_string(made.arena, address);
		add_attempt(&made, 2 * SECOND, each);
	}
	expect(&made, "relayed", &wide);
}

static void
mail_that_the_milter_did_not_see_is_known_from_the_log(void **state)
{
	struct made made = {.arena = arena_new(1 << 20)};
	struct message_event *event = &made.record.event;

	assert_int_equal(0,
	    uuid_parse("01a22b6c-85ab-7abc-8def-0123456789ab", 36, &event->id));
	event->ending = MESSAGE_ENDING_LOGGED;
	event->queue_id = "4XyZab8888z5";
	event->message_id = "<8@example.org>";
	event->sender = "root@example.org";
	made.record.instance = "mx1.example";
	made.record.size_bytes = 512;
	add_recipient(&made, "admin@remote.example", RECIPIENT_RELAYED)
	    ->expected = false;
	add_attempt(&made, 1 * SECOND, sent);
	expect(&made, "logged", &wide);
}

/* I9, and terminals: a stranger's text may do nothing but stand there. */
static void
hostile_text_reaches_the_terminal_harmless(void **state)
{
	struct made made = make();
	struct message_event *event = &made.record.event;
	struct leg_record *leg = add_leg(&made, 162 * MS);
	struct delivery_recipient *recipient;

	event->sender = "\033]0;owned\007\033[2J@client.example";
	event->helo = "\xff\xfe\x80 8-bit \xc3\xa9 \xe2\x80\xae"
		      "evil";
	event->message_id = "<a\r\nFrom: x@\xc2\x9b"
			    "31mred>";
	event->run = "tab\there";
	add_delivered(&made, leg, "j\xc3\xbcrgen@example.org", 172 * MS);
	recipient = &leg->event.recipients[0];
	recipient->final.text = "ok\x1b[31m\nstatus=bounced \"x\\\" \x7f";
	expect(&made, "hostile", &wide);
}

static void
a_terminal_without_utf8_gets_no_byte_beyond_ascii(void **state)
{
	struct text_style ascii = {.width = 80};
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);
	struct timeline *timeline;
	struct buffer out = {0};

	add_delivered(&made, leg, "j\xc3\xbcrgen@example.org", 172 * MS);
	timeline = timeline_build(&made.record, made.arena);
	assert_non_null(timeline);
	timeline_text(timeline, &ascii, &out);
	for (size_t i = 0; i < out.size; i++)
		assert_true(out.data[i] == '\n' ||
			    (out.data[i] >= 0x20 && out.data[i] < 0x7f));
	buffer_free(&out);
	arena_free(&made.arena);
}

static void
a_local_time_that_differs_is_told(void **state)
{
	struct made made = make_simple();

	setenv("TZ", "CET-1", 1);
	tzset();
	expect(&made, "local_time", &wide);
	setenv("TZ", "UTC", 1);
	tzset();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_delivered_message_shows_where_its_time_went),
	    cmocka_unit_test(
		a_narrow_terminal_without_utf8_gets_lines_that_fit),
	    cmocka_unit_test(a_terminal_without_utf8_gets_ascii_bars),
	    cmocka_unit_test(a_terminal_with_colours_gets_colours),
	    cmocka_unit_test(
		fifty_recipients_of_one_delivery_share_phases_and_line),
	    cmocka_unit_test(every_fate_stands_with_its_reason),
	    cmocka_unit_test(an_aborted_transaction_says_how_far_it_came),
	    cmocka_unit_test(clocks_that_disagree_give_no_duration),
	    cmocka_unit_test(mail_without_a_stamp_shows_its_delivery_alone),
	    cmocka_unit_test(a_foreign_delivery_stands_apart),
	    cmocka_unit_test(many_attempts_show_the_last_ones),
	    cmocka_unit_test(what_the_log_says_stands_with_each_recipient),
	    cmocka_unit_test(a_delivery_after_deferrals_shows_them_all),
	    cmocka_unit_test(one_line_of_the_log_does_not_repeat_the_hook),
	    cmocka_unit_test(many_lines_of_the_log_show_the_last_ones),
	    cmocka_unit_test(
		recipients_that_the_log_says_the_same_of_share_a_line),
	    cmocka_unit_test(
		mail_that_the_milter_did_not_see_is_known_from_the_log),
	    cmocka_unit_test(hostile_text_reaches_the_terminal_harmless),
	    cmocka_unit_test(a_terminal_without_utf8_gets_no_byte_beyond_ascii),
	    cmocka_unit_test(a_local_time_that_differs_is_told),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

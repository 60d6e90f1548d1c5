/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `postlag show` prints (case 51), against
 * tests/cli/timeline_text/NAME.ref. With POSTLAG_WRITE_REF in the environment
 * the files are written instead; read the difference before committing it.
 */
#include "tests/cli/text_fixture.h"

#include "cli/timeline_text.h"

static void
expect(struct made *made, const char *name, const struct text_style *style)
{
	struct timeline *timeline = timeline_build(&made->record, made->arena);
	struct buffer out = {0};
	char path[128];

	assert_non_null(timeline);
	timeline_text(timeline, style, &out);
	snprintf(path, sizeof(path), "timeline_text/%s", name);
	expect_text(path, &out);
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
dovecot_says_where_it_went(void **state)
{
	static const struct filing_record kept[] = {
	    {FILING_STORED, "Junk Mail"},
	    {FILING_STORED, "A"},
	    {FILING_FORWARDED, "eve@example.org"},
	    {FILING_ANSWERED, "alice@client.example"},
	    {FILING_DISCARDED, NULL},
	};
	static const struct filing_record discarded[] = {
	    {FILING_DISCARDED, NULL}};
	static const struct filing_record rejected[] = {
	    {FILING_REJECTED, "alice@client.example"}};
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);
	struct recipient_record *recipients;

	add_delivered(&made, leg, "bob@example.org", 1480 * MS);
	add_delivered(&made, leg, "carol@example.org", 1480 * MS);
	add_delivered(&made, leg, "dave@example.org", 1480 * MS);
	recipients = made.record.recipients;
	recipients[0].filings = kept;
	recipients[0].filing_count = 5;
	recipients[1].filings = discarded;
	recipients[1].filing_count = 1;
	recipients[1].state = RECIPIENT_DISCARDED;
	recipients[2].filings = rejected;
	recipients[2].filing_count = 1;
	recipients[2].state = RECIPIENT_BOUNCED;
	expect(&made, "dovecot", &wide);
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
an_operators_word_stands_with_name_time_and_comment(void **state)
{
	struct made made = make();
	struct operation_record operations[] = {
	    {OPERATION_ACKNOWLEDGE, MAIL_WALL_NS + 3600 * SECOND, "root",
		"the queue of the old host was restored on mx2, where it is "
		"delivered"},
	    {OPERATION_ACKNOWLEDGE, MAIL_WALL_NS + 7200 * SECOND, "al\x1bice",
		NULL},
	};

	made.record.operations = operations;
	made.record.operation_count = 2;
	add_recipient(&made, "gone@example.org", RECIPIENT_DELETED)->reason =
	    FATE_REASON_ACKNOWLEDGED;
	add_recipient(&made, "who@example.org", RECIPIENT_DELETED)->reason =
	    FATE_REASON_ACKNOWLEDGED_UNKNOWN;
	expect(&made, "acknowledged", &wide);
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
	    cmocka_unit_test(
		an_operators_word_stands_with_name_time_and_comment),
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
	    cmocka_unit_test(dovecot_says_where_it_went),
	    cmocka_unit_test(a_local_time_that_differs_is_told),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What `postlag queue` and `postlag lost` print, against
 * tests/cli/list_text/NAME.ref; see test_timeline_text.c. */
#include "tests/cli/text_fixture.h"

#include "cli/drain_text.h"
#include "cli/list_text.h"

#include <jansson.h>

#define HOUR (3600 * SECOND)

static struct list
list_of(struct made *made, enum open_kind kind, struct open_answer *answer)
{
	answer->records = &made->record;
	answer->count = 1;
	for (size_t i = 0; i < made->record.recipient_count; i++) {
		const struct recipient_record *recipient =
		    &made->record.recipients[i];

		if (open_kind_has(kind, recipient))
			answer->recipients[recipient->state]++;
	}
	return (struct list){kind, answer, MAIL_WALL_NS + 2 * HOUR, true, NULL};
}

static void
expect(struct made *made, const char *name, const struct list *list)
{
	struct buffer out = {0};

	assert_int_equal(0, list_text(list, &wide, made->arena, &out));
	expect_text(name, &out);
	arena_free(&made->arena);
}

static struct made
make_deferred(void)
{
	struct made made = make();
	struct leg_record *leg = add_leg(&made, 162 * MS);

	add_delivered(&made, leg, "done@example.org", 172 * MS);
	add_recipient(&made, "busy@example.org", RECIPIENT_DEFERRED);
	add_attempt(&made, 1 * SECOND, busy);
	add_attempt(&made, 310 * SECOND, busy);
	add_recipient(&made, "later@example.org", RECIPIENT_IN_FLIGHT);
	add_recipient(&made, "held@example.org", RECIPIENT_HELD);
	return made;
}

static void
the_queue_shows_what_is_open_and_why(void **state)
{
	struct made made = make_deferred();
	struct open_answer answer = {.messages = 1};
	struct drain_domain domain = {
	    "example.org", 2, MAIL_WALL_NS, 0, 14, NULL};
	const struct drain drain = {
	    {&domain, 1}, MAIL_WALL_NS + 2 * HOUR, false};
	struct list list = list_of(&made, OPEN_QUEUED, &answer);

	list.drain = &drain;
	expect(&made, "list_text/queue", &list);
}

static void
of_many_recipients_the_first_are_shown(void **state)
{
	struct made made = make();
	struct open_answer answer = {.messages = 3000};
	struct list list;
	char address[32];

	made.record.event.queue_id = NULL;
	for (int i = 1; i <= 12; i++) {
		snprintf(address, sizeof(address), "u%02d@remote.example", i);
		add_recipient(&made, address, RECIPIENT_HELD);
	}
	list = list_of(&made, OPEN_QUEUED, &answer);
	expect(&made, "list_text/many", &list);
}

/* By a log of whole seconds. */
static void
nothing_was_tried_before_it_came(void **state)
{
	struct made made = make();
	struct open_answer answer = {.messages = 1};
	struct list list;

	add_recipient(&made, "busy@example.org", RECIPIENT_DEFERRED);
	add_attempt(&made, 0, busy);
	list = list_of(&made, OPEN_QUEUED, &answer);
	list.now_wall_ns = MAIL_WALL_NS + 2 * SECOND;
	expect(&made, "list_text/tried", &list);
}

static void
an_empty_queue_says_so(void **state)
{
	struct made made = make();
	struct open_answer answer = {0};
	struct list list = {OPEN_QUEUED, &answer, MAIL_WALL_NS, false, NULL};

	expect(&made, "list_text/empty", &list);
}

static void
losses_say_why_and_when_last_seen(void **state)
{
	struct made made = make();
	struct open_answer answer = {.messages = 1};
	struct list list;
	struct recipient_record *recipient;

	add_recipient(&made, "gone@example.org", RECIPIENT_LOST);
	add_attempt(&made, 1 * HOUR, busy);
	recipient = add_recipient(&made, "who@example.org", RECIPIENT_UNKNOWN);
	recipient->reason = FATE_REASON_LOG_GAP;
	add_recipient(&made, "fine@example.org", RECIPIENT_DELIVERED);
	list = list_of(&made, OPEN_MISSING, &answer);
	expect(&made, "list_text/lost", &list);
}

static void
acknowledged_losses_say_by_whom(void **state)
{
	struct made made = make();
	struct open_answer answer = {.messages = 1};
	struct operation_record operation = {OPERATION_ACKNOWLEDGE,
	    MAIL_WALL_NS + HOUR, "root",
	    "the queue of the old host was restored on mx2, where it is "
	    "delivered"};
	struct list list;

	made.record.operations = &operation;
	made.record.operation_count = 1;
	add_recipient(&made, "gone@example.org", RECIPIENT_DELETED)->reason =
	    FATE_REASON_ACKNOWLEDGED;
	add_recipient(&made, "other@example.org", RECIPIENT_DELETED);
	list = list_of(&made, OPEN_EVER_MISSING, &answer);
	list.with_hint = false;
	expect(&made, "list_text/acknowledged", &list);
}

static void
json_has_totals_and_whole_messages(void **state)
{
	struct made made = make_deferred();
	struct open_answer answer = {.messages = 1};
	struct list list = list_of(&made, OPEN_QUEUED, &answer);
	struct buffer out = {0};
	json_t *json;
	int total, deferred;
	const char *queue_id;

	assert_int_equal(0, list_json(&list, made.arena, &out));
	json = json_loadb((char *)out.data, out.size, 0, NULL);
	assert_non_null(json);
	assert_int_equal(
	    0, json_unpack(json, "{s:i, s:{s:i}, s:[{s:s}]}", "total_messages",
		   &total, "total_recipients", "deferred", &deferred,
		   "messages", "queue_id", &queue_id));
	assert_int_equal(total, 1);
	assert_int_equal(deferred, 1);
	assert_string_equal(queue_id, "4XyZab1234z5");
	json_decref(json);
	buffer_free(&out);
	arena_free(&made.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_queue_shows_what_is_open_and_why),
	    cmocka_unit_test(of_many_recipients_the_first_are_shown),
	    cmocka_unit_test(nothing_was_tried_before_it_came),
	    cmocka_unit_test(an_empty_queue_says_so),
	    cmocka_unit_test(losses_say_why_and_when_last_seen),
	    cmocka_unit_test(acknowledged_losses_say_by_whom),
	    cmocka_unit_test(json_has_totals_and_whole_messages),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

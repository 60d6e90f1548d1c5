/* SPDX-License-Identifier: BSD-2-Clause */
/* The join by scenario, on a real store. */
#include "tests/exporter/join_dump.h"

/* A script and lines that what comes of it must contain. */
struct scenario {
	const char *name;
	const char *script;
	const char *lines;
};

static const struct scenario scenarios[] = {
    {"a stamped message is delivered", "M a Q1 u1 u2\nD a Q1 u1=250 u2=250\n",
	"messages_accepted_total 1\n"
	"recipients_accepted_total 2\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"
	"delivery_attempts_total{result=\"delivered\"} 2\n"
	"delivery_latency_seconds{route=\"inbound\"} 2\n"
	"phase_seconds{phase=\"mail_to_rcpt\"} 1\n"
	"phase_seconds{phase=\"queue\"} 2\n"
	"phase_seconds{phase=\"lmtp_reply\"} 2\n"
	"open 0\n"
	"Q1: u1=delivered/1 u2=delivered/1 [stamped]\n"},
    {"a message waits for its delivery", "M a Q1 u1\n",
	"open 1\nQ1: u1=in_flight/0\n"},
    {"case 39: five recipients have five outcomes",
	"M a Q1 u1 u2 u3 u4 u5\n"
	"D a Q1 u1=250 u2=250 u3=250 u4=550 u5=451\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 3\n"
	"recipient_outcomes_total{outcome=\"bounced\"} 1\n"
	"delivery_attempts_total{result=\"deferred\"} 1\n"
	"deferrals_total{reason=\"other\"} 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 3\n"
	"open 1\n"
	"Q1: u1=delivered/1 u2=delivered/1 u3=delivered/1 u4=bounced/1"
	" u5=deferred/1 [stamped]\n"},
    {"case 1: retries are observed once, from MAIL FROM",
	"M a Q1 u1\nD a Q1 u1=451\nD a Q1 u1=451\nD a Q1 u1=250\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"delivery_attempts_total{result=\"deferred\"} 2\n"
	"delivery_attempts_total{result=\"delivered\"} 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 1\n"
	"phase_seconds{phase=\"lmtp_data\"} 1\n"
	"Q1: u1=delivered/3 [stamped] [stamped] [stamped]\n"},
    {"RCPT TO refused by the server bounces", "M a Q1 u1\nD a Q1 u1=/550\n",
	"recipient_outcomes_total{outcome=\"bounced\"} 1\nopen 0\n"},
    {"RCPT TO put off by the server does not", "M a Q1 u1\nD a Q1 u1=/451\n",
	"delivery_attempts_total{result=\"deferred\"} 1\nopen 1\n"},
    {"no final reply leaves the recipient in flight", "M a Q1 u1\nD a Q1 u1=\n",
	"delivery_attempts_total{result=\"unanswered\"} 1\nopen 1\n"},
    {"case 42: a second delivery is a duplicate",
	"M a Q1 u1\nD a Q1 u1=250\nD a Q1 u1=250\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"duplicates_total 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 1\n"
	"Q1: u1=delivered/2 [stamped] [stamped]\n"},
    {"what was delivered cannot bounce any more",
	"M a Q1 u1\nD a Q1 u1=250\nD a Q1 u1=550\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"delivery_attempts_total{result=\"bounced\"} 1\n"
	"Q1: u1=delivered/2 [stamped] [stamped]\n"},
    {"delivered after bounced is a revision",
	"M a Q1 u1\nD a Q1 u1=550\nD a Q1 u1=250\n",
	"recipient_outcomes_total{outcome=\"bounced\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"outcome_revisions_total{from=\"bounced\",to=\"delivered\"} 1\n"
	"Q1: u1=delivered/2 [stamped] [stamped]\n"},
    {"an expanded alias is added", "M a Q1 list\nD a Q1 u1=250 u2=451\n",
	"recipients_added_total{reason=\"expanded\"} 2\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"open 2\n"
	"Q1: list=in_flight/0 u1=delivered/1 u2=deferred/1 [stamped]\n"},
    {"an address named twice by RCPT TO is one recipient",
	"M a Q1 u1@example.test u1@EXAMPLE.test U1\nD a Q1 u1=250 U1=250\n",
	"recipients_accepted_total 2\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"
	"Q1: u1=delivered/1 U1=delivered/1 [stamped]\n"},
    {"the local part is compared without case if need be",
	"M a Q1 User\nD a Q1 user=250\n", "Q1: User=delivered/1 [stamped]\n"},
    {"an address named several times in one delivery counts as often",
	"M a Q1 u1\nD a Q1 u1=250 u1=250 u1=250\n",
	"recipients_added_total{reason=\"expanded\"} 2\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 3\n"
	"Q1: u1=delivered/1 u1=delivered/1 u1=delivered/1 [stamped]\n"},
    {"a retry is for the one of several that is still in flight",
	"M a Q1 u1\nD a Q1 u1=250 u1=451\nD a Q1 u1=250\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"
	"Q1: u1=delivered/1 u1=delivered/2 [stamped] [stamped]\n"},
    {"parts of a delivery are one leg",
	"M a Q1 u1 u2 u3\nD+ a Q1 u1=250\n+D a Q1 u2=250\n",
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"
	"Q1: u1=delivered/1 u2=delivered/1 u3=in_flight/0 [stamped]\n"},
    {"an address named twice, its replies in different parts",
	"M a Q1 u1\nD+ a Q1 u1=250\n+D a Q1 u1=250\n",
	"recipients_added_total{reason=\"expanded\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"
	"Q1: u1=delivered/1 u1=delivered/1 [stamped]\n"},
    {"parts of a delivery without a message are one leg",
	"D+ - Q1 u1=250\n+D - Q1 u2=250\n",
	"unstamped_total{reason=\"no_message\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 2\n"},
    {"case 40: a refused recipient was never accepted",
	"M a Q1 u1 !u2\nD a Q1 u1=250\n",
	"recipients_accepted_total 1\n"
	"smtp_rejects_total{phase=\"rcpt\",class=\"5\"} 1\n"
	"Q1: u1=delivered/1 u2=rejected/0 [stamped]\n"},
    {"a transaction without an accepted recipient is only counted",
	"M!4 a Q1 !u1\n",
	"smtp_rejects_total{phase=\"rcpt\",class=\"5\"} 1\n"
	"smtp_aborts_total{phase=\"rcpt\"} 1\nopen 0\n"},
    {"an aborted transaction is kept, not accepted", "M!5 a Q1 u1\n",
	"smtp_aborts_total{phase=\"data\"} 1\nopen 0\n"
	"Q1: u1=aborted/0\n"},
    {"what seemed aborted may be delivered", "M!6 a Q1 u1\nD - Q1 u1=250\n",
	"recipients_added_total{reason=\"aborted\"} 1\n"
	"outcome_revisions_total{from=\"aborted\",to=\"in_flight\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"unstamped_total{reason=\"no_stamp\"} 1\n"
	"Q1: u1=delivered/1 [queue_id]\n"},
    {"stamps removed by the milter are counted", "M^3 a Q1 u1\n",
	"forged_stamps_total 3\n"},
    {"without a stamp the queue id joins", "M a Q1 u1\nD - Q1 u1=250\n",
	"unstamped_total{reason=\"no_stamp\"} 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 1\n"
	"Q1: u1=delivered/1 [queue_id]\n"},
    {"case 41: a queue id used again joins its newest message",
	"M a Q1 u1\nD a Q1 u1=250\nM b Q1 u1\nD - Q1 u1=250\n",
	"delivery_latency_seconds{route=\"inbound\"} 2\n"
	"Q1: u1=delivered/1 [queue_id]\n"
	"Q1: u1=delivered/1 [stamped]\n"},
    {"a mail of days ago is delivered", "M~3 a Q1 u1\nD a Q1 u1=250\n",
	"delivery_latency_seconds{route=\"inbound\"} 1\nQ1: u1=delivered/1 "
	"[stamped]\n"},
    {"an id of a wrong clock is kept as well", "M~300 a Q1 u1\nD a Q1 u1=250\n",
	"odd_messages_total 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 1\nQ1: u1=delivered/1 "
	"[stamped]\n"},
    {"without stamp and message nothing joins", "D - Q1 u1=250 u2=451\n",
	"unstamped_total{reason=\"no_message\"} 1\n"
	"recipients_added_total{reason=\"unjoined\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"
	"open 0\nno message Q1: "},
    {"an unknown stamp that claims this mail waits", "D ? Q1 u1=250\n",
	"waiting 1\nno message Q1: "},
    {"and is foreign after stamp_wait", "D ? Q1 u1=250\nX\n",
	"waiting 0\nforged_stamps_total 1\n"
	"unstamped_total{reason=\"foreign\"} 1\n"
	"recipient_outcomes_total{outcome=\"delivered\"} 1\n"},
    {"case 61: a genuine stamp of another mail is not believed",
	"M a Q1 u1\nM b Q2 u2\nD a Q2 u2=250\nD a Q1 u1=250\n",
	"forged_stamps_total 1\n"
	"unstamped_total{reason=\"no_stamp\"} 1\n"
	"delivery_latency_seconds{route=\"inbound\"} 2\n"
	"Q1: u1=delivered/1 [stamped]\n"
	"Q2: u2=delivered/1 [queue_id]\n"},
    {"nor when the mail it is in is not known", "M a Q1 u1\nD a Q2 u1=250\n",
	"forged_stamps_total 1\n"
	"unstamped_total{reason=\"foreign\"} 1\n"
	"recipients_added_total{reason=\"unjoined\"} 1\n"
	"open 1\nQ1: u1=in_flight/0\nno message Q2: "},
    {"a stamp joins where the hook knows no queue id",
	"M a Q1 u1\nD a - u1=250\n", "Q1: u1=delivered/1 [stamped]\n"},
    {"a heartbeat's counts are ours", "H\nH\n",
	"journal_events_appended_total{source=\"milter\"} 2\n"
	"journal_events_dropped_total{source=\"milter\",reason=\"limit\"} 4\n"
	"smtp_aborts_total{phase=\"connect\"} 14\n"
	"smtp_aborts_total{phase=\"content\"} 24\n"
	"milter_unstamped_total{reason=\"stopped\"} 26\n"
	"sessions_total{source=\"milter\"} 12\n"},
};

static void
assert_lines(const struct scenario *scenario, const char *dump)
{
	char *lines = strdup(scenario->lines), *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(dump, line) == NULL)
			fail_msg(
			    "%s: no \"%s\" in\n%s", scenario->name, line, dump);
	free(lines);
}

static void
each_scenario_comes_out_as_it_should(void **state)
{
	static struct script script;

	for (size_t i = 0; i < COUNT(scenarios); i++) {
		struct world world;
		char *dump;

		script_read(&script, scenarios[i].script);
		world_begin(&world);
		world_run(&world, &script);
		dump = world_dump(&world, &script);
		assert_lines(&scenarios[i], dump);
		assert_balance(dump);
		free(dump);
		world_end(&world);
		script_free(&script);
	}
}

static char *
dump_after(const struct script *script, const size_t *order)
{
	struct world world;
	char *dump;

	world_begin(&world);
	for (size_t i = 0; i < script->count; i++)
		world_apply(&world, &script->steps[order[i]]);
	world_commit(&world);
	dump = world_dump(&world, script);
	world_end(&world);
	return dump;
}

static void
a_delivery_read_before_its_message_joins_all_the_same(void **state)
{
	static const size_t in_order[] = {0, 1, 2, 3};
	static const size_t reversed[] = {2, 3, 0, 1};
	static struct script script;
	char *wanted, *got;

	script_read(&script, "M a Q1 u1 u2\nM b Q2 u3\nD a Q1 u1=250 u2=451\n"
			     "D b Q2 u3=250\n");
	wanted = dump_after(&script, in_order);
	got = dump_after(&script, reversed);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
	script_free(&script);
}

static void
what_waits_is_settled_after_a_restart(void **state)
{
	static struct script script;
	struct world world;
	char *dump;

	script_read(&script, "M a Q1 u1 u2\nD+ a Q1 u1=250\n+D a Q1 u2=451\n");
	world_begin(&world);
	world_apply(&world, &script.steps[1]);
	world_apply(&world, &script.steps[2]);
	world_commit(&world);
	world_close(&world);
	world_open(&world);
	world_apply(&world, &script.steps[0]);
	world_commit(&world);
	dump = world_dump(&world, &script);
	assert_non_null(
	    strstr(dump, "Q1: u1=delivered/1 u2=deferred/1 [stamped]"));
	assert_int_equal(dump_value(dump, "waiting"), 0);
	assert_int_equal(
	    dump_value(dump, "delivery_latency_seconds{route=\"inbound\"}"), 1);
	free(dump);
	world_end(&world);
	script_free(&script);
}

static void
a_copied_stamp_read_before_its_message_is_foreign(void **state)
{
	static struct script script;
	struct world world;
	char *dump;

	script_read(&script, "M a Q1 u1\nD a Q1 u1=250\n");
	script.steps[0].event.message.queue_id = "Q7";
	world_begin(&world);
	world_apply(&world, &script.steps[1]);
	world_apply(&world, &script.steps[0]);
	world_commit(&world);
	dump = world_dump(&world, &script);
	assert_int_equal(dump_value(dump, "forged_stamps_total"), 1);
	assert_int_equal(dump_value(dump, "open"), 1);
	assert_balance(dump);
	free(dump);
	world_end(&world);
	script_free(&script);
}

static void
case_13_the_other_instance_has_its_own_queue_ids(void **state)
{
	static const struct segment_header other = {
	    .format = SEGMENT_FORMAT,
	    .instance = "other.test",
	};
	static struct script script;
	struct world world;
	char *dump;

	script_read(&script, "M a Q1 u1\nD - Q1 u1=250\n");
	world_begin(&world);
	world_apply(&world, &script.steps[0]);
	world_apply_from(&world, &script.steps[1], &other);
	world_commit(&world);
	dump = world_dump(&world, &script);
	assert_int_equal(
	    dump_value(dump, "unstamped_total{reason=\"no_message\"}"), 1);
	assert_int_equal(dump_value(dump, "open"), 1);
	free(dump);
	world_end(&world);
	script_free(&script);
}

/* I7: without a common boot only the wall clocks are left to compare. */
static void
clocks_that_disagree_are_counted_and_not_observed(void **state)
{
	static const struct segment_header other = {
	    .format = SEGMENT_FORMAT,
	    .instance = "mx.test",
	    .boot_id = {9},
	};
	static struct script script;
	struct world world;
	char *dump;

	script_read(&script, "M a Q1 u1\nD a Q1 u1=250\n");
	script.steps[1].event.delivery.mail_at.wall_ns -= 3600 * SECOND_NS;
	world_begin(&world);
	world_apply(&world, &script.steps[0]);
	world_apply_from(&world, &script.steps[1], &other);
	world_commit(&world);
	dump = world_dump(&world, &script);
	assert_int_equal(dump_value(dump, "clock_skew_total"), 1);
	assert_int_equal(dump_value(dump, "phase_seconds{phase=\"queue\"}"), 0);
	assert_int_equal(
	    dump_value(dump, "delivery_latency_seconds{route=\"inbound\"}"), 1);
	free(dump);
	world_end(&world);
	script_free(&script);
}

static void
damage_is_counted_once(void **state)
{
	static const struct journal_damage damage = {
	    .records = 2, .bytes = 300, .torn = 1, .segments = 1};
	static struct script script;
	struct world world;
	struct reason reason;
	char *dump;

	script_read(&script, "M a Q1 u1\n");
	world_begin(&world);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    join_damage(world.join, "milter", script.steps[0].position,
			&damage, &reason),
		    0);
		world_apply(&world, &script.steps[0]);
		world_commit(&world);
	}
	dump = world_dump(&world, &script);
	assert_int_equal(
	    dump_value(
		dump, "journal_damaged_records_total{source=\"milter\"}"),
	    2);
	assert_int_equal(
	    dump_value(dump, "journal_damaged_bytes_total{source=\"milter\"}"),
	    300);
	assert_int_equal(dump_value(dump, "messages_accepted_total"), 1);
	free(dump);
	world_end(&world);
	script_free(&script);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_scenario_comes_out_as_it_should),
	    cmocka_unit_test(
		a_delivery_read_before_its_message_joins_all_the_same),
	    cmocka_unit_test(what_waits_is_settled_after_a_restart),
	    cmocka_unit_test(a_copied_stamp_read_before_its_message_is_foreign),
	    cmocka_unit_test(case_13_the_other_instance_has_its_own_queue_ids),
	    cmocka_unit_test(clocks_that_disagree_are_counted_and_not_observed),
	    cmocka_unit_test(damage_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

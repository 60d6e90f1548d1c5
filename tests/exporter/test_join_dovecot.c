/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dovecot's log in the join: lines and replies that a session id brings
 * together, read in every order.
 */
#include "tests/exporter/log_dump.h"

#define INTERLEAVINGS 30

/* clang-format off */
#define IN(qid)                                                                \
	"L smtpd 7 " qid ": client=c.test[192.0.2.1]\n"                        \
	"L cleanup 8 " qid ": message-id=<1@c.test>\n"                         \
	"L qmgr 9 " qid ": from=<sender@example.net>, size=500, nrcpt=1"       \
	" (queue active)\n"
#define SENT(qid, to, session)                                                 \
	"L lmtp 10 " qid ": to=<" to "@example.test>, relay=r[192.0.2.9]:24,"  \
	" delay=1, delays=0/0/0/1, dsn=2.0.0, status=sent (250 2.0.0 <" to     \
	"@example.test> " session " Saved)\n"
#define REMOVED(qid) "L qmgr 9 " qid ": removed\n"
#define STORED(session, mailbox)                                               \
	"V " session " fileinto action: stored mail into mailbox '" mailbox    \
	"'\n"
#define DISCARDED(session)                                                     \
	"V " session " discard action: Marked message to be discarded if not"  \
	" explicitly delivered (discard action)\n"
#define FORWARDED(session, to)                                                 \
	"V " session " redirect action: forwarded to <" to ">\n"

struct scenario {
	const char *name;
	const char *script;
	const char *lines; /* that the dump must contain */
};

static const struct scenario scenarios[] = {
    {"a mailbox by the hook's reply",
	"M a A00001 u1\n" STORED("s1", "Junk") "D a A00001 u1=250#s1\n",
	"delivered 1\ninbound 1\n"
	"A00001: accepted u1=delivered/1{ stored-Junk } stamped +0\n"},
    {"a mailbox by Postfix's log",
	IN("A00001") STORED("s1", "Junk") SENT("A00001", "u1", "s1")
	REMOVED("A00001"),
	"delivered 1\n"
	"A00001: logged u1=delivered/0{ stored-Junk } +1\n"},
    {"by both, and three mailboxes",
	"M a A00001 u1\n" IN("A00001") STORED("s1", "A") STORED("s1", "B")
	STORED("s1", "INBOX") "D a A00001 u1=250#s1\n"
	SENT("A00001", "u1", "s1") REMOVED("A00001"),
	"delivered 1\ninbound 1\n"
	"A00001: accepted u1=delivered/1{ stored-A stored-B stored-INBOX }"
	" stamped +1\n"},
    {"case 35: discarded by Sieve, with its latency",
	"M a A00001 u1\n" IN("A00001") DISCARDED("s1")
	"D a A00001 u1=250#s1\n" SENT("A00001", "u1", "s1")
	REMOVED("A00001"),
	"discarded 1\ninbound 1\n"
	"A00001: accepted u1=discarded/1{ discarded } stamped +1\n"},
    {"discarded, but filed too",
	"M a A00001 u1\n" DISCARDED("s1") STORED("s1", "X")
	"D a A00001 u1=250#s1\n",
	"delivered 1\ninbound 1\n"
	"A00001: accepted u1=delivered/1{ discarded stored-X } stamped +0\n"},
    {"case 34: redirect :copy",
	"M a A00001 u1\n" FORWARDED("s1", "o@x.test") STORED("s1", "INBOX")
	"D a A00001 u1=250#s1\n",
	"delivered 1\n"
	"A00001: accepted u1=delivered/1{ forwarded-o@x.test stored-INBOX }"
	" stamped +0\n"},
    {"redirect",
	"M a A00001 u1\n" FORWARDED("s1", "o@x.test")
	"D a A00001 u1=250#s1\n",
	"handed_off 1\ninbound 1\n"
	"A00001: accepted u1=handed_off/1{ forwarded-o@x.test } stamped +0\n"},
    {"reject, which the sender is told of",
	"M a A00001 u1\n"
	"V s1 reject action: rejected message from <s@x.test> (reject)\n"
	"D a A00001 u1=250#s1\n",
	"bounced 1\n"
	"A00001: accepted u1=bounced/1{ rejected-s@x.test } stamped +0\n"},
    {"vacation",
	"M a A00001 u1\n"
	"V s1 vacation action: sent vacation response to <s@x.test>\n"
	STORED("s1", "INBOX") "D a A00001 u1=250#s1\n",
	"delivered 1\n"
	"A00001: accepted u1=delivered/1{ answered-s@x.test stored-INBOX }"
	" stamped +0\n"},
    {"a session for each recipient of a transaction",
	"M a A00001 u1 u2 u3\n" STORED("s1", "INBOX") DISCARDED("s1:R2")
	FORWARDED("s1:R3", "o@x.test")
	"D a A00001 u1=250#s1 u2=250#s1:R2 u3=250#s1:R3\n",
	"delivered 1\ndiscarded 1\nhanded_off 1\ninbound 3\n"
	"A00001: accepted u1=delivered/1{ stored-INBOX }"
	" u2=discarded/1{ discarded } u3=handed_off/1{ forwarded-o@x.test }"
	" stamped +0\n"},
    {"one session answered twice",
	IN("A00001") STORED("s1", "INBOX") SENT("A00001", "u1", "s1")
	SENT("A00001", "u2", "s1") REMOVED("A00001"),
	"delivered 2\n"
	"A00001: logged u1=delivered/0{ stored-INBOX }"
	" u2=delivered/0{ stored-INBOX } +2\n"},
    {"in the file of Postfix's log",
	"M a A00001 u1\n" IN("A00001")
	"L: dovecot 11 lmtp(u1)<11><s1>: sieve: msgid=<m>:"
	" stored mail into mailbox 'Junk'\n"
	SENT("A00001", "u1", "s1") REMOVED("A00001"),
	"delivered 1\n"
	"A00001: accepted u1=delivered/0{ stored-Junk } +1\n"},
    {"lines of sessions that nobody answered say nothing",
	"M a A00001 u1\n" IN("A00001") DISCARDED("s2")
	"D a A00001 u1=250#s1\n" SENT("A00001", "u1", "s1")
	REMOVED("A00001"),
	"delivered 1\nA00001: accepted u1=delivered/1 stamped +1\n"},
    {"deferred, then discarded",
	"M a A00001 u1\n" IN("A00001") "D a A00001 u1=451\n"
	DISCARDED("s2") "D a A00001 u1=250#s2\n" SENT("A00001", "u1", "s2")
	REMOVED("A00001"),
	"discarded 1\ninbound 1\n"
	"A00001: accepted u1=discarded/2{ discarded } stamped stamped +1\n"},
};
/* clang-format on */

static uint32_t
random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % limit;
}

/* The milter's and Postfix's own order is another test's; Dovecot's log comes
 * before, between and after. */
static const struct step *
choose_step(
    const struct world *world, const struct script *script, uint32_t *seed)
{
	bool wants_dovecot = random_below(seed, 2) == 0;
	const struct step *first = NULL;

	for (size_t i = 0; i < script->count; i++) {
		const struct step *step = &script->steps[i];

		if (world_is_past(world, step))
			continue;
		if ((step->journal == DOVECOT) == wants_dovecot)
			return step;
		if (first == NULL)
			first = step;
	}
	return first;
}

static bool
read_on(struct world *world, const struct script *script, uint32_t *seed)
{
	const struct step *step;

	while ((step = choose_step(world, script, seed)) != NULL) {
		world_apply(world, step);
		if (random_below(seed, 4) == 0)
			world_commit(world);
		if (random_below(seed, 10) == 0)
			return false;
	}
	return true;
}

static void
begin_again(struct world *world)
{
	store_rollback(world->store);
	world_close(world);
	world_open(world);
}

/* To be freed. */
static char *
dump_read(const struct script *script, uint32_t seed)
{
	struct world world;
	char *dump;

	world_begin_reading(&world, true);
	if (seed == 0)
		world_run(&world, script);
	else
		while (!read_on(&world, script, &seed))
			begin_again(&world);
	world_expire(&world);
	world_commit(&world);
	dump = log_dump(&world, script);
	world_end(&world);
	return dump;
}

static void
assert_dump(const struct scenario *scenario, uint32_t seed, const char *dump)
{
	char *lines = strdup(scenario->lines), *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(dump, line) == NULL)
			fail_msg("%s, %u: no \"%s\" in\n%s", scenario->name,
			    seed, line, dump);
	free(lines);
}

static void
however_it_is_read_the_end_is_the_same(void **state)
{
	static struct script script;

	for (size_t i = 0; i < COUNT(scenarios); i++) {
		char text[4096];

		snprintf(text, sizeof(text), "I 50\n%s", scenarios[i].script);
		script_read(&script, text);
		for (uint32_t seed = 0; seed < INTERLEAVINGS; seed++) {
			char *dump = dump_read(&script, seed);

			assert_dump(&scenarios[i], seed, dump);
			free(dump);
		}
		script_free(&script);
	}
}

/* Case 50. */
static void
a_message_is_found_by_its_session(void **state)
{
	static struct script script;
	struct world world;
	struct buffer found = {.data = NULL};
	struct reason reason;
	struct store_reader *reader;

	script_read(&script, "M a A00001 u1 u2\n"
			     "D a A00001 u1=250#s1/+ u2=250#s1/+:R2\n");
	world_begin_reading(&world, true);
	world_run(&world, &script);
	reader = store_reader_open(world.directory, &reason);
	dump_log_found(reader, "s1/+:R2", &found);
	dump_log_found(reader, "s1/+", &found);
	dump_log_found(reader, "s1", &found);
	buffer_append(&found, "", 1);
	assert_string_equal((char *)found.data,
	    "s1/+:R2: accepted u1=delivered/1 u2=delivered/1 stamped +0\n"
	    "s1/+: accepted u1=delivered/1 u2=delivered/1 stamped +0\n");
	store_reader_free(&reader);
	buffer_free(&found);
	world_end(&world);
	script_free(&script);
}

/* What was delivered and is found to be discarded is a revision; a counter
 * never sinks. */
static void
a_line_that_comes_late_revises_the_outcome(void **state)
{
	static struct script script;
	struct world world;
	struct picture picture;

	script_read(
	    &script, "M a A00001 u1\nD a A00001 u1=250#s1\n" DISCARDED("s1"));
	world_begin_reading(&world, true);
	world_run(&world, &script);
	picture_init(&picture);
	totals_snapshot(world.totals, picture.counters, picture.histograms);
	assert_int_equal(
	    picture.counters[metric_index(METRIC_OUTCOME_REVISIONS,
		revision_number(RECIPIENT_DELIVERED, RECIPIENT_DISCARDED))],
	    1);
	assert_int_equal(
	    picture.counters[metric_index(METRIC_FILINGS, FILING_DISCARDED)],
	    1);
	assert_int_equal(
	    picture.counters[metric_index(METRIC_FILINGS, FILING_STORED)], 0);
	picture_free(&picture);
	world_end(&world);
	script_free(&script);
}

/* Lines without a reply are not waited for forever. */
static void
what_nobody_answers_is_let_go(void **state)
{
	static struct script script;
	struct world world;
	struct reason reason;
	struct join_figures figures;
	const int64_t hour_ns = 3600 * SECOND_NS;

	script_read(&script, STORED("s1", "A") STORED("s2", "B"));
	world_begin_reading(&world, true);
	world_run(&world, &script);
	assert_int_equal(join_log_start(world.join, journal_names[DOVECOT],
			     world.applied[DOVECOT])
			     .offset,
	    0);
	join_figures(world.join, &figures);
	assert_int_equal(figures.sessions_waiting, 2);
	assert_true(join_deadline(world.join) > 0);
	assert_int_equal(join_expire(world.join, hour_ns, &reason), 0);
	join_figures(world.join, &figures);
	assert_int_equal(figures.sessions_waiting, 0);
	assert_int_equal(join_deadline(world.join), 0);
	assert_int_equal(join_log_start(world.join, journal_names[DOVECOT],
			     world.applied[DOVECOT])
			     .offset,
	    world.applied[DOVECOT].offset);
	world_end(&world);
	script_free(&script);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(however_it_is_read_the_end_is_the_same),
	    cmocka_unit_test(a_message_is_found_by_its_session),
	    cmocka_unit_test(a_line_that_comes_late_revises_the_outcome),
	    cmocka_unit_test(what_nobody_answers_is_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which recipients count as having left the queue after they had waited. */
#include "store/query.h"
#include "store/query_drain.h"

#include "tests/exporter/join_fixture.h"

#define WAITS "M z ZZZZZ1 u9\nD z ZZZZZ1 u9=451\n"
#define LINE(qid, status)                                                      \
	"L lmtp 10 " qid                                                       \
	": to=<u1@example.test>, relay=none, delay=1, delays=0/0/0/1, "        \
	"dsn=4.4.1, status=" status " (x)\n"

static uint64_t
left(const char *text)
{
	struct world world;
	struct script script;
	struct drain_question question = {0};
	struct drain_answer answer;
	struct store_reader *reader;
	struct arena *arena = arena_new(1 << 20);
	struct reason reason;
	uint64_t count;

	world_begin_reading(&world, true);
	script_read(&script, text);
	world_run(&world, &script);
	reader = store_reader_open(world.directory, &reason);
	assert_non_null(reader);
	question.now_wall_ns = script.start_wall_ns + script.ns;
	if (store_drain(reader, &question, arena, &answer, &reason) != 0)
		fail_msg("%s", reason.text);
	if (answer.count != 1)
		fail_msg("%s: %zu", text, answer.count);
	if (answer.domains[0].waiting != 1)
		fail_msg("%s", text);
	count = answer.domains[0].left_short;
	store_reader_free(&reader);
	arena_free(&arena);
	script_free(&script);
	world_end(&world);
	return count;
}

static void
who_waited_is_counted_and_who_passed_through_is_not(void **state)
{
	static const struct {
		const char *text;
		uint64_t left;
	} rows[] = {
	    {WAITS "M a AAAAA1 u1\nD a AAAAA1 u1=250\n", 0},
	    {WAITS "M a AAAAA1 u1\nD a AAAAA1 u1=550\n", 0},
	    {WAITS "M a AAAAA1 u1\nD a AAAAA1 u1=451\nD a AAAAA1 u1=250\n", 1},
	    {WAITS "M a AAAAA1 u1\nD a AAAAA1 u1=451\nD a AAAAA1 u1=/550\n", 1},
	    {WAITS "M a AAAAA1 u1\nS 100\nD a AAAAA1 u1=250\n", 1},
	    {WAITS "M a AAAAA1 u1 u2\nS 100\nD a AAAAA1 u1=250 u2=250\n", 2},
	    /* What comes again does not leave again. */
	    {WAITS
		"M a AAAAA1 u1\nS 100\nD a AAAAA1 u1=250\nD a AAAAA1 u1=250\n",
		1},
	    {WAITS "M a AAAAA1 u1\n" LINE("AAAAA1", "deferred")
		    LINE("AAAAA1", "bounced"),
		1},
	    {WAITS "M a AAAAA1 u1\n" LINE("AAAAA1", "sent"), 0},
	    {WAITS "M a AAAAA1 u1\n" LINE("AAAAA1", "deferred") LINE(
		 "AAAAA1", "expired") "L qmgr 9 AAAAA1: from=<s@example.net>, "
				      "status=expired, returned to sender\n",
		1},
	    {WAITS "M a AAAAA1 u1\n" LINE(
		 "AAAAA1", "deferred") "L postsuper 9 AAAAA1: removed\n",
		1},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, left(rows[i].text) == rows[i].left);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		who_waited_is_counted_and_who_passed_through_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

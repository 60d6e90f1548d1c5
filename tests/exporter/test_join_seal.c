/* SPDX-License-Identifier: BSD-2-Clause */
/* What is open in a day that leaves the window becomes unknown, once, and the
 * balance closes for ever (I5). */
#include "tests/exporter/join_dump.h"
#include "tests/lib/store_disk.h"

#include <sys/wait.h>

#define UNKNOWN "recipient_outcomes_total{outcome=\"unknown\"}"
#define DELIVERED "recipient_outcomes_total{outcome=\"delivered\"}"
#define TAKEN_BACK "outcome_revisions_total{from=\"unknown\",to=\"delivered\"}"
#define NOON_NS (INT64_C(20787) * DAY_NS + 12 * 3600 * SECOND_NS)
/* The first day on which noon's is past. */
#define PAST_DAYS 7

static int64_t clock_now_ns;

static struct stamp
test_clock(void)
{
	return (struct stamp){
	    clock_now_ns, clock_now_ns - NOON_NS + 5000 * SECOND_NS};
}

static void
begin(struct world *world)
{
	clock_now_ns = NOON_NS;
	clock_set_source(test_clock);
	world_begin(world);
}

static void
end(struct world *world, struct script *script)
{
	world_end(world);
	script_free(script);
	clock_set_source(NULL);
}

static void
reopen(struct world *world)
{
	world_close(world);
	world_open(world);
}

/* What upkeep does, but for the sealing. Returns how many messages ended. */
static long
end_past(struct world *world, size_t limit)
{
	struct reason reason;
	long ended = join_seal(world->join, limit, &reason);

	if (ended < 0)
		fail_msg("%s", reason.text);
	return ended;
}

/* Waits for the disk. */
static void
seal_days(struct world *world)
{
	store_disk_wait(world->store);
	assert_true(store_seal(world->store));
}

static long
seal(struct world *world)
{
	long ended = end_past(world, 100);

	world_commit(world);
	seal_days(world);
	return ended;
}

static void
expect(struct world *world, const struct script *script, const char *name,
    unsigned long value)
{
	char *dump = world_dump(world, script);

	assert_balance(dump);
	if (dump_value(dump, name) != value)
		fail_msg("not %s %lu:\n%s", name, value, dump);
	free(dump);
}

static void
apply_all(struct world *world, const struct script *script, size_t from)
{
	for (size_t i = from; i < script->count; i++)
		if (!world_is_past(world, &script->steps[i]))
			world_apply(world, &script->steps[i]);
}

static void
what_outlives_the_queue_becomes_unknown_once(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(&script,
	    "M a Q1 u1 u2\nM b Q2 u3\nM c Q3 u4\nD a Q1 u1=250\nD c Q3 u4=250\n"
	    "D b Q2 u3=451\n");
	world_run(&world, &script);
	for (int day = 1; day < PAST_DAYS; day++) {
		clock_now_ns += DAY_NS;
		assert_int_equal(seal(&world), 0);
	}
	expect(&world, &script, "open", 2);
	clock_now_ns += DAY_NS;
	assert_true(store_has_past(world.store));
	expect(&world, &script, "open", 2);
	assert_int_equal(seal(&world), 2);
	for (int restart = 0; restart < 3; restart++) {
		assert_int_equal(seal(&world), 0);
		assert_false(store_has_past(world.store));
		expect(&world, &script, UNKNOWN, 2);
		expect(&world, &script, DELIVERED, 2);
		expect(&world, &script, "open", 0);
		clock_now_ns += restart * DAY_NS;
		reopen(&world);
	}
	end(&world, &script);
}

/* A day is sealed when nothing of it is left, however many batches it takes. */
static void
more_than_a_batch_takes_several(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(&script, "M a Q1 u1\nM b Q2 u2\nM c Q3 u3\n");
	world_run(&world, &script);
	clock_now_ns += PAST_DAYS * DAY_NS;
	for (int batch = 0; batch < 3; batch++) {
		assert_true(store_has_past(world.store));
		assert_int_equal(end_past(&world, 1), 1);
		world_commit(&world);
		seal_days(&world);
	}
	assert_false(store_has_past(world.store));
	expect(&world, &script, UNKNOWN, 3);
	end(&world, &script);
}

/* What was said while the exporter was down is read before the day is sealed.
 */
static void
nothing_is_unknown_that_a_journal_still_tells(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(
	    &script, "M a Q1 u1\nM b Q2 u2\nD a Q1 u1=250\nD - Q2 u2=250\n");
	for (size_t i = 0; i < 2; i++)
		world_apply(&world, &script.steps[i]);
	world_commit(&world);
	world_close(&world);
	clock_now_ns += (PAST_DAYS + 3) * DAY_NS;
	world_open(&world);
	assert_true(store_has_past(world.store));
	apply_all(&world, &script, 2);
	assert_int_equal(seal(&world), 0);
	expect(&world, &script, DELIVERED, 2);
	expect(&world, &script, UNKNOWN, 0);
	end(&world, &script);
}

/* A delivery that still waits keeps its file from being sealed. */
static void
a_waiting_delivery_is_waited_for(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(&script, "D ? Q1 u1=250\n");
	world_run(&world, &script);
	clock_now_ns += PAST_DAYS * DAY_NS;
	seal(&world);
	assert_true(store_has_past(world.store));
	world_expire(&world);
	seal(&world);
	assert_false(store_has_past(world.store));
	expect(&world, &script, "waiting", 0);
	expect(&world, &script, "forged_stamps_total", 1);
	end(&world, &script);
}

enum step_of_sealing { BEGUN, ENDED, COMMITTED, SEALED, STEPS_OF_SEALING };

/* Killed behind a step: nothing is closed. */
static void
seal_and_die(struct world *world, enum step_of_sealing last)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		world_open(world);
		if (last >= ENDED)
			end_past(world, 100);
		if (last >= COMMITTED)
			world_commit(world);
		if (last >= SEALED)
			seal_days(world);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
killed_while_sealing_it_counts_once(void **state)
{
	for (int last = BEGUN; last < STEPS_OF_SEALING; last++) {
		struct world world;
		struct script script;

		begin(&world);
		script_read(&script, "M a Q1 u1 u2\nM b Q2 u3\n");
		world_run(&world, &script);
		world_close(&world);
		clock_now_ns += PAST_DAYS * DAY_NS;
		for (int kills = 0; kills < 2; kills++)
			seal_and_die(&world, last);
		world_open(&world);
		assert_int_equal(store_has_past(world.store), last < COMMITTED);
		assert_int_equal(seal(&world), last < COMMITTED ? 2 : 0);
		expect(&world, &script, UNKNOWN, 3);
		expect(&world, &script, "open", 0);
		end(&world, &script);
	}
}

static void
forget_bounds(const struct world *world)
{
	static const char *const names[] = {
	    "control.db", "control.db-wal", "control.db-shm"};
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(
		    path, sizeof(path), "%s/%s", world->directory, names[i]);
		unlink(path);
	}
}

/* Case 49: the evidence is late, but it is evidence. */
static void
late_evidence_is_taken_once(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(&script, "M a Q1 u1 u2\nD a Q1 u1=250\nA a\n");
	world_apply(&world, &script.steps[0]);
	world_commit(&world);
	clock_now_ns += PAST_DAYS * DAY_NS;
	assert_int_equal(seal(&world), 1);
	apply_all(&world, &script, 1);
	world_commit(&world);
	expect(&world, &script, TAKEN_BACK, 1);
	expect(&world, &script, "recipient_outcomes_total{outcome=\"deleted\"}",
	    1);
	/* Killed before the bounds were written, all is read again. */
	world_close(&world);
	forget_bounds(&world);
	world_open(&world);
	apply_all(&world, &script, 0);
	seal(&world);
	assert_false(store_has_past(world.store));
	expect(&world, &script, TAKEN_BACK, 1);
	expect(&world, &script, "delivery_attempts_total{result=\"delivered\"}",
	    1);
	expect(&world, &script, "recipient_outcomes_total{outcome=\"deleted\"}",
	    1);
	end(&world, &script);
}

#define FILE_BYTES_MAX (1 << 20)

static bool
file_has(const char *path, const char *text)
{
	static char content[FILE_BYTES_MAX];
	FILE *file = fopen(path, "r");
	size_t size;

	if (file == NULL)
		return false;
	size = fread(content, 1, sizeof(content), file);
	fclose(file);
	assert_true(size < sizeof(content));
	return memmem(content, size, text, strlen(text)) != NULL;
}

static bool
store_has(const struct world *world, const char *text)
{
	char path[PATH_MAX + 32];
	bool has = false;

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/day-20261130.db%s",
		    world->directory, i > 0 ? "-wal" : "");
		has = has || file_has(path, text);
	}
	return has;
}

/* privacy = domain: recipients are told apart only as long as they must be. */
static void
short_pseudonyms_end_with_the_day(void **state)
{
	struct world world;
	struct script script;

	begin(&world);
	script_read(&script, "M a Q1 *abcdefgh *ijklmnop u1\n"
			     "D a Q1 *abcdefgh=250 *ijklmnop=550 u1=250\n");
	world_run(&world, &script);
	assert_true(store_has(&world, "*abcdefgh"));
	clock_now_ns += PAST_DAYS * DAY_NS;
	seal(&world);
	assert_false(store_has_past(world.store));
	assert_false(store_has(&world, "abcdefgh"));
	assert_false(store_has(&world, "ijklmnop"));
	assert_true(store_has(&world, "u1"));
	expect(&world, &script, DELIVERED, 2);
	end(&world, &script);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_outlives_the_queue_becomes_unknown_once),
	    cmocka_unit_test(more_than_a_batch_takes_several),
	    cmocka_unit_test(nothing_is_unknown_that_a_journal_still_tells),
	    cmocka_unit_test(a_waiting_delivery_is_waited_for),
	    cmocka_unit_test(killed_while_sealing_it_counts_once),
	    cmocka_unit_test(late_evidence_is_taken_once),
	    cmocka_unit_test(short_pseudonyms_end_with_the_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

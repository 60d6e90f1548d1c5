/* SPDX-License-Identifier: BSD-2-Clause */
/* The join, read in any turns, again, and killed: always the same end. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/exporter/join_dump.h"

#define MESSAGES 80

/* Small, and the same everywhere. */
static uint32_t
random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % limit;
}

static char
label_of(unsigned number)
{
	return (char)('!' + 1 + number);
}

static void
append_delivery(struct buffer *text, unsigned number, const char *stamp,
    const char *results)
{
	if (*stamp == '=')
		buffer_append_format(
		    text, "D %c Q%u %s\n", label_of(number), number, results);
	else
		buffer_append_format(
		    text, "D %s Q%u %s\n", stamp, number, results);
}

/* Messages of three days, each followed by what becomes of it. Without
 * `stamped_only` some deliveries can only be joined by queue id. */
static void
append_message(struct buffer *text, unsigned number, bool stamped_only)
{
	const char *stamp = stamped_only || number % 5 != 0 ? "=" : "-";

	buffer_append_format(text, "M~%u %c Q%u a b c !d\n", number % 3,
	    label_of(number), number);
	switch (number % 6) {
	case 0:
		append_delivery(text, number, stamp, "a=250 b=250 c=250");
		break;
	case 1:
		append_delivery(text, number, stamp, "a=250 b=451 c=550");
		append_delivery(text, number, stamp, "b=250");
		break;
	case 2:
		append_delivery(text, number, stamp, "a=250 a=250 x=250");
		append_delivery(text, number, stamp, "a=250 b=");
		break;
	case 3:
		buffer_append_format(text,
		    "D+ %c Q%u a=250\n+D %c Q%u a=250 b=250\n",
		    label_of(number), number, label_of(number), number);
		break;
	case 4:
		append_delivery(text, number, stamp, "a=550");
		append_delivery(text, number, stamp, "a=250");
		buffer_append_string(text, "H\nM!4 z Z1 !n\n");
		break;
	default:
		append_delivery(text, number, "?", "a=250");
		break;
	}
}

static void
script_make(struct script *script, bool stamped_only)
{
	struct buffer text = {.data = NULL};

	for (unsigned i = 0; i < MESSAGES; i++)
		append_message(&text, i, stamped_only);
	buffer_append(&text, "", 1);
	script_read(script, (const char *)text.data);
	buffer_free(&text);
}

/* The next step of either journal that reading would come to. */
static const struct step *
next_step(const struct world *world, const struct script *script, int journal)
{
	for (size_t i = 0; i < script->count; i++)
		if (script->steps[i].journal == journal &&
		    !world_is_past(world, &script->steps[i]))
			return &script->steps[i];
	return NULL;
}

static char *
dump_in_order(const struct script *script)
{
	struct world world;
	char *dump;

	world_begin(&world);
	world_run(&world, script);
	dump = world_dump(&world, script);
	world_end(&world);
	return dump;
}

/* Applies everything, each journal in its own order, in random turns. Returns
 * false when it "crashed" before. */
static bool
run_in_turns(struct world *world, const struct script *script, uint32_t *seed,
    uint32_t crash_chance)
{
	const struct step *next;

	for (;;) {
		int journal = (int)random_below(seed, MAILLOG);

		next = next_step(world, script, journal);
		if (next == NULL)
			next = next_step(world, script, !journal);
		if (next == NULL)
			return true;
		world_apply(world, next);
		if (random_below(seed, 20) == 0)
			world_commit(world);
		if (crash_chance > 0 && random_below(seed, crash_chance) == 0)
			return false;
	}
}

static void
journals_may_be_read_in_any_turns(void **state)
{
	static struct script script;
	char *wanted, *got;

	script_make(&script, true);
	wanted = dump_in_order(&script);
	for (uint32_t round = 0; round < 10; round++) {
		struct world world;
		uint32_t seed = round;

		world_begin(&world);
		assert_true(run_in_turns(&world, &script, &seed, 0));
		world_commit(&world);
		got = world_dump(&world, &script);
		assert_balance(got);
		assert_string_equal(got, wanted);
		free(got);
		world_end(&world);
	}
	free(wanted);
	script_free(&script);
}

static void
what_was_not_committed_is_read_again(void **state)
{
	static struct script script;
	char *wanted, *got;

	script_make(&script, true);
	wanted = dump_in_order(&script);
	for (uint32_t round = 0; round < 5; round++) {
		struct world world;
		uint32_t seed = round;

		world_begin(&world);
		while (!run_in_turns(&world, &script, &seed, 60)) {
			store_rollback(world.store);
			world_close(&world);
			world_open(&world);
		}
		world_commit(&world);
		got = world_dump(&world, &script);
		assert_string_equal(got, wanted);
		free(got);
		world_end(&world);
	}
	free(wanted);
	script_free(&script);
}

/* A child that commits after every few events, each time other ones. */
static pid_t
start_child(struct world *world, const struct script *script, uint32_t seed)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	world_open(world);
	for (size_t i = 0; i < script->count; i++) {
		if (world_is_past(world, &script->steps[i]))
			continue;
		world_apply(world, &script->steps[i]);
		if (random_below(&seed, 9) == 0)
			world_commit(world);
	}
	world_commit(world);
	_exit(0);
}

/* I2, I3: three files a commit, so most kills lie between two of them. */
static void
killed_between_any_two_commits_nothing_counts_twice(void **state)
{
	static struct script script;
	uint32_t seed = 1, kills = 0;
	struct world world;
	char *wanted, *got;
	int status = -1;

	script_make(&script, false);
	wanted = dump_in_order(&script);
	world_begin(&world);
	world_close(&world);
	while (status != 0) {
		pid_t child = start_child(&world, &script, kills);

		usleep(2000 + random_below(&seed, 15000));
		if (kills < 200)
			kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		kills += status != 0;
		if (status != 0)
			assert_true(WIFSIGNALED(status));
	}
	print_message("# killed %u times\n", kills);
	world_open(&world);
	got = world_dump(&world, &script);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
	world_end(&world);
	script_free(&script);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(journals_may_be_read_in_any_turns),
	    cmocka_unit_test(what_was_not_committed_is_read_again),
	    cmocka_unit_test(
		killed_between_any_two_commits_nothing_counts_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

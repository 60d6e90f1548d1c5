/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The join under events that make no sense: few ids, queue ids and addresses in
 * every combination. The balance closes and memory agrees with the store.
 */
#include "tests/exporter/join_dump.h"

#define SCRIPTS 60
#define LINES 60

static uint32_t random_state;

static unsigned
random_below(unsigned limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static const char *
one_of(const char *const *words, unsigned count)
{
	return words[random_below(count)];
}

#define ONE_OF(words) one_of(words, COUNT(words))

static const char *const queue_ids[] = {"Q1", "Q2", "Q3", "-"};
static const char *const addresses[] = {
    "a", "b", "A", "a@EXAMPLE.test", "list", "@", "a@"};
static const char *const replies[] = {
    "=250", "=250", "=250", "=451", "=550", "=/550", "=/451", "=", "=999"};

static void
append_message(struct buffer *text)
{
	static const char *const verbs[] = {"M", "M", "M", "M~1", "M~2",
	    "M~400", "M!3", "M!5", "M!7", "M!0", "M^2"};

	buffer_append_format(text, "%s %c %s", ONE_OF(verbs),
	    (int)('k' + random_below(6)), ONE_OF(queue_ids));
	for (unsigned i = random_below(4); i > 0; i--)
		buffer_append_format(text, " %s%s",
		    random_below(5) == 0 ? "!" : "", ONE_OF(addresses));
	buffer_append_string(text, "\n");
}

static void
append_delivery(struct buffer *text)
{
	static const char *const verbs[] = {"D", "D", "D+", "+D"};
	static const char *const stamps[] = {
	    "k", "l", "m", "n", "o", "p", "k", "l", "-", "?"};

	buffer_append_format(
	    text, "%s %s %s", ONE_OF(verbs), ONE_OF(stamps), ONE_OF(queue_ids));
	for (unsigned i = random_below(4); i > 0; i--)
		buffer_append_format(
		    text, " %s%s", ONE_OF(addresses), ONE_OF(replies));
	buffer_append_string(text, "\n");
}

static void
script_make(struct script *script)
{
	struct buffer text = {.data = NULL};

	for (char label = 'k'; label <= 'p'; label++)
		buffer_append_format(
		    &text, "M %c %s a b\n", label, ONE_OF(queue_ids));
	for (unsigned i = 0; i < LINES; i++) {
		if (random_below(20) == 0)
			buffer_append_string(&text, "X\n");
		else if (random_below(4) == 0)
			append_message(&text);
		else
			append_delivery(&text);
	}
	buffer_append(&text, "", 1);
	script_read(script, (const char *)text.data);
	buffer_free(&text);
}

/* Commits now and then, restarts now and then. */
static void
run(struct world *world, const struct script *script)
{
	for (size_t i = 0; i < script->count; i++) {
		world_apply(world, &script->steps[i]);
		if (random_below(6) == 0)
			world_commit(world);
		if (random_below(20) == 0) {
			world_commit(world);
			world_close(world);
			world_open(world);
		}
	}
	world_commit(world);
}

/* The same again from the beginning, as if nothing were known. */
static void
run_again(struct world *world, const struct script *script)
{
	for (size_t i = 0; i < script->count; i++)
		if (script->steps[i].event.type != EVENT_NONE)
			world_apply(world, &script->steps[i]);
	world_commit(world);
}

static void
whatever_comes_the_balance_closes(void **state)
{
	static struct script script;

	for (uint32_t number = 0; number < SCRIPTS; number++) {
		struct world world;
		char *once, *twice;

		random_state = number;
		script_make(&script);
		world_begin(&world);
		run(&world, &script);
		once = world_dump(&world, &script);
		assert_balance(once);
		run_again(&world, &script);
		twice = world_dump(&world, &script);
		assert_string_equal(once, twice);
		free(twice);
		free(once);
		world_end(&world);
		script_free(&script);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whatever_comes_the_balance_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

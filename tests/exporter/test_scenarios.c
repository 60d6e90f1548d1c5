/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mail of every kind, recorded on a real Postfix, read in any interleaving of
 * its sources, with lags, crashes and from any earlier position: the end is the
 * same, and on the way nothing is impossible (I2, I3, I5; cases 41 and 49).
 *
 * POSTLAG_LONG=1 makes many shuffles a scenario, POSTLAG_SHUFFLES=N so many,
 * from number POSTLAG_SHUFFLE=N on; POSTLAG_SCENARIO=PART takes only those
 * whose names have it. POSTLAG_GOLDEN=1 writes the ends anew.
 */
#include <dirent.h>
#include <errno.h>

#include "tests/exporter/scenario_pair.h"

#define SCENARIOS "tests/exporter/scenarios"
#define GOLDEN "tests/exporter/scenarios.golden"
#define SHUFFLES 3
#define SHUFFLES_LONG 340
#define PAIR_SHUFFLES 1
#define PAIR_SHUFFLES_LONG 50
#define SCENARIOS_MIN 200

static int
is_scenario(const struct dirent *entry)
{
	const char *part = getenv("POSTLAG_SCENARIO");

	return strstr(entry->d_name, ".scenario") != NULL &&
	       (part == NULL || strstr(entry->d_name, part) != NULL);
}

static unsigned
number_of(const char *variable, unsigned otherwise)
{
	const char *value = getenv(variable);

	return value != NULL ? (unsigned)atoi(value) : otherwise;
}

/* Called with each scenario there is. */
static size_t
each_scenario(
    void (*each)(void *context, struct scenario *scenario), void *context)
{
	struct dirent **entries;
	int count = scandir(SCENARIOS, &entries, is_scenario, alphasort);

	assert_true(count > 0);
	clock_set_source(scenario_clock);
	for (int i = 0; i < count; i++) {
		struct scenario scenario;

		scenario_load(&scenario, SCENARIOS, entries[i]->d_name);
		each(context, &scenario);
		scenario_free(&scenario);
		free(entries[i]);
	}
	free(entries);
	clock_set_source(NULL);
	return (size_t)count;
}

static void
tell_end(void *context, struct scenario *scenario)
{
	struct world world;
	char *rows;

	read_by_the_exporter(scenario, &world);
	rows = scenario_rows(&world, scenario);
	buffer_append_format(context, "%s\n%s", scenario->name, rows);
	free(rows);
	world_end(&world);
}

static char *
read_golden(void)
{
	FILE *file = fopen(GOLDEN, "re");
	char *text = NULL;
	size_t size = 0;

	if (file == NULL || getdelim(&text, &size, '\0', file) < 0)
		fail_msg("%s: %s", GOLDEN, strerror(errno));
	fclose(file);
	return text;
}

static void
write_golden(const struct buffer *ends)
{
	FILE *file = fopen(GOLDEN, "we");

	assert_non_null(file);
	fwrite(ends->data, 1, ends->size, file);
	fclose(file);
}

/* Fails naming the first line that differs. */
static void
assert_same_ends(const char *got, const char *wanted)
{
	size_t line = 0;

	for (size_t i = 0; got[i] == wanted[i]; i++) {
		if (got[i] == '\0')
			return;
		if (got[i] == '\n')
			line = i + 1;
	}
	fail_msg("got: %.*s\nnot: %.*s", (int)strcspn(got + line, "\n"),
	    got + line, (int)strcspn(wanted + line, "\n"), wanted + line);
}

static void
each_scenario_ends_as_it_should(void **state)
{
	struct buffer ends = {.data = NULL};
	char *wanted;

	each_scenario(tell_end, &ends);
	if (getenv("POSTLAG_GOLDEN") != NULL)
		write_golden(&ends);
	buffer_append(&ends, "", 1);
	wanted = read_golden();
	if (getenv("POSTLAG_SCENARIO") == NULL)
		assert_same_ends((const char *)ends.data, wanted);
	free(wanted);
	buffer_free(&ends);
}

/* What was shuffled. */
struct shuffles {
	unsigned first, count;
	unsigned long done, failed;
	struct shuffle_figures figures;
};

static struct shuffles
shuffles_of(unsigned count, unsigned count_long)
{
	return (struct shuffles){
	    .first = number_of("POSTLAG_SHUFFLE", 0),
	    .count = number_of("POSTLAG_SHUFFLES",
		getenv("POSTLAG_LONG") != NULL ? count_long : count),
	};
}

/* Whose world it is that all shuffles must come to. */
static void
shuffle_to(struct shuffles *shuffles, struct scenario *scenario,
    const struct expectation *expected)
{
	for (unsigned i = 0; i < shuffles->count; i++) {
		shuffles->failed += !shuffle_once(scenario, expected,
		    shuffles->first + i, &shuffles->figures);
		shuffles->done++;
	}
}

static void
tell_shuffles(const struct shuffles *shuffles, size_t scenarios)
{
	print_message("# %zu scenarios, %lu shuffles, %lu records, %lu commits,"
		      " %lu crashes, %lu failed\n",
	    scenarios, shuffles->done, shuffles->figures.applied,
	    shuffles->figures.commits, shuffles->figures.crashes,
	    shuffles->failed);
}

static void
shuffle_scenario(void *context, struct scenario *scenario)
{
	struct world world;
	struct expectation expected;

	read_by_the_exporter(scenario, &world);
	expected_of(&expected, &world, scenario);
	world_end(&world);
	shuffle_to(context, scenario, &expected);
	free(expected.dump);
}

static void
however_it_is_read_the_end_is_the_same(void **state)
{
	struct shuffles shuffles = shuffles_of(SHUFFLES, SHUFFLES_LONG);
	size_t scenarios = each_scenario(shuffle_scenario, &shuffles);

	tell_shuffles(&shuffles, scenarios);
	assert_int_equal(shuffles.failed, 0);
	if (getenv("POSTLAG_SCENARIO") == NULL)
		assert_true(scenarios >= SCENARIOS_MIN);
}

/* A scenario kept in order to be paired. */
struct kept {
	struct scenario scenario;
	char *rows; /* of itself alone */
	bool is_over;
};

struct all_kept {
	struct kept *items;
	size_t count;
};

static void
keep_scenario(void *context, struct scenario *scenario)
{
	struct all_kept *all = context;
	struct world world;
	struct kept *kept;
	char *dump;

	all->items =
	    realloc(all->items, (all->count + 1) * sizeof(*all->items));
	kept = &all->items[all->count++];
	read_by_the_exporter(scenario, &world);
	dump = scenario_dump(&world, scenario);
	kept->rows = scenario_rows(&world, scenario);
	kept->is_over = dump_value(dump, "open") == 0;
	free(dump);
	world_end(&world);
	kept->scenario = *scenario;
	scenario->arena = NULL;
}

static int
compare_clocks(const void *left, const void *right)
{
	int64_t before = ((const struct kept *)left)->scenario.clock_ns;
	int64_t behind = ((const struct kept *)right)->scenario.clock_ns;

	return (before > behind) - (before < behind);
}

/* Returns whether each is what it was alone, however they are read. */
static bool
shuffle_pair(struct shuffles *shuffles, const struct kept *first,
    const struct kept *second)
{
	struct scenario pair;
	struct expectation expected;
	struct world world;
	const char *reused;
	char *rows;
	bool well;

	scenario_pair(&pair, &first->scenario, &second->scenario);
	reused = reuse_in_text(
	    &first->scenario, &second->scenario, second->rows, pair.arena);
	read_in_order(&pair, &world);
	expected_of(&expected, &world, &pair);
	rows = scenario_rows(&world, &pair);
	world_end(&world);
	well = !misses_line(rows, first->rows) && !misses_line(rows, reused);
	if (!well)
		printf("# %s: not what it was alone\n", pair.name);
	/* What waits for its turn must be of the same time. */
	expected.is_causal = true;
	expected.lag_ns = REUSE_GAP_NS;
	shuffle_to(shuffles, &pair, &expected);
	free(rows);
	free(expected.dump);
	arena_free(&pair.arena);
	return well;
}

/* The next scenario that may have the first one's queue ids again. */
static const struct kept *
next_in_time(const struct all_kept *all, size_t first)
{
	for (size_t i = first + 1; i < all->count; i++)
		if (may_be_paired(
			&all->items[first].scenario, &all->items[i].scenario))
			return &all->items[i];
	return NULL;
}

/* Case 41. */
static void
queue_ids_that_are_used_again_tell_two_messages(void **state)
{
	struct shuffles shuffles =
	    shuffles_of(PAIR_SHUFFLES, PAIR_SHUFFLES_LONG);
	struct all_kept all = {.count = 0};
	size_t pairs = 0;

	each_scenario(keep_scenario, &all);
	clock_set_source(scenario_clock);
	qsort(all.items, all.count, sizeof(*all.items), compare_clocks);
	for (size_t i = 0; i < all.count; i++) {
		const struct kept *next =
		    all.items[i].is_over ? next_in_time(&all, i) : NULL;

		if (next == NULL)
			continue;
		pairs++;
		shuffles.failed +=
		    !shuffle_pair(&shuffles, &all.items[i], next);
	}
	clock_set_source(NULL);
	tell_shuffles(&shuffles, pairs);
	for (size_t i = 0; i < all.count; i++) {
		arena_free(&all.items[i].scenario.arena);
		free(all.items[i].rows);
	}
	free(all.items);
	assert_int_equal(shuffles.failed, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_scenario_ends_as_it_should),
	    cmocka_unit_test(however_it_is_read_the_end_is_the_same),
	    cmocka_unit_test(queue_ids_that_are_used_again_tell_two_messages),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Two scenarios one after the other, of which the second has the queue ids of
 * the first again: each is what it was alone, however they are read (case 41).
 */
#include "tests/exporter/scenario_pair.h"
#include "tests/exporter/scenario_set.h"

#define SHUFFLES 1
#define SHUFFLES_LONG 50

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

static void
queue_ids_that_are_used_again_tell_two_messages(void **state)
{
	struct shuffles shuffles = shuffles_of(SHUFFLES, SHUFFLES_LONG);
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
	    cmocka_unit_test(queue_ids_that_are_used_again_tell_two_messages),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

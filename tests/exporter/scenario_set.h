/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_set: each scenario there is, and how often it is shuffled.
 *
 * POSTLAG_LONG=1 makes many shuffles a scenario, POSTLAG_SHUFFLES=N so many,
 * from number POSTLAG_SHUFFLE=N on; POSTLAG_SCENARIO=PART takes only those
 * whose names have it.
 */
#ifndef TESTS_EXPORTER_SCENARIO_SET_H
#define TESTS_EXPORTER_SCENARIO_SET_H

#include <dirent.h>
#include <errno.h>

#include "tests/exporter/scenario_shuffle.h"

#define SCENARIOS "tests/exporter/scenarios"

static inline int
is_scenario(const struct dirent *entry)
{
	const char *part = getenv("POSTLAG_SCENARIO");

	return strstr(entry->d_name, ".scenario") != NULL &&
	       (part == NULL || strstr(entry->d_name, part) != NULL);
}

static inline unsigned
number_of(const char *variable, unsigned otherwise)
{
	const char *value = getenv(variable);

	return value != NULL ? (unsigned)atoi(value) : otherwise;
}

/* Called with each scenario there is. */
static inline size_t
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

/* What was shuffled. */
struct shuffles {
	unsigned first, count;
	unsigned long done, failed;
	struct shuffle_figures figures;
};

static inline struct shuffles
shuffles_of(unsigned count, unsigned count_long)
{
	return (struct shuffles){
	    .first = number_of("POSTLAG_SHUFFLE", 0),
	    .count = number_of("POSTLAG_SHUFFLES",
		getenv("POSTLAG_LONG") != NULL ? count_long : count),
	};
}

/* Whose world it is that all shuffles must come to. */
static inline void
shuffle_to(struct shuffles *shuffles, struct scenario *scenario,
    const struct expectation *expected)
{
	for (unsigned i = 0; i < shuffles->count; i++) {
		shuffles->failed += !shuffle_once(scenario, expected,
		    shuffles->first + i, &shuffles->figures);
		shuffles->done++;
	}
}

static inline void
tell_shuffles(const struct shuffles *shuffles, size_t scenarios)
{
	print_message("# %zu scenarios, %lu shuffles, %lu records, %lu commits,"
		      " %lu crashes, %lu failed\n",
	    scenarios, shuffles->done, shuffles->figures.applied,
	    shuffles->figures.commits, shuffles->figures.crashes,
	    shuffles->failed);
}

#endif

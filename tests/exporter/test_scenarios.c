/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mail of every kind, recorded on a real Postfix, read in any interleaving of
 * its sources, with lags, crashes and from any earlier position: the end is the
 * same, and on the way nothing is impossible (I2, I3, I5; cases 41 and 49).
 *
 * POSTLAG_LONG=1 makes many shuffles a scenario, POSTLAG_SHUFFLES=N so many,
 * from number POSTLAG_SHUFFLE=N on; POSTLAG_SCENARIO=PART takes only those
 * whose names have it. POSTLAG_UNRESTRICTED=1 lets sources run ahead of each
 * other, crashes and reads again. POSTLAG_GOLDEN=1 writes the ends anew.
 */
#include <dirent.h>
#include <errno.h>

#include "tests/exporter/scenario_shuffle.h"

#define SCENARIOS "tests/exporter/scenarios"
#define GOLDEN "tests/exporter/scenarios.golden"
#define SHUFFLES 3
#define SHUFFLES_LONG 340
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

static void
shuffle_scenario(void *context, struct scenario *scenario)
{
	struct shuffles *shuffles = context;
	struct world world;
	struct expectation expected;

	read_by_the_exporter(scenario, &world);
	expected_of(&expected, &world, scenario);
	world_end(&world);
	for (unsigned i = 0; i < shuffles->count; i++) {
		shuffles->failed += !shuffle_once(scenario, &expected,
		    shuffles->first + i, &shuffles->figures);
		shuffles->done++;
	}
	free(expected.dump);
}

static void
however_it_is_read_the_end_is_the_same(void **state)
{
	struct shuffles shuffles = {
	    .first = number_of("POSTLAG_SHUFFLE", 0),
	    .count = number_of("POSTLAG_SHUFFLES",
		getenv("POSTLAG_LONG") != NULL ? SHUFFLES_LONG : SHUFFLES),
	};
	size_t scenarios = each_scenario(shuffle_scenario, &shuffles);

	print_message("# %zu scenarios, %lu shuffles, %lu records, %lu commits,"
		      " %lu crashes, %lu failed\n",
	    scenarios, shuffles.done, shuffles.figures.applied,
	    shuffles.figures.commits, shuffles.figures.crashes,
	    shuffles.failed);
	assert_int_equal(shuffles.failed, 0);
	if (getenv("POSTLAG_SCENARIO") == NULL)
		assert_true(scenarios >= SCENARIOS_MIN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_scenario_ends_as_it_should),
	    cmocka_unit_test(however_it_is_read_the_end_is_the_same),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

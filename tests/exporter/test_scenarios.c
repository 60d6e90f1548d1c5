/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mail of every kind, recorded on a real Postfix, read in any interleaving of
 * its sources, with lags, crashes and from any earlier position: the end is the
 * same, and on the way nothing is impossible (I2, I3, I5; case 49).
 * POSTLAG_GOLDEN=1 writes the ends anew.
 */
#include "tests/exporter/scenario_set.h"

#define GOLDEN "tests/exporter/scenarios.golden"
#define SHUFFLES 3
#define SHUFFLES_LONG 340
#define SCENARIOS_MIN 200

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

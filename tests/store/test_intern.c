/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings are kept once a file, whatever bytes they hold, and a rolled back
 * number is not remembered. */
#include "store/intern.h"

#include "store/database.h"
#include "store/schema.h"
#include "tests/store/store_fixture.h"

struct file {
	struct database *database;
	struct intern *intern;
	struct arena *arena;
};

static int
setup(void **state)
{
	struct file *file = calloc(1, sizeof(*file));
	enum database_failure failure;

	file->database = database_open(":memory:", DATABASE_WRITE, day_sql,
	    DAY_STATEMENTS, &failure, NULL);
	if (file->database == NULL ||
	    schema_create(file->database, SCHEMA_DAY) != 0)
		return -1;
	file->intern = intern_new(file->database);
	file->arena = arena_new(1 << 24);
	*state = file;
	return 0;
}

static int
teardown(void **state)
{
	struct file *file = *state;

	intern_free(&file->intern);
	database_close(&file->database);
	arena_free(&file->arena);
	free(file);
	return 0;
}

static const char *const strings[] = {"", "a", "A", "jo@example.com",
    "jo@Example.com", "@", "a@", "@b", "a@b@c", "caf\xe9@\xff", "caf\xc3\xa9",
    "\xff"};

static void
each_string_has_its_number_and_comes_back(void **state)
{
	struct file *file = *state;

	for (int kind = 0; kind < INTERN_KINDS; kind++) {
		int64_t numbers[COUNT(strings)];

		for (size_t i = 0; i < COUNT(strings); i++) {
			numbers[i] = intern_string(
			    file->intern, (enum intern_kind)kind, strings[i]);
			assert_row(i, numbers[i] > 0);
			for (size_t j = 0; j < i; j++)
				assert_row(i, numbers[i] != numbers[j]);
		}
		intern_forget(file->intern);
		for (size_t i = 0; i < COUNT(strings); i++) {
			assert_row(i,
			    intern_string(file->intern, (enum intern_kind)kind,
				strings[i]) == numbers[i]);
			assert_row_string(i,
			    intern_read(file->intern, (enum intern_kind)kind,
				numbers[i], file->arena),
			    strings[i]);
		}
	}
	assert_int_equal(intern_string(file->intern, INTERN_TEXT, NULL), 0);
	assert_null(intern_read(file->intern, INTERN_TEXT, 0, file->arena));
	assert_int_equal(database_check(file->database, NULL), 0);
}

static void
must_have_numbers(struct file *file, int end, int step)
{
	char text[32];

	for (int i = 0; i < end; i += step) {
		snprintf(text, sizeof(text), "host%d", i);
		assert_int_equal(
		    intern_string(file->intern, INTERN_HOST, text), i + 1);
	}
}

static void
more_strings_than_are_remembered_keep_their_numbers(void **state)
{
	enum { MANY = 40000 };
	struct file *file = *state;

	database_begin_write(file->database);
	must_have_numbers(file, MANY, 1);
	must_have_numbers(file, MANY, 7);
	intern_forget(file->intern);
	must_have_numbers(file, MANY, 1);
	must_have_numbers(file, MANY + 1000, 1);
	assert_int_equal(database_commit(file->database), 0);
}

static void
what_is_rolled_back_gets_a_number_again(void **state)
{
	struct file *file = *state;
	static const uint8_t boot_id[CLOCK_BOOT_ID_BYTES] = {7};
	const struct stamp seen = {1000, 10};
	int64_t first, origin;

	database_begin_write(file->database);
	first = intern_string(file->intern, INTERN_TEXT, "one");
	intern_origin(file->intern, "mx", boot_id, &seen);
	database_rollback(file->database);
	intern_forget(file->intern);
	assert_int_equal(
	    intern_string(file->intern, INTERN_TEXT, "two"), first);
	origin = intern_origin(file->intern, "mx", boot_id, &seen)->number;
	intern_forget(file->intern);
	assert_int_equal(
	    intern_origin(file->intern, "mx", boot_id, &seen)->number, origin);
	assert_int_equal(intern_origin_boot(file->intern, origin), 990);
	assert_int_not_equal(
	    intern_origin(file->intern, "mx2", boot_id, &seen)->number, origin);
}

static void
an_unknown_number_is_damage(void **state)
{
	struct file *file = *state;

	assert_null(intern_read(file->intern, INTERN_HOST, 5, file->arena));
	assert_int_equal(database_failure(file->database), DATABASE_DAMAGED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(each_string_has_its_number_and_comes_back),
	    TEST(more_strings_than_are_remembered_keep_their_numbers),
	    TEST(what_is_rolled_back_gets_a_number_again),
	    TEST(an_unknown_number_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one lifetime, bounded. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "tests/lib/unit.h"

static void
memory_is_zeroed_and_aligned_also_after_reuse(void **state)
{
	static const unsigned char zeros[100];
	struct arena *arena = arena_new(100000);

	for (int round = 0; round < 3; round++) {
		for (size_t size = 0; size <= 100; size++) {
			unsigned char *data = arena_alloc(arena, size);

			assert_non_null(data);
			assert_int_equal(
			    (uintptr_t)data % alignof(max_align_t), 0);
			assert_memory_equal(data, zeros, size);
			memset(data, 0xaa, size);
		}
		arena_reset(arena);
	}
	arena_free(&arena);
	assert_null(arena);
}

static void
allocations_do_not_overlap(void **state)
{
	struct arena *arena = arena_new(1000000);
	unsigned char *parts[500];

	for (int i = 0; i < 500; i++) {
		parts[i] = arena_alloc(arena, (size_t)i);
		memset(parts[i], i % 251, (size_t)i);
	}
	for (int i = 0; i < 500; i++) {
		for (int j = 0; j < i; j++)
			assert_int_equal(parts[i][j], i % 251);
	}
	assert_false(arena_failed(arena));
	arena_free(&arena);
}

static void
beyond_the_limit_there_is_nothing_and_the_arena_has_failed(void **state)
{
	struct arena *arena = arena_new(10000);
	size_t total = 0;

	while (arena_alloc(arena, 64) != NULL)
		total += 64;
	assert_true(arena_failed(arena));
	assert_in_range(total, 9900, 10000);
	arena_reset(arena);
	assert_false(arena_failed(arena));
	assert_null(arena_alloc(arena, 10001));
	assert_true(arena_failed(arena));
	arena_reset(arena);
	assert_null(arena_alloc(arena, SIZE_MAX));
	assert_true(arena_failed(arena));
	arena_free(&arena);
}

static void
small_limits_hold_too(void **state)
{
	struct arena *arena = arena_new(16);

	assert_non_null(arena_alloc(arena, 16));
	assert_null(arena_alloc(arena, 1));
	arena_free(&arena);
	arena = arena_new(0);
	assert_null(arena_alloc(arena, 0));
	assert_true(arena_failed(arena));
	arena_free(&arena);
}

static void
the_limit_can_be_used_again_and_again(void **state)
{
	struct arena *arena = arena_new(50000);

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 400; i++)
			assert_non_null(arena_alloc(arena, 64));
		arena_reset(arena);
	}
	arena_free(&arena);
}

struct item {
	int number;
	char padding[9];
};

static void
arrays_grow_and_keep_what_they_hold(void **state)
{
	struct arena *arena = arena_new(1000000);
	struct item *items = NULL;
	size_t count = 0;

	for (int i = 0; i < 1000; i++) {
		struct item *item =
		    arena_append(arena, &items, &count, sizeof(*items));

		assert_non_null(item);
		assert_int_equal(item->number, 0);
		assert_ptr_equal(item, &items[i]);
		item->number = i;
		/* Something else in between must not be overwritten. */
		assert_non_null(arena_string(arena, "between"));
	}
	assert_int_equal(count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].number, i);
	arena_free(&arena);
}

static void
an_array_that_cannot_grow_stays_whole(void **state)
{
	struct arena *arena = arena_new(1000);
	struct item *items = NULL;
	size_t count = 0;

	while (arena_append(arena, &items, &count, sizeof(*items)) != NULL)
		items[count - 1].number = (int)count;
	assert_true(arena_failed(arena));
	assert_in_range(count, 4, 1000 / sizeof(*items));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[i].number, i + 1);
	count = 4;
	assert_null(arena_append(arena, &items, &count, SIZE_MAX / 2));
	assert_int_equal(count, 4);
	arena_free(&arena);
}

static void
strings_are_copied(void **state)
{
	struct arena *arena = arena_new(1000);
	char text[] = "text";
	char *copy = arena_string(arena, text);

	text[0] = 'x';
	assert_string_equal(copy, "text");
	assert_null(arena_string(arena, NULL));
	assert_null(arena_string_sized(arena, NULL, 5));
	assert_false(arena_failed(arena));
	assert_string_equal(arena_string_sized(arena, "abcd", 2), "ab");
	assert_string_equal(arena_string_sized(arena, "", 0), "");
	assert_string_equal(
	    arena_string_sized(arena, "\0a\0\0b\0", 6), "?a??b?");
	assert_null(arena_string_sized(arena, "x", SIZE_MAX));
	assert_true(arena_failed(arena));
	arena_free(&arena);
}

static void
no_arena_is_one_that_has_failed(void **state)
{
	struct arena *none = NULL;
	int *items = NULL;
	size_t count = 0;

	assert_null(arena_alloc(none, 1));
	assert_null(arena_string(none, "text"));
	assert_null(arena_append(none, &items, &count, sizeof(*items)));
	assert_true(arena_failed(none));
	arena_reset(none);
	arena_free(&none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_is_zeroed_and_aligned_also_after_reuse),
	    cmocka_unit_test(allocations_do_not_overlap),
	    cmocka_unit_test(
		beyond_the_limit_there_is_nothing_and_the_arena_has_failed),
	    cmocka_unit_test(small_limits_hold_too),
	    cmocka_unit_test(the_limit_can_be_used_again_and_again),
	    cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
	    cmocka_unit_test(an_array_that_cannot_grow_stays_whole),
	    cmocka_unit_test(strings_are_copied),
	    cmocka_unit_test(no_arena_is_one_that_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Version 7 UUIDs. */
#include "base/uuid.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/unit.h"

#define NOW_NS (1796024862 * CLOCK_NS_PER_SECOND + 123456789)
#define MANY 20000

static void
an_id_carries_its_time_version_and_variant(void **state)
{
	struct uuid uuid = uuid_new(NOW_NS);

	assert_true(uuid_is_set(&uuid));
	assert_int_equal(uuid_wall_ns(&uuid), NOW_NS / 1000000 * 1000000);
	assert_int_equal(uuid.bytes[6] >> 4, 7);
	assert_int_equal(uuid.bytes[8] >> 6, 2);
}

static void
times_out_of_range_take_the_nearest(void **state)
{
	struct uuid uuid = uuid_new(-5);

	assert_int_equal(uuid_wall_ns(&uuid), 0);
	uuid = uuid_new(INT64_MAX);
	assert_int_equal(uuid_wall_ns(&uuid), INT64_MAX / 1000000 * 1000000);
	memset(uuid.bytes, 0xff, sizeof(uuid.bytes));
	assert_int_equal(uuid_wall_ns(&uuid), INT64_MAX);
}

static void
later_ids_sort_behind_earlier_ones(void **state)
{
	struct uuid first = uuid_new(NOW_NS);
	struct uuid second = uuid_new(NOW_NS + 1000000);

	assert_true(memcmp(first.bytes, second.bytes, UUID_BYTES) < 0);
}

static void
text_and_back_in_either_case(void **state)
{
	char text[UUID_TEXT_SIZE], upper[UUID_TEXT_SIZE];
	struct uuid uuid = uuid_new(NOW_NS), back;

	uuid_format(&uuid, text);
	assert_int_equal(strlen(text), 36);
	assert_int_equal(uuid_parse(text, 36, &back), 0);
	assert_true(uuid_equal(&uuid, &back));
	for (size_t i = 0; i < sizeof(text); i++)
		upper[i] =
		    text[i] >= 'a' ? (char)(text[i] - 'a' + 'A') : text[i];
	assert_int_equal(uuid_parse(upper, 36, &back), 0);
	assert_true(uuid_equal(&uuid, &back));
}

static void
the_example_of_rfc_9562_appendix_a_6_is_read(void **state)
{
	const char *text = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F";
	char back[UUID_TEXT_SIZE];
	struct uuid uuid;

	assert_int_equal(uuid_parse(text, strlen(text), &uuid), 0);
	assert_int_equal(
	    uuid_wall_ns(&uuid), INT64_C(0x017F22E279B0) * 1000000);
	uuid_format(&uuid, back);
	assert_string_equal(back, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void
anything_else_is_not_an_id(void **state)
{
	static const char *const rows[] = {
	    "",
	    "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
	    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
	    "017f22e279b07cc398c4dc0c0c07398f",
	    "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
	    "017f22e2-79b0-7cc3-08c4-dc0c0c07398f",
	    "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
	    "017f22e2 79b0-7cc3-98c4-dc0c0c07398f",
	    "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
	    "g17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
	    "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
	    "00000000-0000-0000-0000-000000000000",
	};
	struct uuid uuid = {{0}};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(
		    i, uuid_parse(rows[i], strlen(rows[i]), &uuid) == -1);
	assert_false(uuid_is_set(&uuid));
}

static int
compare(const void *left, const void *right)
{
	return memcmp(left, right, UUID_BYTES);
}

static void
assert_distinct(struct uuid *uuids, size_t count)
{
	qsort(uuids, count, sizeof(*uuids), compare);
	for (size_t i = 1; i < count; i++)
		assert_false(uuid_equal(&uuids[i - 1], &uuids[i]));
}

static void *
make_many(void *uuids)
{
	for (int i = 0; i < MANY; i++)
		((struct uuid *)uuids)[i] = uuid_new(NOW_NS);
	return NULL;
}

static void
threads_never_share_an_id(void **state)
{
	static struct uuid uuids[4 * MANY];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many,
				     uuids + i * MANY),
		    0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_distinct(uuids, COUNT(uuids));
}

static void
a_forked_child_does_not_repeat_its_parents_ids(void **state)
{
	struct uuid uuids[2];
	int ends[2], status;
	pid_t child;

	uuid_new(NOW_NS);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct uuid uuid = uuid_new(NOW_NS);

		_exit(write(ends[1], &uuid, sizeof(uuid)) != sizeof(uuid));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], &uuids[0], UUID_BYTES), UUID_BYTES);
	uuids[1] = uuid_new(NOW_NS);
	assert_distinct(uuids, 2);
	close(ends[0]);
	close(ends[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_id_carries_its_time_version_and_variant),
	    cmocka_unit_test(times_out_of_range_take_the_nearest),
	    cmocka_unit_test(later_ids_sort_behind_earlier_ones),
	    cmocka_unit_test(text_and_back_in_either_case),
	    cmocka_unit_test(the_example_of_rfc_9562_appendix_a_6_is_read),
	    cmocka_unit_test(anything_else_is_not_an_id),
	    cmocka_unit_test(threads_never_share_an_id),
	    cmocka_unit_test(a_forked_child_does_not_repeat_its_parents_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

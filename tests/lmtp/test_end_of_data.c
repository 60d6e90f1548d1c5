/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of content, whatever it looks like and however it is cut. */
#include "lmtp/end_of_data.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

/* The size of the content in bytes fed `step` at a time; 0: no end. */
static size_t
find(const char *bytes, size_t size, size_t step)
{
	struct end_of_data state;
	size_t at = 0;
	bool found = false;

	end_of_data_begin(&state);
	while (at < size && !found) {
		size_t piece = size - at < step ? size - at : step;

		at += end_of_data_scan(&state, bytes + at, piece, &found);
	}
	return found ? at : 0;
}

/* What a byte by byte reading of RFC 5321 says. */
static size_t
find_slowly(const char *bytes, size_t size)
{
	if (size >= 3 && memcmp(bytes, ".\r\n", 3) == 0)
		return 3;
	for (size_t i = 5; i <= size; i++)
		if (memcmp(bytes + i - 5, "\r\n.\r\n", 5) == 0)
			return i;
	return 0;
}

static void
only_crlf_dot_crlf_ends_content(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} rows[] = {{".\r\n", 3}, {"a\r\n.\r\n", 6}, {"a\r\n.\r\nQUIT\r\n", 6},
	    {"\r\n.\r\n", 5}, {"a\n.\n", 0}, {"a\r\n.\n", 0}, {"a\n.\r\n", 0},
	    {"a\r.\r", 0}, {"a\r\n..\r\n", 0}, {"a\r\n.\rb\r\n.\r\n", 11},
	    {"a\r\n.\r\r\n.\r\n", 10}, {"\r\r\n.\r\n", 6}, {"..\r\n.\r\n", 7},
	    {"a.\r\n.\r\n", 7}, {"\r\n.\r", 0}, {".", 0}, {"x.\r\n", 0},
	    {"\r\n\r\n.\r\n.\r\n", 7}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *bytes = rows[i].bytes;
		size_t size = strlen(bytes);

		for (size_t step = 1; step <= size; step++)
			assert_row(i, find(bytes, size, step) == rows[i].size);
	}
}

static void
random_bytes_of_the_terminator_agree_with_a_slow_search(void **state)
{
	static const char alphabet[] = "\r\n.\r\n.a";
	char bytes[60];

	srandom(1);
	for (size_t round = 0; round < 20000; round++) {
		size_t size = (size_t)random() % sizeof(bytes) + 1;
		size_t step = (size_t)random() % size + 1;

		for (size_t i = 0; i < size; i++)
			bytes[i] = alphabet[random() % 7];
		assert_row(
		    round, find(bytes, size, step) == find_slowly(bytes, size));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_crlf_dot_crlf_ends_content),
	    cmocka_unit_test(
		random_bytes_of_the_terminator_agree_with_a_slow_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies are split into what comes back often and what does not, and joined
 * again exactly. */
#include "store/reply_words.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/packed.h"
#include "tests/lib/unit.h"

#define JO "jo@example.com"

static const struct {
	const char *text, *sentence;
} rows[] = {
    {"", ""},
    {"OK", "OK"},
    {"<" JO "> KqcXBmR/4mgh Saved", "\2 \1 Saved"},
    {"<jim@example.com> Saved", "\1 Saved"},
    {"<" JO ">: Saved", "\1 Saved"},
    {" two  spaces and 1\nline\n", " two  spaces and \1\nline\n"},
    {"abcdefghijklmno", "abcdefghijklmno"},
    {"abcdefghijklmnop", "\1"},
    {"User unknown\xff\xfe", "User unknown\xff\xfe"},
    {"queued as 4F1A2B3C", "queued as \1"},
};

static void
each_row_is_split_as_it_says_and_joined_again(void **state)
{
	struct arena *arena = arena_new(1 << 16);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer sentence = {0}, words = {0};
		struct packed_reader reader = {0};

		reply_words_split(rows[i].text, JO, &sentence, &words);
		buffer_append(&sentence, "", 1);
		assert_row_string(i, (char *)sentence.data, rows[i].sentence);
		reader.data = words.data;
		reader.size = words.size;
		assert_row_string(i,
		    reply_words_join((char *)sentence.data, JO, &reader, arena),
		    rows[i].text);
		assert_row(i, reader.size == 0);
		buffer_free(&sentence);
		buffer_free(&words);
	}
	arena_free(&arena);
}

static void
without_an_address_nothing_is_taken_for_it(void **state)
{
	struct buffer sentence = {0}, words = {0};

	reply_words_split("<> is <0>", NULL, &sentence, &words);
	buffer_append(&sentence, "", 1);
	assert_string_equal((char *)sentence.data, "<> is \1");
	buffer_clear(&sentence);
	reply_words_split("<> is <0>", "", &sentence, &words);
	buffer_append(&sentence, "", 1);
	assert_string_equal((char *)sentence.data, "\2 is \1");
	buffer_free(&sentence);
	buffer_free(&words);
}

static void
missing_words_fail(void **state)
{
	struct arena *arena = arena_new(1 << 16);
	struct packed_reader reader = {0};

	assert_null(reply_words_join("\1 Saved", JO, &reader, arena));
	assert_true(reader.failed);
	arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_row_is_split_as_it_says_and_joined_again),
	    cmocka_unit_test(without_an_address_nothing_is_taken_for_it),
	    cmocka_unit_test(missing_words_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

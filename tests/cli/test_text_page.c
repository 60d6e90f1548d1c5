/* SPDX-License-Identifier: BSD-2-Clause */
/* What reaches the terminal, and where lines are broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "cli/text_page.h"

static struct buffer out;

static struct text_page
page_of(unsigned width, bool utf8)
{
	buffer_clear(&out);
	return (struct text_page){{.width = width, .utf8 = utf8}, &out, 0};
}

static void
assert_out(const char *text)
{
	buffer_append(&out, "", 1);
	assert_string_equal((const char *)out.data, text);
}

static void
control_characters_do_not_reach_the_terminal(void **state)
{
	struct text_page page = page_of(80, true);

	page_text(&page, "a\x1b[31m\x07\x7f\xc2\x9b"
			 "b\tc\nd\r");
	assert_out("a?[31m????b c d ");
	assert_int_equal(page.column, 16);
}

static void
characters_that_turn_the_direction_do_not(void **state)
{
	struct text_page page = page_of(80, true);

	page_text(&page, "\xe2\x80\xae \xe2\x80\x8f \xe2\x81\xa6 \xe2\x82\xac");
	assert_out("? ? ? \xe2\x82\xac");
}

static void
without_utf8_every_character_beyond_ascii_is_one_mark(void **state)
{
	struct text_page page = page_of(80, false);

	page_text(&page, "j\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x98\x80 \xff");
	assert_out("j?rgen ? ? ?");
	assert_int_equal(page_columns("j\xc3\xbcrgen"), 6);
}

static void
words_are_broken_at_the_width_and_long_ones_kept_whole(void **state)
{
	struct text_page page = page_of(12, true);

	page_text(&page, "x:");
	page_pad(&page, 3);
	page_wrapped(&page, "one two three a-very-long-word  end");
	assert_out("x: one two\n   three\n   a-very-long-word\n   end");
}

static void
right_alignment_gives_way_to_long_text(void **state)
{
	struct text_page page = page_of(80, true);

	page_text(&page, "ab");
	page_right(&page, "cd", 8);
	page_right(&page, "longer", 9);
	assert_out("ab    cd longer");
}

struct bar_case {
	double begin, end;
	const char *ascii;
	const char *utf8;
};

/* Ten cells for a whole from 0 to 100. */
static void
a_bar_lies_where_its_time_was(void **state)
{
	static const struct bar_case cases[] = {
	    {0, 100, "##########",
		"\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
		"\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"},
	    {20, 40, "  ##", "  \xe2\x96\x88\xe2\x96\x88"},
	    {20, 25, "  #", "  \xe2\x96\x8c"},
	    {20, 20, "  |", "  \xe2\x96\x8f"},
	    {100, 100, "         #", "         \xe2\x96\x88"},
	    {-50, 10, "#", "\xe2\x96\x88"},
	    {95, 900, "         #", "         \xe2\x96\x88"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct page_bar bar = {cases[i].begin, cases[i].end, 0, 100};
		struct text_page page = page_of(10, false);

		page_bar(&page, &bar);
		assert_out(cases[i].ascii);
		page = page_of(10, true);
		page_bar(&page, &bar);
		assert_out(cases[i].utf8);
	}
}

static void
a_whole_without_length_has_bars_all_the_same(void **state)
{
	struct page_bar bar = {5, 5, 5, 5};
	struct text_page page = page_of(10, false);

	page_bar(&page, &bar);
	assert_out("|");
}

static int
free_out(void **state)
{
	buffer_free(&out);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(control_characters_do_not_reach_the_terminal),
	    cmocka_unit_test(characters_that_turn_the_direction_do_not),
	    cmocka_unit_test(
		without_utf8_every_character_beyond_ascii_is_one_mark),
	    cmocka_unit_test(
		words_are_broken_at_the_width_and_long_ones_kept_whole),
	    cmocka_unit_test(right_alignment_gives_way_to_long_text),
	    cmocka_unit_test(a_bar_lies_where_its_time_was),
	    cmocka_unit_test(a_whole_without_length_has_bars_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, free_out);
}

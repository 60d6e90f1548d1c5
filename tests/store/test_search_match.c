/* SPDX-License-Identifier: BSD-2-Clause */
/* What the words of a search mean. */
#include "store/search_match.h"

#include "tests/lib/unit.h"

struct row {
	const char *word, *text;
	bool is;
};

static void
check(search_word_test *test, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_row(i, test(rows[i].word, rows[i].text) == rows[i].is);
}

static void
a_star_is_any_text_and_case_does_not_matter(void **state)
{
	static const struct row rows[] = {
	    {"abc", "ABC", true},
	    {"abc", "abcd", false},
	    {"*", "", true},
	    {"*", "abc", true},
	    {"a*", "abc", true},
	    {"*c", "abc", true},
	    {"*b*", "abc", true},
	    {"a*c", "abcbc", true},
	    {"a*b", "abcbc", false},
	    {"**", "x", true},
	    {"a*b*c", "a1b2b3c", true},
	    {"", "", true},
	    {"", "a", false},
	    {"a", NULL, false},
	    {"*aaaa*aaaa*aaaa*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
	};

	check(search_word_is, rows, COUNT(rows));
}

static void
an_address_is_found_by_its_domain_or_name(void **state)
{
	static const struct row rows[] = {
	    {"alice@example.test", "Alice@Example.test", true},
	    {"example.test", "alice@example.test", true},
	    {"@example.test", "alice@example.test", true},
	    {"*@example.test", "alice@example.test", true},
	    {"alice@*", "alice@example.test", true},
	    {"*lic*", "alice@example.test", true},
	    {"alice", "alice@example.test", true},
	    {"localhost", "alice@localhost", true},
	    {"lic", "alice@example.test", false},
	    {"ample.test", "alice@example.test", false},
	    {"example.test", "alice@mail.example.test", false},
	    /* With a dot it is a domain. */
	    {"first.last", "first.last@example.test", false},
	    {"first.last@*", "first.last@example.test", true},
	    {"<>", "<>", true},
	    {"root", "root", true},
	    {"@root", "root", false},
	};

	check(search_word_is_address, rows, COUNT(rows));
}

static void
a_bare_word_is_any_part_of_an_address(void **state)
{
	static const struct row rows[] = {
	    {"lic", "Alice@example.test", true},
	    {"ce@ex", "alice@example.test", true},
	    {"lic*", "alice@example.test", false},
	    {"alice*", "alice@example.test", true},
	    {"bob", "alice@example.test", false},
	    {"a", NULL, false},
	};

	check(search_word_is_in_address, rows, COUNT(rows));
}

static void
a_relay_is_found_by_name_or_address(void **state)
{
	static const struct row rows[] = {
	    {"mx.example.test[192.0.2.1]:25", "mx.example.test[192.0.2.1]:25",
		true},
	    {"mx.example.test", "mx.example.test[192.0.2.1]:25", true},
	    {"192.0.2.1", "mx.example.test[192.0.2.1]:25", true},
	    {"*.example.test", "mx.example.test[192.0.2.1]:25", true},
	    {"example.test", "mx.example.test[192.0.2.1]:25", false},
	    {"none", "none", true},
	    {"local", "none", false},
	    {"x", NULL, false},
	};

	check(search_word_is_host, rows, COUNT(rows));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_star_is_any_text_and_case_does_not_matter),
	    cmocka_unit_test(an_address_is_found_by_its_domain_or_name),
	    cmocka_unit_test(a_bare_word_is_any_part_of_an_address),
	    cmocka_unit_test(a_relay_is_found_by_name_or_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

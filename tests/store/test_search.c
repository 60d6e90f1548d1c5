/* SPDX-License-Identifier: BSD-2-Clause */
/* What searches people type, how they are read, and what is said of those that
 * cannot be. */
#include "store/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "store/record.h"
#include "store/search_time.h"
#include "tests/lib/unit.h"

/* 2026-11-30T12:00:00Z */
#define NOW_NS ((INT64_C(20787) * 24 + 12) * 3600 * CLOCK_NS_PER_SECOND)

static void
append_states(struct buffer *out, uint32_t states)
{
	for (unsigned i = 0; i < RECIPIENT_STATES; i++)
		if (states >> i & 1)
			buffer_append_format(out, "|%s",
			    recipient_state_name((enum recipient_state)i));
}

static void
append_term(struct buffer *out, const struct search_term *term)
{
	buffer_append_format(out, "%s%s=", term->is_negated ? "-" : "",
	    search_key_name(term->key));
	append_states(out, term->states);
	for (size_t i = 0; i < term->word_count; i++)
		buffer_append_format(out, "|%s", term->words[i]);
	if (term->key == SEARCH_SLOWER || term->key == SEARCH_FASTER)
		buffer_append_format(
		    out, "%lld ms", (long long)(term->ns / 1000000));
	if (term->key == SEARCH_SINCE || term->key == SEARCH_UNTIL)
		buffer_append_format(out, "%+lld s",
		    (long long)((term->ns - NOW_NS) / CLOCK_NS_PER_SECOND));
	buffer_append_string(out, ";");
}

/* What was read of it, or "AT+SIZE: what is wrong". To be freed. */
static char *
read_search(const char *text)
{
	struct arena *arena = arena_new(1 << 20);
	struct buffer out = {0};
	struct search search;
	struct search_error error;

	if (search_parse(text, NOW_NS, arena, &search, &error) != 0)
		buffer_append_format(&out, "%zu+%zu: %s", error.at, error.size,
		    error.reason.text);
	for (size_t i = 0; i < search.term_count && error.size == 0; i++)
		append_term(&out, &search.terms[i]);
	buffer_append(&out, "", 1);
	arena_free(&arena);
	return (char *)out.data;
}

struct row {
	const char *text, *wanted;
};

static void
check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *got = read_search(rows[i].text);

		assert_row_string(i, got, rows[i].wanted);
		free(got);
	}
}

static void
a_search_is_terms_that_all_must_hold(void **state)
{
	static const struct row rows[] = {
	    {"", ""},
	    {" \t ", ""},
	    {"to:outlook.com status:deferred",
		"to=|outlook.com;status=|deferred;"},
	    {"TO:a@b.test  -from:c@d.test", "to=|a@b.test;-from=|c@d.test;"},
	    {"queue:4gXyz,4gAbc", "queue=|4gXyz|4gAbc;"},
	    {"alice", "=|alice;"},
	    {"-alice", "-=|alice;"},
	    {"!to:alice", "-to=|alice;"},
	    {"<1234@mail.test>", "=|<1234@mail.test>;"},
	    {"2001:db8::1", "=|2001:db8::1;"},
	    {"\"abcd::1\"", "=|abcd::1;"},
	    {"to:\"a, \\\"b\\\" \\\\c\"@d.test", "to=|a, \"b\" \\c@d.test;"},
	    {"status:failed", "status=|bounced|expired;"},
	    {"status:open,lost", "status=|in_flight|deferred|held|lost;"},
	    {"slower:1.5s faster:2m", "slower=1500 ms;faster=120000 ms;"},
	    {"since:2h until:today", "since=-7200 s;until=+43200 s;"},
	};

	check(rows, COUNT(rows));
}

static void
an_error_points_at_the_word(void **state)
{
	static const struct row rows[] = {
	    {"to:a form:b", "5+4: no key is called \"form\"; is it from?"},
	    {"statsu:lost", "0+6: no key is called \"statsu\"; is it status?"},
	    {"status:deffered",
		"7+8: no status is called \"deffered\"; is it deferred?"},
	    {"status:lost,bounce",
		"12+6: no status is called \"bounce\"; is it bounced?"},
	    {"a to: b", "2+3: to: lacks a value"},
	    {"to:a,", "0+5: to: lacks a value"},
	    {"to:\"a b", "3+4: a quote that is not closed"},
	    {"slower:fast",
		"7+4: \"fast\" is not a duration such as 500ms, 10s or 1h30m"},
	    {"slower:1s,2s", "10+2: slower: takes one value"},
	    {"since:noon",
		"6+4: \"noon\" is neither an age such as 2h nor a time such as "
		"today, 2026-11-30 or 2026-11-30T14:30"},
	    {"xyzzyx:1",
		"0+6: no key is called \"xyzzyx\"; there are to, from, status, "
		"queue, msgid, client, relay, host, run, slower, faster, since "
		"and until (a word with a colon needs quotes)"},
	};

	check(rows, COUNT(rows));
}

static void
too_much_is_refused(void **state)
{
	char text[SEARCH_TEXT_MAX + 2], *got;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	got = read_search(text);
	assert_string_equal(got, "1000+1: more than 1000 bytes");
	free(got);
	for (size_t i = 0; i < 200; i += 2)
		memcpy(text + i, "a ", 2);
	text[200] = '\0';
	got = read_search(text);
	assert_string_equal(got, "128+72: more than 64 terms");
	free(got);
}

static void
durations_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: none */
	} rows[] = {
	    {"0s", 0},
	    {"500ms", 500},
	    {"1.5s", 1500},
	    {"1,5s", 1500},
	    {"10sec", 10000},
	    {"2m", 120000},
	    {"2min", 120000},
	    {"1h30m", 5400000},
	    {"1d", 86400000},
	    {"2w", 1209600000},
	    {"0.001s", 1},
	    {"", -1},
	    {"5", -1},
	    {"s", -1},
	    {"5 s", -1},
	    {"5x", -1},
	    {"1.s", -1},
	    {"-5s", -1},
	    {"5sx", -1},
	    {"999999999999d", -1},
	    {"99999999999999999999s", -1},
	};
	int64_t ns;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int result = search_duration(rows[i].text, &ns);

		assert_row(i, (result == 0) == (rows[i].ms >= 0));
		assert_row(i, result != 0 || ns == rows[i].ms * 1000000);
	}
}

static void
moments_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text, *begin, *end; /* NULL: none */
	} rows[] = {
	    {"today", "2026-11-30T00:00:00.000000Z",
		"2026-12-01T00:00:00.000000Z"},
	    {"yesterday", "2026-11-29T00:00:00.000000Z",
		"2026-11-30T00:00:00.000000Z"},
	    {"2026-11-29", "2026-11-29T00:00:00.000000Z",
		"2026-11-30T00:00:00.000000Z"},
	    {"2026-12", "2026-12-01T00:00:00.000000Z",
		"2027-01-01T00:00:00.000000Z"},
	    {"2024-02-29", "2024-02-29T00:00:00.000000Z",
		"2024-03-01T00:00:00.000000Z"},
	    {"2026-11-29T14:30", "2026-11-29T14:30:00.000000Z",
		"2026-11-29T14:30:00.000000Z"},
	    {"2026-11-29 14:30:05.25", "2026-11-29T14:30:05.250000Z",
		"2026-11-29T14:30:05.250000Z"},
	    {"2026-11-29T14:30Z", "2026-11-29T14:30:00.000000Z",
		"2026-11-29T14:30:00.000000Z"},
	    {"2026-11-29T00:30+01:00", "2026-11-28T23:30:00.000000Z",
		"2026-11-28T23:30:00.000000Z"},
	    {"2026-11-29T23:30-0100", "2026-11-30T00:30:00.000000Z",
		"2026-11-30T00:30:00.000000Z"},
	    {"08:15", "2026-11-30T08:15:00.000000Z",
		"2026-11-30T08:15:00.000000Z"},
	    {"90m", "2026-11-30T10:30:00.000000Z",
		"2026-11-30T10:30:00.000000Z"},
	    {"2026-02-29", NULL, NULL},
	    {"2026-13-01", NULL, NULL},
	    {"2026-11-31", NULL, NULL},
	    {"2026-11-29T", NULL, NULL},
	    {"2026-11-29T25:00", NULL, NULL},
	    {"2026-11T10:00", NULL, NULL},
	    {"26-11-29", NULL, NULL},
	    {"14:3", NULL, NULL},
	    {"2026-11-29x", NULL, NULL},
	    {"", NULL, NULL},
	    {"1969-12-31", NULL, NULL},
	};
	char text[CLOCK_TEXT_SIZE];
	int64_t ns;

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int is_end = 0; is_end < 2; is_end++) {
			const char *wanted =
			    is_end ? rows[i].end : rows[i].begin;
			int result =
			    search_moment(rows[i].text, NOW_NS, is_end, &ns);

			assert_row(i, (result == 0) == (wanted != NULL));
			if (result != 0)
				continue;
			clock_format(ns, text);
			assert_row_string(i, text, wanted);
		}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_search_is_terms_that_all_must_hold),
	    cmocka_unit_test(an_error_points_at_the_word),
	    cmocka_unit_test(too_much_is_refused),
	    cmocka_unit_test(durations_are_read_as_people_write_them),
	    cmocka_unit_test(moments_are_read_as_people_write_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

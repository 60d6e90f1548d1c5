/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file: values, errors to the letter, printing. */
#include "base/config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/reason.h"
#include "tests/lib/unit.h"

#define MS (CLOCK_NS_PER_SECOND / 1000)

struct settings {
	char *listen;
	char *name;
	int64_t count;
	bool enabled;
	int64_t timeout_ns;
	int64_t limit_bytes;
	int colour;
};

struct store {
	char *path;
};

static struct settings settings;
static struct store store;

static const char *const colours[] = {"red", "green", "blue", NULL};

#define MEMBER(name) offsetof(struct settings, name)

static const struct config_item items[] = {
    {"listen", CONFIG_STRING, MEMBER(listen), "unix:/run/x", 0, 0, NULL,
	"Where to listen."},
    {"name", CONFIG_STRING, MEMBER(name), "", 0, 0, NULL, "A name."},
    {"count", CONFIG_INTEGER, MEMBER(count), "7", -2, 1000, NULL, "How many."},
    {"enabled", CONFIG_BOOLEAN, MEMBER(enabled), "yes", 0, 0, NULL, "Whether."},
    {"timeout", CONFIG_DURATION, MEMBER(timeout_ns), "90s", 10 * MS,
	CLOCK_NS_PER_DAY, NULL, "How long."},
    {"limit", CONFIG_SIZE, MEMBER(limit_bytes), "512M", 1024, INT64_MAX, NULL,
	"How much."},
    {"colour", CONFIG_CHOICE, MEMBER(colour), "green", 0, 0, colours, "Which."},
};

static const struct config_item store_items[] = {
    {"path", CONFIG_STRING, offsetof(struct store, path), "/var/lib/x", 0, 0,
	NULL, "Where it is."},
};

static const struct config_section sections[] = {
    {"milter", items, COUNT(items), &settings},
    {"store", store_items, COUNT(store_items), &store},
};

static int
parse(const char *text, struct reason *reason)
{
	return config_parse("FILE", text, sections, COUNT(sections), reason);
}

static int
free_settings(void **state)
{
	config_free(sections, COUNT(sections));
	assert_null(settings.listen);
	assert_null(store.path);
	return 0;
}

static char *
print(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_print(out, sections, COUNT(sections));
	fclose(out);
	return text;
}

static void
an_empty_file_gives_the_defaults(void **state)
{
	assert_int_equal(parse("", NULL), 0);
	assert_string_equal(settings.listen, "unix:/run/x");
	assert_string_equal(settings.name, "");
	assert_int_equal(settings.count, 7);
	assert_true(settings.enabled);
	assert_int_equal(settings.timeout_ns, 90 * CLOCK_NS_PER_SECOND);
	assert_int_equal(settings.limit_bytes, 512 * 1024 * 1024);
	assert_int_equal(settings.colour, 1);
	assert_string_equal(store.path, "/var/lib/x");
}

static void
each_type_is_read(void **state)
{
	assert_int_equal(parse("# comment\n"
			       "[milter]\n"
			       "; another\n"
			       "listen=inet:[::1]:24\n"
			       "name = two words;and#signs \n"
			       "\n"
			       "count = -2\n"
			       "enabled = no\n"
			       "timeout = 250ms\n"
			       "limit = 3K\n"
			       "colour = blue\n"
			       "[store]\n"
			       "path = /srv",
			     NULL),
	    0);
	assert_string_equal(settings.listen, "inet:[::1]:24");
	assert_string_equal(settings.name, "two words;and#signs");
	assert_int_equal(settings.count, -2);
	assert_false(settings.enabled);
	assert_int_equal(settings.timeout_ns, 250 * MS);
	assert_int_equal(settings.limit_bytes, 3072);
	assert_int_equal(settings.colour, 2);
	assert_string_equal(store.path, "/srv");
}

static void
durations_and_sizes_have_units(void **state)
{
	static const struct {
		const char *line;
		int64_t timeout_ns, limit_bytes;
	} rows[] = {
	    {"timeout = 10ms", 10 * MS, 512 << 20},
	    {"timeout = 2s", 2000 * MS, 512 << 20},
	    {"timeout = 3m", 180000 * MS, 512 << 20},
	    {"timeout = 4h", 14400000 * MS, 512 << 20},
	    {"timeout = 1d", CLOCK_NS_PER_DAY, 512 << 20},
	    {"limit = 1024", 90000 * MS, 1024},
	    {"limit = 2K", 90000 * MS, 2048},
	    {"limit = 3M", 90000 * MS, 3 << 20},
	    {"limit = 1000000G", 90000 * MS, INT64_C(1000000) << 30},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[100];

		snprintf(text, sizeof(text), "[milter]\n%s\n", rows[i].line);
		assert_row(i, parse(text, NULL) == 0);
		assert_row(i, settings.timeout_ns == rows[i].timeout_ns);
		assert_row(i, settings.limit_bytes == rows[i].limit_bytes);
	}
}

static void
reading_again_replaces_everything(void **state)
{
	assert_int_equal(parse("[milter]\nname = a\ncount = 1\n", NULL), 0);
	assert_int_equal(parse("[milter]\nlisten = b\n", NULL), 0);
	assert_string_equal(settings.name, "");
	assert_string_equal(settings.listen, "b");
	assert_int_equal(settings.count, 7);
}

static void
sections_of_other_programs_are_skipped(void **state)
{
	assert_int_equal(parse("[lmtp]\nname = a\nname = a\nwhatever = x\n"
			       "  [::1]:24\n"
			       "[exporter]\n[milter]\nname = b\n[lmtp]\nx = y\n"
			       "[milter]\ncount = 1\n",
			     NULL),
	    0);
	assert_string_equal(settings.name, "b");
	assert_int_equal(settings.count, 1);
}

static void
indented_lines_continue_a_value(void **state)
{
	assert_int_equal(parse("[milter]\n"
			       "  listen = first key may be indented\n"
			       "name = 192.0.2.0/24\n"
			       "  # a comment between\n"
			       "\n"
			       "\t[2001:db8::]/32\n"
			       "  a  b\n"
			       "count = 3\n",
			     NULL),
	    0);
	assert_string_equal(settings.listen, "first key may be indented");
	assert_string_equal(settings.name, "192.0.2.0/24 [2001:db8::]/32 a  b");
	assert_int_equal(settings.count, 3);
}

static void
files_of_other_systems_are_read(void **state)
{
	assert_int_equal(
	    parse(
		"\xef\xbb\xbf[milter]\r\nname = a\r\n\r\ncount = 1\r\n", NULL),
	    0);
	assert_string_equal(settings.name, "a");
	assert_int_equal(settings.count, 1);
}

static void
a_line_may_have_198_bytes_and_no_more(void **state)
{
	char text[300] = "[milter]\nname = ";
	size_t before = strlen(text);
	struct reason reason;

	memset(text + before, 'x', 191);
	assert_int_equal(parse(text, &reason), 0);
	assert_int_equal(strlen(settings.name), 191);
	strcat(text, "y\ncount = 1\n");
	assert_int_equal(parse(text, &reason), -1);
	assert_string_equal(reason.text,
	    "FILE:2: the line is longer than 198 bytes; indented lines "
	    "continue a value");
}

#define IN_MILTER(line) "[milter]\n" line "\n"

static void
each_error_names_file_line_and_key(void **state)
{
	static const struct {
		const char *text, *reason;
	} rows[] = {
	    {"\ncount = 1\n", "FILE:2: count stands before any [section]"},
	    {"[milter]\n\nlisen = x\n",
		"FILE:3: unknown option lisen in [milter]"},
	    {IN_MILTER("path = x"), "FILE:2: unknown option path in [milter]"},
	    {IN_MILTER("Count = 1"),
		"FILE:2: unknown option Count in [milter]"},
	    {IN_MILTER("= 1"), "FILE:2: unknown option  in [milter]"},
	    {"[lmtp]\nx = y\n[mitler]\n", "FILE:3: unknown section [mitler]"},
	    {"[Milter]\n", "FILE:1: unknown section [Milter]"},
	    {"[]\n", "FILE:1: unknown section []"},
	    {"[milter] count = 1\n",
		"FILE:1: text behind the name of a section"},
	    {"[milter\ncount = 1\n",
		"FILE:1: a section's name ends with a bracket"},
	    {IN_MILTER("count"), "FILE:2: neither [section] nor name = value"},
	    {"[lmtp]\nnonsense\n[milter]\ncount = x\n",
		"FILE:2: neither [section] nor name = value"},
	    {"[milter]\ncount = x\n[lmtp]\nnonsense\n",
		"FILE:2: count in [milter]: \"x\" is not a whole number"},
	    {IN_MILTER("count = 1\nname = a\ncount = 1"),
		"FILE:4: count in [milter] is already given in line 2"},
	    {"[milter]\ncount = 1\n[store]\n[milter]\ncount = 2\n",
		"FILE:5: count in [milter] is already given in line 2"},
	    {IN_MILTER("count ="),
		"FILE:2: count in [milter]: \"\" is not a whole number"},
	    {IN_MILTER("count = 1.5"),
		"FILE:2: count in [milter]: \"1.5\" is not a whole number"},
	    {IN_MILTER("count = 1K"),
		"FILE:2: count in [milter]: \"1K\" is not a whole number"},
	    {IN_MILTER("count = +1"),
		"FILE:2: count in [milter]: \"+1\" is not a whole number"},
	    {IN_MILTER("count = 0x10"),
		"FILE:2: count in [milter]: \"0x10\" is not a whole number"},
	    {IN_MILTER("count = 9999999999999999999"),
		"FILE:2: count in [milter]: \"9999999999999999999\" is not a "
		"whole number"},
	    {IN_MILTER("count = -3"),
		"FILE:2: count in [milter]: \"-3\" is below -2, which is the "
		"least"},
	    {IN_MILTER("count = 1001"),
		"FILE:2: count in [milter]: \"1001\" is above 1000, which is "
		"the most"},
	    {IN_MILTER("enabled = true"),
		"FILE:2: enabled in [milter]: \"true\" is not yes or no"},
	    {IN_MILTER("timeout = 10"),
		"FILE:2: timeout in [milter]: \"10\" is not a duration: 0, or "
		"a number with ms, s, m, h or d"},
	    {IN_MILTER("timeout = 10 s"),
		"FILE:2: timeout in [milter]: \"10 s\" is not a duration: 0, "
		"or a number with ms, s, m, h or d"},
	    {IN_MILTER("timeout = 10S"),
		"FILE:2: timeout in [milter]: \"10S\" is not a duration: 0, "
		"or a number with ms, s, m, h or d"},
	    {IN_MILTER("timeout = 0"),
		"FILE:2: timeout in [milter]: \"0\" is below 10ms, which is "
		"the least"},
	    {IN_MILTER("timeout = 25h"),
		"FILE:2: timeout in [milter]: \"25h\" is above 1d, which is "
		"the most"},
	    {IN_MILTER("timeout = 999999999999999999d"),
		"FILE:2: timeout in [milter]: \"999999999999999999d\" is not "
		"a duration: 0, or a number with ms, s, m, h or d"},
	    {IN_MILTER("limit = 1023"),
		"FILE:2: limit in [milter]: \"1023\" is below 1K, which is "
		"the least"},
	    {IN_MILTER("limit = 5T"),
		"FILE:2: limit in [milter]: \"5T\" is not a size: a number of "
		"bytes, or one with K, M or G"},
	    {IN_MILTER("colour = pink"),
		"FILE:2: colour in [milter]: \"pink\" is not red, green or "
		"blue"},
	    {IN_MILTER("name = a ; b"),
		"FILE:2: a comment stands on a line of its own"},
	    {IN_MILTER("name = a\t# b"),
		"FILE:2: a comment stands on a line of its own"},
	    {IN_MILTER("name = a\n  count = 1"),
		"FILE:3: count is indented, which continues the line before"},
	    {IN_MILTER("name = a\n  [store]"),
		"FILE:3: [store] is indented, which continues the line "
		"before"},
	    {IN_MILTER("count = 1\n  2"),
		"FILE:3: count in [milter] does not continue over lines"},
	    {IN_MILTER("name = a\x01"),
		"FILE:2: the line contains a control character"},
	    {"[store]\npath = a\rb\n",
		"FILE:2: the line contains a control character"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reason reason = {""};

		assert_row(i, parse(rows[i].text, &reason) == -1);
		assert_row_string(i, reason.text, rows[i].reason);
		assert_row(i, parse(rows[i].text, NULL) == -1);
	}
}

static void
write_file(char path[32], const void *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/config-XXXXXX");
	fd = mkstemp(path);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void
a_file_is_loaded(void **state)
{
	static const char text[] = "[milter]\nname = from file\n";
	char path[32];

	write_file(path, text, sizeof(text) - 1);
	assert_int_equal(config_load(path, sections, COUNT(sections), NULL), 0);
	assert_string_equal(settings.name, "from file");
	unlink(path);
}

static void
a_nul_byte_does_not_end_the_file(void **state)
{
	static const char text[] = "[milter]\nname = a\0\ncount = 1\n";
	struct reason reason;
	char path[32], wanted[100];

	write_file(path, text, sizeof(text) - 1);
	assert_int_equal(
	    config_load(path, sections, COUNT(sections), &reason), -1);
	snprintf(wanted, sizeof(wanted),
	    "%s:2: the line contains a control character", path);
	assert_string_equal(reason.text, wanted);
	unlink(path);
}

static void
a_file_that_cannot_be_read_is_named(void **state)
{
	struct reason reason;

	assert_int_equal(
	    config_load("/nonexistent/x", sections, COUNT(sections), &reason),
	    -1);
	assert_string_equal(
	    reason.text, "/nonexistent/x: No such file or directory");
	assert_int_equal(
	    config_load("/", sections, COUNT(sections), &reason), -1);
	assert_string_equal(reason.text, "/: Is a directory");
	assert_int_equal(
	    config_load("/dev/zero", sections, COUNT(sections), &reason), -1);
	assert_string_equal(
	    reason.text, "/dev/zero: larger than 1048576 bytes");
}

static void
a_bad_default_is_an_error_of_ours(void **state)
{
	struct config_item bad = items[2];
	struct config_section section = {"milter", &bad, 1, &settings};
	struct reason reason;

	bad.default_value = "1001";
	assert_int_equal(config_parse("FILE", "", &section, 1, &reason), -1);
	assert_string_equal(reason.text,
	    "default of count in [milter] is above 1000, which is the most");
}

static void
the_effective_values_are_printed_as_a_file(void **state)
{
	char *text;

	parse("[milter]\ntimeout = 120s\nlimit = 1536K\nenabled = no\n", NULL);
	text = print();
	assert_string_equal(text, "[milter]\n"
				  "listen = unix:/run/x\n"
				  "name =\n"
				  "count = 7\n"
				  "enabled = no\n"
				  "timeout = 2m\n"
				  "limit = 1536K\n"
				  "colour = green\n"
				  "\n"
				  "[store]\n"
				  "path = /var/lib/x\n");
	assert_int_equal(parse(text, NULL), 0);
	free(text);
}

static void
long_values_are_printed_over_lines_and_read_back(void **state)
{
	char list[2000] = "", *text;

	parse("", NULL);
	for (int i = 0; i < 100; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
		    "%s10.%d.0.0/16%s", i > 0 ? " " : "", i,
		    i % 7 == 0 ? "  =" : "");
	free(settings.name);
	settings.name = strdup(list);
	text = print();
	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL;
	     line = end + 1)
		assert_true(end - line <= 78);
	assert_int_equal(parse(text, NULL), 0);
	assert_string_equal(settings.name, list);
	free(text);
}

static void
the_reference_is_a_table(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_print_reference(out, &sections[0]);
	fclose(out);
	assert_string_equal(text,
	    "| `[milter]` | Default | Meaning |\n"
	    "|---|---|---|\n"
	    "| `listen` | `unix:/run/x` | Where to listen. |\n"
	    "| `name` | empty | A name. |\n"
	    "| `count` | `7` | How many. From -2 to 1000. |\n"
	    "| `enabled` | `yes` | Whether. |\n"
	    "| `timeout` | `90s` | How long. From 10ms to 1d. |\n"
	    "| `limit` | `512M` | How much. At least 1K. |\n"
	    "| `colour` | `green` | Which. One of red, green or blue. |\n");
	free(text);
}

#define test(name) cmocka_unit_test_teardown(name, free_settings)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    test(an_empty_file_gives_the_defaults),
	    test(each_type_is_read),
	    test(durations_and_sizes_have_units),
	    test(reading_again_replaces_everything),
	    test(sections_of_other_programs_are_skipped),
	    test(indented_lines_continue_a_value),
	    test(files_of_other_systems_are_read),
	    test(a_line_may_have_198_bytes_and_no_more),
	    test(each_error_names_file_line_and_key),
	    test(a_file_is_loaded),
	    test(a_nul_byte_does_not_end_the_file),
	    test(a_file_that_cannot_be_read_is_named),
	    test(a_bad_default_is_an_error_of_ours),
	    test(the_effective_values_are_printed_as_a_file),
	    test(long_values_are_printed_over_lines_and_read_back),
	    test(the_reference_is_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

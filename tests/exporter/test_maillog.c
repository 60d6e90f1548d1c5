/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is read from log lines, against tests/exporter/maillog/NAME.ref. With
 * UPDATE=1 in the environment the references are written anew; look at the
 * difference before you believe it.
 */
#include "exporter/maillog/maillog_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "tests/lib/unit.h"

/* 2026-12-01T00:00:00Z: the files were last written to. */
#define WRITTEN_NS (INT64_C(1796083200) * CLOCK_NS_PER_SECOND)

static void
path_of(const char *name, const char *ending, char *path_r, size_t size)
{
	snprintf(path_r, size, "tests/exporter/maillog/%s.%s", name, ending);
}

static struct buffer
read_file(const char *name, const char *ending)
{
	struct buffer content = {0};
	char path[256], piece[4096];
	size_t size;
	FILE *file;

	path_of(name, ending, path, sizeof(path));
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot read %s", path);
	while ((size = fread(piece, 1, sizeof(piece), file)) > 0)
		buffer_append(&content, piece, size);
	fclose(file);
	return content;
}

static void
dump_view(struct buffer *out, const char *name, struct maillog_view view)
{
	if (view.at == NULL)
		return;
	buffer_append_format(out, "  %s=", name);
	buffer_append(out, view.at, view.size);
	buffer_append_string(out, "\n");
}

static void
dump_line(struct buffer *out, const struct maillog_line *line,
    struct maillog_clock *clock)
{
	char time[CLOCK_TEXT_SIZE];

	clock_format(maillog_clock_resolve(clock, &line->time), time);
	buffer_append_format(
	    out, "  %s", line->time.month != 0 ? time : "no time");
	buffer_append_string(out, "\n");
	dump_view(out, "host", line->host);
	dump_view(out, "syslog_name", line->syslog_name);
	dump_view(out, "program", line->program);
	if (line->pid != 0)
		buffer_append_format(out, "  pid=%" PRId64 "\n", line->pid);
}

static void
dump_record(struct buffer *out, const struct maillog_record *record)
{
	buffer_append_format(out, "  %s of %s", maillog_kind_name(record->kind),
	    maillog_program_name(record->program));
	if (record->severity != MAILLOG_INFO)
		buffer_append_format(
		    out, ", a %s", maillog_severity_name(record->severity));
	if (record->action != MAILLOG_NO_ACTION)
		buffer_append_format(
		    out, ", to %s", maillog_action_name(record->action));
	if (record->status != MAILLOG_NO_STATUS)
		buffer_append_format(
		    out, ", %s", maillog_status_name(record->status));
	if (record->noqueue)
		buffer_append_string(out, ", not queued");
	if (record->is_cut)
		buffer_append_string(out, ", cut");
	if (record->repeats != 1)
		buffer_append_format(out, ", %u times", record->repeats);
	buffer_append_string(out, "\n");
	dump_view(out, "queue_id", record->queue_id);
	for (unsigned i = 0; i < MAILLOG_FIELDS; i++)
		if (record->fields[i].size > 0 || record->fields[i].at != NULL)
			dump_view(
			    out, maillog_field_name(i), record->fields[i]);
}

/* Each line lies in memory of exactly its size. */
static void
dump(struct buffer *out, const char *text, size_t size,
    struct maillog_clock *clock)
{
	struct maillog_line line;
	struct maillog_record record;
	char *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, text, size);
	maillog_line_parse(copy, size, &line);
	maillog_record_parse(&line, &record);
	buffer_append(out, text, size);
	buffer_append_string(out, "\n");
	dump_line(out, &line, clock);
	dump_record(out, &record);
	free(copy);
}

static void
write_reference(const char *name, const struct buffer *out)
{
	char path[256];
	FILE *file;

	path_of(name, "ref", path, sizeof(path));
	file = fopen(path, "wb");
	assert_non_null(file);
	fwrite(out->data, 1, out->size, file);
	fclose(file);
}

/* Fails naming the first line that differs. */
static void
compare(const char *name, const struct buffer *out, const struct buffer *wanted)
{
	size_t line = 1, at = 0;

	while (at < out->size && at < wanted->size &&
	       out->data[at] == wanted->data[at])
		line += out->data[at++] == '\n';
	if (at < out->size || at < wanted->size)
		fail_msg("%s.ref:%zu differs", name, line);
}

static void
check(const char *name)
{
	struct maillog_clock clock = {{0, WRITTEN_NS}, {0}, 0};
	struct buffer in = read_file(name, "in"), out = {0}, wanted;
	const char *at = (const char *)in.data;
	const char *end = at + in.size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		assert_non_null(newline);
		dump(&out, at, (size_t)(newline - at), &clock);
		at = newline + 1;
	}
	if (getenv("UPDATE") != NULL)
		write_reference(name, &out);
	wanted = read_file(name, "ref");
	compare(name, &out, &wanted);
	buffer_free(&in);
	buffer_free(&out);
	buffer_free(&wanted);
}

static void
real_lines_of_postfix(void **state)
{
	check("postfix");
}

/* Shapes that need another version, other daemons or bad luck. Cases 13, 22. */
static void
rarer_lines_of_postfix(void **state)
{
	check("rare");
}

/* What test_fates_*.py of tests/e2e provoked, a line of each kind. */
static void
real_lines_of_every_fate(void **state)
{
	check("fates");
}

/* Case 35. */
static void
real_lines_of_dovecot(void **state)
{
	check("dovecot");
}

/* Case 24. */
static void
every_form_of_time_and_tag(void **state)
{
	check("envelope");
}

static void
what_syslog_daemons_say_of_the_log(void **state)
{
	check("notices");
}

/* Case 21: what others wrote is text, whatever it looks like. */
static void
hostile_lines(void **state)
{
	check("hostile");
}

/* Case 12. */
static void
queue_ids_are_told_from_words(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} rows[] = {{"4F5E3A1C: x", 8}, {"0000F3: x", 6}, {"BC8D1", 0},
	    {"4jdKsF4QDCz1ckDB: x", 16}, {"4jdKsF4QDC1ckDB", 0},
	    {"3zzzzzzzzzzz", 12}, {"warning: x", 0}, {"statistics: max", 0},
	    {"NOQUEUE: reject", 0}, {"lost", 0}, {"FFFFFFFFFFFFFFFF", 16},
	    {"ABCDEFG", 0}, {"deadbeef: x", 0}, {"", 0}, {"4F5E3A1Cabc", 0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct maillog_view text = {
		    rows[i].text, strlen(rows[i].text)};

		assert_row(i, maillog_queue_id_size(text) == rows[i].size);
	}
}

static bool
view_is(struct maillog_view view, const char *text)
{
	return maillog_view_equal(view, maillog_view_of(text));
}

static void
peers_are_split(void **state)
{
	static const struct {
		const char *peer, *name, *address;
	} rows[] = {{"unknown[192.0.2.1]", "unknown", "192.0.2.1"},
	    {"mx.test[2001:db8::1]:1234", "mx.test", "2001:db8::1"},
	    {"[192.0.2.1]:25", "", "192.0.2.1"}, {"none", "none", ""},
	    {"]a[", "]a[", ""}, {"", "", ""}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct maillog_view name, address;

		maillog_peer_split(
		    (struct maillog_view){rows[i].peer, strlen(rows[i].peer)},
		    &name, &address);
		assert_row(i, view_is(name, rows[i].name));
		assert_row(i, view_is(address, rows[i].address));
	}
}

static void
delays_are_nanoseconds(void **state)
{
	static const struct {
		const char *text;
		int result;
		int64_t third_ns;
	} rows[] = {{"0.01/0.03/0.25/299", 0, 250000000}, {"0/0/0/0", 0, 0},
	    {"1/2/3.000000001/4", 0, 3000000001}, {"1/2/3", -1, 0},
	    {"1/2/3/4/5", -1, 0}, {"1/2//4", -1, 0}, {"", -1, 0},
	    {"1/2/3./4", -1, 0}, {"1/2/-3/4", -1, 0},
	    {"1/2/99999999999999999999/4", -1, 0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t delays[4];
		const struct maillog_view text = {
		    rows[i].text, strlen(rows[i].text)};

		assert_row(
		    i, maillog_delays_parse(text, delays) == rows[i].result);
		if (rows[i].result == 0)
			assert_row(i, delays[2] == rows[i].third_ns);
	}
}

static void
commands_are_counted(void **state)
{
	const char *text = "ehlo=1 mail=1 rcpt=1/3 unknown=0/2 commands=3/7";
	const struct maillog_view commands = {text, strlen(text)};
	int64_t accepted, given;

	assert_true(maillog_command_count(commands, "mail", &accepted, &given));
	assert_int_equal(accepted, 1);
	assert_int_equal(given, 1);
	assert_true(maillog_command_count(commands, "rcpt", &accepted, &given));
	assert_int_equal(accepted, 1);
	assert_int_equal(given, 3);
	assert_false(
	    maillog_command_count(commands, "data", &accepted, &given));
	assert_false(maillog_command_count(commands, "ehl", &accepted, &given));
}

static void
a_text_as_long_as_postfix_lets_it_is_cut(void **state)
{
	char text[4096];
	const char *head = "Nov 30 07:47:42 mx postfix/qmgr[1]: warning: ";
	size_t size = strlen(head);
	struct maillog_line line;
	struct maillog_record record;

	memcpy(text, head, size);
	memset(text + size, 'x', sizeof(text) - size);
	maillog_line_parse(text, size + MAILLOG_TEXT_MAX - 1, &line);
	maillog_record_parse(&line, &record);
	assert_false(record.is_cut);
	maillog_line_parse(text, size + MAILLOG_TEXT_MAX, &line);
	maillog_record_parse(&line, &record);
	assert_true(record.is_cut);
	assert_int_equal(record.kind, MAILLOG_WARNING);
}

static void
everything_has_a_name(void **state)
{
	for (unsigned i = 0; i < MAILLOG_KINDS; i++)
		assert_non_null(maillog_kind_name(i));
	for (unsigned i = 0; i < MAILLOG_PROGRAMS; i++)
		assert_non_null(maillog_program_name(i));
	for (unsigned i = 0; i < MAILLOG_SEVERITIES; i++)
		assert_non_null(maillog_severity_name(i));
	for (unsigned i = 0; i < MAILLOG_ACTIONS; i++)
		assert_non_null(maillog_action_name(i));
	for (unsigned i = 0; i < MAILLOG_STATUSES; i++)
		assert_non_null(maillog_status_name(i));
	for (unsigned i = 0; i < MAILLOG_FIELDS; i++)
		assert_non_null(maillog_field_name(i));
	assert_string_equal(maillog_kind_name(MAILLOG_KINDS), "unknown");
	assert_string_equal(maillog_field_name(MAILLOG_FIELDS), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(real_lines_of_postfix),
	    cmocka_unit_test(rarer_lines_of_postfix),
	    cmocka_unit_test(real_lines_of_every_fate),
	    cmocka_unit_test(real_lines_of_dovecot),
	    cmocka_unit_test(every_form_of_time_and_tag),
	    cmocka_unit_test(what_syslog_daemons_say_of_the_log),
	    cmocka_unit_test(hostile_lines),
	    cmocka_unit_test(queue_ids_are_told_from_words),
	    cmocka_unit_test(peers_are_split),
	    cmocka_unit_test(delays_are_nanoseconds),
	    cmocka_unit_test(commands_are_counted),
	    cmocka_unit_test(a_text_as_long_as_postfix_lets_it_is_cut),
	    cmocka_unit_test(everything_has_a_name),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* A log that was rotated while nobody read, and re-read from anywhere. */
#include "exporter/read/log_follower.h"

#include "exporter/read/log_series.h"
#include "tests/exporter/log_fixture.h"

/* Reads the next `count` lines there are, then stops. */
static struct journal_position
read_some(struct log_fixture *log, int count)
{
	struct log_entry entry;

	follow(log);
	for (int i = 0; i < count; i++)
		assert_int_equal(
		    log_follower_next(log->follower, &entry, NULL), 1);
	return unfollow(log);
}

/* A log of `count` lines, the first `read` of which were read: up to there. */
static struct journal_position
begin(struct log_fixture *log, int count, int read)
{
	append(log, "mail.log", count);
	return read_some(log, read);
}

static const char *
read_rest(struct log_fixture *log, struct journal_position from)
{
	follow_from(log, from);
	return drain(log);
}

static void
what_was_written_meanwhile_is_read(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "3..9");
}

static void
one_rotation_by_renaming(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "3..14");
}

static void
a_rotation_right_after_the_last_line_read(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 5);
	rename_log(log, "mail.log", "mail.log.1");
	assert_string_equal(read_rest(log, at), "");
	append(log, "mail.log", 5);
	assert_string_equal(drain(log), "5..9");
}

/* As logrotate with delaycompress does it. */
static void
rotate(struct log_fixture *log, int kept)
{
	char from[32], to[32];

	for (int i = kept; i >= 2; i--) {
		snprintf(from, sizeof(from), "mail.log.%d.gz", i);
		snprintf(to, sizeof(to), "mail.log.%d.gz", i + 1);
		if (rename_if_there(log, from, to) && i == kept)
			remove_log(log, to);
	}
	if (rename_if_there(log, "mail.log.1", "mail.log.2"))
		compress_log(log, "mail.log.2");
	rename_log(log, "mail.log", "mail.log.1");
}

static void
several_rotations_with_compression(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	for (int i = 0; i < 4; i++) {
		append(log, "mail.log", 5);
		rotate(log, 10);
	}
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "3..29");
}

static void
what_was_removed_is_a_gap(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	for (int i = 0; i < 5; i++) {
		append(log, "mail.log", 5);
		rotate(log, 3);
	}
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "gone 15..34");
	/* From the last line read to the first that is there. */
	check_gap(log, 2, 15);
}

static void
a_generation_in_the_middle_is_gone(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	/* It is known: somebody read it before. */
	rename_log(log, "mail.log", "mail.log.2");
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "3..9");
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 5);
	remove_log(log, "mail.log.1");
	assert_string_equal(read_rest(log, at), "3..4 gone 10..14");
}

static void
compressed_so_that_we_cannot_read_it(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 5);
	rename_log(log, "mail.log", "mail.log.2");
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log.1.xz");
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "unreadable 10..14");
	check_gap(log, 4, 10);
}

static void
the_file_that_was_being_read_is_now_unreadable(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log.1.zst");
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "unreadable 10..14");
}

/* A file that was read whole and then compressed is missed by nobody. */
static void
an_unreadable_file_from_before_is_no_gap(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log.2.xz");
	log->next += 100;
	at = begin(log, 5, 5);
	rename_log(log, "mail.log", "mail.log.1");
	log->next += 100;
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "210..214");
}

static void
copied_and_truncated_meanwhile(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	append(log, "mail.log", 5);
	copy_log(log, "mail.log", "mail.log.1");
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 5);
	assert_string_equal(read_rest(log, at), "3..9 copied 10..14");
}

static void
truncated_meanwhile(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 50);
	assert_string_equal(read_rest(log, at), "gone 5..54");
}

/* A power cut took bytes that had been read, and the log was written on. */
static void
shorter_than_before_and_written_on(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;
	struct stat status;

	append(log, "mail.log", 5);
	assert_int_equal(stat(log->path, &status), 0);
	at = begin(log, 5, 10);
	truncate_log(log, "mail.log", status.st_size);
	assert_string_equal(read_rest(log, at), "");
	append(log, "mail.log", 2);
	assert_string_equal(drain(log), "damaged 10..11");
	/* What is in the file now, from the beginning of it. */
	assert_string_equal(read_rest(log, (struct journal_position){0, 0}),
	    "0..4 damaged 10..11");
}

static void
shorter_than_before_and_longer_again(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;
	struct stat status;

	append(log, "mail.log", 5);
	assert_int_equal(stat(log->path, &status), 0);
	at = begin(log, 5, 10);
	truncate_log(log, "mail.log", status.st_size - 10);
	append(log, "mail.log", 10);
	assert_string_equal(read_rest(log, at), "damaged 16..19");
}

static void
damaged_compression_is_told(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 3000, 3);
	compress_log(log, "mail.log");
	rename_log(log, "mail.log.gz", "mail.log.1.gz");
	truncate_log(log, "mail.log.1.gz", 6000);
	set_changed(log, "mail.log.1.gz", 2999);
	append(log, "mail.log", 5);
	follow_from(log, at);
	drain(log);
	assert_non_null(strstr(log->told, " damaged 3000..3004"));
	assert_int_equal(strncmp(log->told, "3..", 3), 0);
}

static void
names_by_date(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log-20261128");
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail.log.20261129-074742");
	compress_log(log, "mail.log.20261129-074742");
	append(log, "mail.log", 5);
	rename_log(log, "mail.log", "mail-20261130.log");
	append(log, "mail.log", 5);
	append(log, "mail.err", 5);
	append(log, "mail-other.log", 5);
	append(log, "mail.log.offset", 5);
	assert_string_equal(read_rest(log, at), "3..24");
}

static void
what_names_belong_to_a_log(void **state)
{
	static const struct {
		const char *base, *name;
		bool included;
	} rows[] = {{"mail.log", "mail.log", true},
	    {"mail.log", "mail.log.1", true}, {"mail.log", "mail.log.0", true},
	    {"mail.log", "mail.log.100", true},
	    {"mail.log", "mail.log.12.gz", true},
	    {"mail.log", "mail.log-20261130", true},
	    {"mail.log", "mail.log-20261130.xz", true},
	    {"mail.log", "mail.log-2026-11-30T07:47:42.zst", true},
	    {"mail.log", "mail.log.20261130-074742.gz", true},
	    {"mail.log", "mail.log.old", true},
	    {"mail.log", "mail.log.old.gz", true},
	    {"mail.log", "mail-20261130.log", true},
	    {"mail.log", "mail.1.log.gz", true},
	    {"mail.log", "mail.log.gz", false}, {"mail.log", "mail.err", false},
	    {"mail.log", "mail.info.1", false},
	    {"mail.log", "mail-other.log", false},
	    {"mail.log", "mail.log.offset", false},
	    {"mail.log", "mail.log.1.tmp", false},
	    {"mail.log", "mail.log1", false}, {"mail.log", "mail.log.", false},
	    {"mail.log", "mail.log.bold", false},
	    {"mail.log", "mail.lo", false}, {"mail.log", "xmail.log.1", false},
	    {"maillog", "maillog.1.gz", true},
	    {"maillog", "maillog-20261130", true},
	    {"maillog", "mail-1.log", false}, {"maillog", "maillog2", false}};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, log_series_includes(rows[i].base, rows[i].name) ==
				  rows[i].included);
}

static int64_t
changed_ns(const struct log_fixture *log, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	fixture_name(log, name, path);
	assert_int_equal(stat(path, &status), 0);
	return status.st_mtim.tv_sec * CLOCK_NS_PER_SECOND +
	       status.st_mtim.tv_nsec;
}

/* Until what is written has another time of change than `name`. The clock does
 * not tell: Linux may give the time of a finer one, and the same until the
 * other comes there. */
static void
wait_for_another_time(const struct log_fixture *log, const char *name)
{
	do
		append_text(log, "clock", ".");
	while (changed_ns(log, "clock") <= changed_ns(log, name));
}

/* Two files whose first lines are of the same second, without fractions. */
static void
rotations_within_one_second(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	for (int i = 0; i < 4; i++) {
		char text[128], name[32];

		snprintf(text, sizeof(text),
		    "Nov 30 07:47:42 mx postfix/qmgr[%d]: removed\n", i + 1);
		append_text(log, "mail.log", text);
		if (i == 0)
			at = read_some(log, 1);
		wait_for_another_time(log, "mail.log");
		snprintf(name, sizeof(name), "mail.log.%d", 3 - i);
		if (i < 3)
			rename_log(log, "mail.log", name);
	}
	follow_from(log, at);
	for (int i = 1; i < 4; i++) {
		struct log_entry entry;

		assert_int_equal(
		    log_follower_next(log->follower, &entry, NULL), 1);
		assert_int_equal(entry.gap, LOG_GAP_NONE);
		assert_int_equal(entry.line.pid, i + 1);
	}
}

/* The whole history, with gaps of every kind, from every position in it. */
static void
the_rest_is_the_same_from_any_position(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position positions[200];
	char rests[200][256];
	struct log_entry entry;
	size_t count = 0;

	append(log, "mail.log", 5);
	follow(log);
	drain(log);
	append(log, "mail.log", 3);
	copy_log(log, "mail.log", "mail.log.4");
	truncate_log(log, "mail.log", 0);
	append(log, "mail.log", 6);
	drain(log);
	rename_log(log, "mail.log", "mail.log.3");
	compress_log(log, "mail.log.3");
	append(log, "mail.log", 6);
	drain(log);
	append_text(log, "mail.log", "torn");
	rename_log(log, "mail.log", "mail.log.2");
	append(log, "mail.log", 6);
	drain(log);
	truncate_log(log, "mail.log", 200);
	drain(log);
	append(log, "mail.log", 6);
	drain(log);
	follow(log);
	positions[count++] = (struct journal_position){0, 0};
	while (log_follower_next(log->follower, &entry, NULL) == 1)
		positions[count++] = entry.position;
	assert_true(count > 30);
	for (size_t i = count; i-- > 0;) {
		/* Twice, the catalog being as it is by now. */
		snprintf(rests[i], sizeof(rests[i]), "%s",
		    read_rest(log, positions[i]));
		assert_string_equal(read_rest(log, positions[i]), rests[i]);
		if (i + 1 < count)
			assert_true(strlen(rests[i]) > 0);
	}
	assert_string_equal(rests[count - 1], "");
	assert_string_equal(
	    rests[0], "0..7 copied 8..19 torn 20..21 damaged 26..31");
}

static void
local_times_are_the_same_from_any_position(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position positions[300];
	int64_t times[300];
	struct log_entry entry;
	size_t count = 0;

	/* 100 minutes around the end of summer time, without years. */
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (int i = 0; i < 200; i++) {
		time_t seconds = 1792884600 + 30 * i; /* 2026-10-24T23:30Z */
		struct tm local;
		char text[128], stamp[32];

		localtime_r(&seconds, &local);
		strftime(stamp, sizeof(stamp), "%b %d %H:%M:%S", &local);
		snprintf(text, sizeof(text),
		    "%s mx postfix/qmgr[%d]: 4F5E3A1C0: removed\n", stamp,
		    i + 1);
		append_text(log, "mail.log", text);
	}
	log->next = 0;
	set_changed(log, "mail.log", 0);
	follow(log);
	while (log_follower_next(log->follower, &entry, NULL) == 1) {
		assert_int_equal(entry.wall_ns / CLOCK_NS_PER_SECOND,
		    1792884600 + 30 * (int64_t)count);
		times[count] = entry.wall_ns;
		positions[count++] = entry.position;
	}
	assert_int_equal(count, 200);
	for (size_t i = 0; i + 1 < count; i++) {
		follow_from(log, positions[i]);
		assert_int_equal(
		    log_follower_next(log->follower, &entry, NULL), 1);
		assert_true(entry.wall_ns == times[i + 1]);
	}
	setenv("TZ", "UTC", 1);
	tzset();
}

static void
a_lost_catalog_is_rebuilt_as_it_was(void **state)
{
	struct log_fixture *log = *state;
	struct journal_position at;

	at = begin(log, 5, 3);
	log_catalog_free(&log->catalog);
	assert_string_equal(read_rest(log, at), "3..4");
	assert_int_equal(log->catalog.items[0].number, at.segment);
	rename_log(log, "mail.log", "mail.log.1");
	append(log, "mail.log", 5);
	log_catalog_free(&log->catalog);
	assert_string_equal(read_rest(log, at), "3..9");
}

static void
catalogs_are_kept_as_text(void **state)
{
	struct log_catalog catalog = {0}, again = {0};
	struct buffer text = {0};
	static const char *const broken[] = {"x\n", "1 2 3\n",
	    "1 2 3 4 5 6 7 8 9 1", "0 0 0 0 0 0 0 0 0 0\n",
	    "2 0 0 0 0 0 0 0 0 0\n1 0 0 0 0 0 0 0 0 0\n",
	    "1 0 0 0 0 0 0 0 0 0 0\n", "1 0 0 0 99 0 0 0 0 0\n", "\n"};

	for (int i = 0; i < 3 * LOG_CATALOG_MAX; i++)
		log_catalog_add(&catalog,
		    &(struct log_generation){
			.identity = {(uint64_t)i, UINT64_MAX - (uint64_t)i},
			.start_offset = (uint64_t)i * 3,
			.first_wall_ns = i % 7 == 0 ? 0 : line_wall_ns(i / 2),
			.read_wall_ns = -1,
			.device = UINT64_MAX,
			.inode = 12,
			.born_wall_ns = i});
	assert_int_equal(catalog.count, LOG_CATALOG_MAX);
	assert_true(catalog.changed);
	log_catalog_write(&catalog, &text);
	assert_int_equal(log_catalog_read(&again, text.data, text.size), 0);
	assert_int_equal(again.count, catalog.count);
	assert_memory_equal(again.items, catalog.items,
	    catalog.count * sizeof(catalog.items[0]));
	for (size_t i = 1; i < again.count; i++)
		assert_true(again.items[i].number > again.items[i - 1].number);
	log_catalog_free(&again);
	for (size_t i = 0; i < COUNT(broken); i++) {
		assert_row(i, log_catalog_read(
				  &again, broken[i], strlen(broken[i])) == -1);
		assert_row(i, again.count == 0);
	}
	assert_int_equal(log_catalog_read(&again, NULL, 0), 0);
	log_catalog_free(&catalog);
	buffer_free(&text);
}

int
main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(what_was_written_meanwhile_is_read),
	    TEST(one_rotation_by_renaming),
	    TEST(a_rotation_right_after_the_last_line_read),
	    TEST(several_rotations_with_compression),
	    TEST(what_was_removed_is_a_gap),
	    TEST(a_generation_in_the_middle_is_gone),
	    TEST(compressed_so_that_we_cannot_read_it),
	    TEST(the_file_that_was_being_read_is_now_unreadable),
	    TEST(an_unreadable_file_from_before_is_no_gap),
	    TEST(copied_and_truncated_meanwhile),
	    TEST(truncated_meanwhile),
	    TEST(shorter_than_before_and_written_on),
	    TEST(shorter_than_before_and_longer_again),
	    TEST(damaged_compression_is_told),
	    TEST(names_by_date),
	    TEST(what_names_belong_to_a_log),
	    TEST(rotations_within_one_second),
	    TEST(the_rest_is_the_same_from_any_position),
	    TEST(local_times_are_the_same_from_any_position),
	    TEST(a_lost_catalog_is_rebuilt_as_it_was),
	    TEST(catalogs_are_kept_as_text),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Four headers out of whatever stands before the body. */
#include "lmtp/header_scan.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

#define ID "019ad3a1-5c00-7abc-8def-0123456789ab"
#define OTHER_ID "019ad3a1-5c00-7abc-8def-ba9876543210"
#define STAMP                                                                  \
	"X-Perf-Sent: 2026-11-30T07:47:42.123456Z;\r\n"                        \
	"\tid=" ID "; q=4F5E3A\r\n"

static const struct header_scan_names names = {"mx.test", "X-Perf-Sent"};

static void
scan_pieces(struct header_scan *scan, const char *text, size_t step)
{
	size_t size = strlen(text);

	header_scan_begin(scan, &names);
	for (size_t at = 0; at < size; at += step)
		header_scan_feed(
		    scan, text + at, size - at < step ? size - at : step);
}

static const char whole[] =
    "Return-Path: <a@b>\r\n" STAMP "Received: from c (c [192.0.2.1])\r\n"
    "\tby mx.test (Postfix) with ESMTP id 4F5E3A\r\n"
    "\tfor <u@x>; Mon\r\n"
    "message-id:\r\n <one@c>\r\n"
    "X-Perf-Run : night 1\r\n"
    "Subject: X-Perf-Run: no\r\n"
    "Message-ID: <two@c>\r\n"
    "\r\n"
    "X-Perf-Run: body\r\n";

static void
what_is_wanted_is_found_however_the_content_is_cut(void **state)
{
	struct header_scan *scan = malloc(sizeof(*scan));
	char id[UUID_TEXT_SIZE];

	for (size_t step = 1; step <= sizeof(whole); step++) {
		scan_pieces(scan, whole, step);
		assert_row(step, header_scan_done(scan));
		assert_row(step, scan->stamps_seen == 1 && scan->stamp_found);
		uuid_format(&scan->stamp.id, id);
		assert_row_string(step, id, ID);
		assert_row_string(step, scan->stamp.queue_id, "4F5E3A");
		assert_row_string(step, scan->queue_id, "4F5E3A");
		assert_row_string(step, scan->message_id, "<one@c>");
		assert_row_string(step, scan->run, "night 1");
	}
	free(scan);
}

static void
the_block_ends_where_headers_do(void **state)
{
	static const struct {
		const char *text;
		bool done;
	} rows[] = {{"\r\n", true}, {"\n", true}, {".\r\n", true},
	    {"Subject: x\r\n", false}, {"Subject: x\r\n\r\n", true},
	    {"Subject: x\r\nno header\r\n", true}, {" odd\r\n", true},
	    {"From sender Mon\r\n", true}, {"a: b\r\n\tc\r\n", false},
	    {"a: b\r\n..\r\n", true}, {":\r\n", true}, {"a", false}};
	struct header_scan *scan = malloc(sizeof(*scan));
	char text[200];

	for (size_t i = 0; i < COUNT(rows); i++) {
		scan_pieces(scan, rows[i].text, 100);
		assert_row(i, header_scan_done(scan) == rows[i].done);
		snprintf(
		    text, sizeof(text), "%sMessage-ID: <b>\r\n", rows[i].text);
		scan_pieces(scan, text, 100);
		header_scan_end(scan);
		assert_row(
		    i, (scan->message_id[0] == '\0') ==
			   (rows[i].done || strcmp(rows[i].text, "a") == 0));
	}
	free(scan);
}

static void
the_topmost_well_formed_stamp_counts_and_all_are_counted(void **state)
{
	struct header_scan *scan = malloc(sizeof(*scan));
	char id[UUID_TEXT_SIZE];

	scan_pieces(scan,
	    "X-Perf-Sent: rubbish\r\n" STAMP
	    "x-perf-sent: 2027-11-30T07:47:42.123456Z; id=" OTHER_ID
	    "; q=A\r\n\r\n",
	    1000);
	assert_int_equal(scan->stamps_seen, 3);
	assert_true(scan->stamp_found);
	uuid_format(&scan->stamp.id, id);
	assert_string_equal(id, ID);
	free(scan);
}

static void
a_dot_that_lmtp_doubled_is_not_part_of_a_name(void **state)
{
	struct header_scan *scan = malloc(sizeof(*scan));

	scan_pieces(
	    scan, ".Message-ID: <one>\r\n..Message-ID: <two>\r\n\r\n", 3);
	assert_string_equal(scan->message_id, "<one>");
	free(scan);
}

static void
huge_headers_take_no_memory_and_lose_only_themselves(void **state)
{
	struct header_scan *scan = malloc(sizeof(*scan));
	char piece[1000];

	memset(piece, 'x', sizeof(piece));
	header_scan_begin(scan, &names);
	header_scan_feed(scan, "X-Perf-Sent: ", 13);
	for (int i = 0; i < 1000; i++)
		header_scan_feed(scan, piece, sizeof(piece));
	header_scan_feed(scan, "\r\n", 2);
	for (int i = 0; i < 1000; i++)
		header_scan_feed(scan, piece, sizeof(piece));
	header_scan_feed(scan, ": y\r\nMessage-ID: ", 17);
	for (int i = 0; i < 5; i++)
		header_scan_feed(scan, piece, sizeof(piece));
	header_scan_feed(scan, "\r\n" STAMP "\r\n", sizeof(STAMP) + 3);
	assert_true(header_scan_done(scan));
	assert_int_equal(scan->stamps_seen, 2);
	assert_true(scan->stamp_found);
	assert_int_equal(strlen(scan->message_id), MESSAGE_ID_SIZE - 1);
	free(scan);
}

static void
a_senders_own_received_is_passed_over(void **state)
{
	struct header_scan *scan = malloc(sizeof(*scan));

	scan_pieces(scan,
	    "Received: by evil.test (Postfix) id AAAA; x\r\n"
	    "Received: from x by mx.test with LMTP id BBBB; x\r\n"
	    "Received: by mx.test (Mail) id CCCC; x\r\n"
	    "Received: by mx.test (Postfix) id DDDD; x\r\n\r\n",
	    7);
	assert_string_equal(scan->queue_id, "CCCC");
	free(scan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		what_is_wanted_is_found_however_the_content_is_cut),
	    cmocka_unit_test(the_block_ends_where_headers_do),
	    cmocka_unit_test(
		the_topmost_well_formed_stamp_counts_and_all_are_counted),
	    cmocka_unit_test(a_dot_that_lmtp_doubled_is_not_part_of_a_name),
	    cmocka_unit_test(
		huge_headers_take_no_memory_and_lose_only_themselves),
	    cmocka_unit_test(a_senders_own_received_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header_scan: pure; fed by the transaction with every piece of content until
 * the header block has ended. Only the four headers of the table below are
 * looked at; all others cost a memchr(3) a line.
 */
#include "lmtp/header_scan.h"

#include <string.h>
#include <strings.h>

static void take_stamp(struct header_scan *, const char *, size_t);
static void take_run(struct header_scan *, const char *, size_t);
static void take_message_id(struct header_scan *, const char *, size_t);
static void take_received(struct header_scan *, const char *, size_t);

static const struct header_scan_interest {
	const char *name;
	void (*take)(struct header_scan *scan, const char *value, size_t size);
} interests[] = {
    {NULL, take_stamp}, /* names->stamp */
    {RUN_HEADER_NAME, take_run},
    {"Message-ID", take_message_id},
    {"Received", take_received},
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
take_stamp(struct header_scan *scan, const char *value, size_t size)
{
	scan->stamps_seen++;
	if (!scan->stamp_found && !scan->value_cut)
		scan->stamp_found =
		    stamp_header_parse(value, size, &scan->stamp) == 0;
}

static void
take_run(struct header_scan *scan, const char *value, size_t size)
{
	if (scan->run[0] == '\0')
		header_value_unfold(value, size, scan->run, sizeof(scan->run));
}

static void
take_message_id(struct header_scan *scan, const char *value, size_t size)
{
	if (scan->message_id[0] == '\0')
		header_value_unfold(
		    value, size, scan->message_id, sizeof(scan->message_id));
}

static void
take_received(struct header_scan *scan, const char *value, size_t size)
{
	if (scan->queue_id[0] == '\0')
		received_queue_id(
		    value, size, scan->names->host, scan->queue_id);
}

static const struct header_scan_interest *
find_interest(const struct header_scan *scan)
{
	size_t size = scan->name_size;

	if (size > sizeof(scan->name))
		return NULL;
	while (size > 0 && is_space(scan->name[size - 1]))
		size--;
	for (size_t i = 0; i < sizeof(interests) / sizeof(interests[0]); i++) {
		const char *name = interests[i].name;

		if (name == NULL)
			name = scan->names->stamp;
		if (strlen(name) == size &&
		    strncasecmp(name, scan->name, size) == 0)
			return &interests[i];
	}
	return NULL;
}

/* The header that was being read is complete. */
static void
finish_header(struct header_scan *scan)
{
	const char *value = scan->value;
	size_t size = scan->value_size;

	if (scan->interest == NULL)
		return;
	for (; size > 0 && is_space(*value); size--)
		value++;
	while (size > 0 && is_space(value[size - 1]))
		size--;
	scan->interest->take(scan, value, size);
	scan->interest = NULL;
}

static void
finish_block(struct header_scan *scan)
{
	finish_header(scan);
	scan->state = HEADER_SCAN_DONE;
}

void
header_scan_begin(
    struct header_scan *scan, const struct header_scan_names *names)
{
	scan->names = names;
	scan->state = HEADER_SCAN_LINE_START;
	scan->dot_skipped = false;
	scan->interest = NULL;
	scan->name_size = 0;
	scan->stamps_seen = 0;
	scan->stamp_found = false;
	scan->queue_id[0] = '\0';
	scan->message_id[0] = '\0';
	scan->run[0] = '\0';
}

/* The first byte of a line decides what the line is. */
static size_t
feed_line_start(struct header_scan *scan, const char *data)
{
	bool first_line = scan->name_size == 0;

	if (*data == '.' && !scan->dot_skipped) {
		scan->dot_skipped = true;
		return 1;
	}
	scan->dot_skipped = false;
	if (*data == '\r') {
		scan->state = HEADER_SCAN_EMPTY_LINE;
		return 1;
	}
	if (*data == '\n' || (is_space(*data) && first_line)) {
		finish_block(scan);
		return 1;
	}
	if (is_space(*data)) {
		scan->state = HEADER_SCAN_VALUE;
		return 0;
	}
	finish_header(scan);
	scan->name_size = 0;
	scan->state = HEADER_SCAN_NAME;
	return 0;
}

/* A lone CR at the start of a line is the beginning of no header either. */
static size_t
feed_empty_line(struct header_scan *scan)
{
	finish_block(scan);
	return 1;
}

static size_t
feed_name(struct header_scan *scan, const char *data, size_t size)
{
	size_t used = 0;

	while (used < size && data[used] != ':' && data[used] != '\n') {
		if (scan->name_size < sizeof(scan->name))
			scan->name[scan->name_size] = data[used];
		scan->name_size++;
		used++;
	}
	if (used == size)
		return used;
	if (data[used] == '\n' || scan->name_size == 0) {
		finish_block(scan);
		return used + 1;
	}
	scan->interest = find_interest(scan);
	scan->value_size = 0;
	scan->value_cut = false;
	scan->state = HEADER_SCAN_VALUE;
	return used + 1;
}

/* As far as the end of the line; line ends within a value are kept. */
static size_t
feed_value(struct header_scan *scan, const char *data, size_t size)
{
	const char *end = memchr(data, '\n', size);
	size_t used = end != NULL ? (size_t)(end - data) + 1 : size;

	if (scan->interest != NULL) {
		size_t room = sizeof(scan->value) - scan->value_size;
		size_t kept = used < room ? used : room;

		memcpy(scan->value + scan->value_size, data, kept);
		scan->value_size += kept;
		scan->value_cut |= kept < used;
	}
	if (end != NULL)
		scan->state = HEADER_SCAN_LINE_START;
	return used;
}

static size_t
feed_some(struct header_scan *scan, const char *data, size_t size)
{
	switch (scan->state) {
	case HEADER_SCAN_LINE_START:
		return feed_line_start(scan, data);
	case HEADER_SCAN_EMPTY_LINE:
		return feed_empty_line(scan);
	case HEADER_SCAN_NAME:
		return feed_name(scan, data, size);
	case HEADER_SCAN_VALUE:
		return feed_value(scan, data, size);
	case HEADER_SCAN_DONE:
		break;
	}
	return size;
}

void
header_scan_feed(struct header_scan *scan, const void *data, size_t size)
{
	const char *at = data;
	const char *end = at + size;

	while (at < end)
		at += feed_some(scan, at, (size_t)(end - at));
}

bool
header_scan_done(const struct header_scan *scan)
{
	return scan->state == HEADER_SCAN_DONE;
}

void
header_scan_end(struct header_scan *scan)
{
	finish_block(scan);
}

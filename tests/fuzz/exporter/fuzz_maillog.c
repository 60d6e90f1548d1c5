/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any line gives a record whose views lie within the line, and the same again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/maillog/maillog_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_view(struct maillog_view view, const char *line, size_t size)
{
	if (view.size == 0)
		return;
	assert(view.at >= line && view.at + view.size <= line + size);
}

static void
check_helpers(const struct maillog_record *record)
{
	struct maillog_view name, address;
	int64_t delays[4], accepted, given;

	maillog_peer_split(
	    record->fields[MAILLOG_CLIENT_PEER], &name, &address);
	maillog_delays_parse(record->fields[MAILLOG_DELAYS], delays);
	maillog_command_count(
	    record->fields[MAILLOG_COMMANDS], "rcpt", &accepted, &given);
	assert(maillog_kind_name(record->kind) != NULL);
	assert(record->kind < MAILLOG_KINDS);
	assert(record->action < MAILLOG_ACTIONS);
	assert(record->status < MAILLOG_STATUSES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maillog_clock clock = {.reference = {0, INT64_MAX / 2}};
	struct maillog_line line;
	static struct maillog_record record, again;
	char *copy = malloc(size > 0 ? size : 1);

	if (size > 0)
		memcpy(copy, data, size);
	maillog_line_parse(copy, size, &line);
	maillog_clock_resolve(&clock, &line.time);
	maillog_record_parse(&line, &record);
	maillog_record_parse(&line, &again);
	assert(record.kind == again.kind);
	check_view(line.text, copy, size);
	check_view(line.host, copy, size);
	check_view(record.queue_id, copy, size);
	for (unsigned i = 0; i < MAILLOG_FIELDS; i++)
		check_view(record.fields[i], copy, size);
	check_helpers(&record);
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool_events DIRECTORY SOURCE [hold]: writes a journal of one message, one
 * delivery, one operation and the writer's heartbeats, with everything in them.
 * With "hold" it prints "ready" and lives on until its input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "proto/event.h"
#include "proto/journal_writer.h"

#define SECOND_NS INT64_C(1000000000)
#define WALL_NS INT64_C(1796024862123456789)

static void
append_message(struct journal_writer *writer)
{
	struct message_recipient recipients[] = {
	    {"user@example.org", {WALL_NS, 3}, false, NULL, NULL},
	    {"", {WALL_NS, 4}, true, "5.1.1", "User \"unknown\"\nhere"},
	};
	struct event event = {
	    EVENT_MESSAGE, .message = {
			       .id.bytes = {1, 2, 3, 4, 5, 6, 0x77, 8, 0x89},
			       .ending = MESSAGE_ENDING_ACCEPTED,
			       .phase = MESSAGE_PHASE_EOM,
			       .queue_id = "4Kt8Fh2vZlz9",
			       .sender = "",
			       .helo = "\xff\x1b[31m caf\xc3\xa9 \xc2\x9b",
			       .session = 7,
			       .sequence = 1,
			       .mail_at = {WALL_NS, 2},
			       .recipients = recipients,
			       .recipient_count = 2,
			   }};

	if (journal_writer_append(writer, &event, JOURNAL_SHARE_ALL) != 1)
		exit(1);
}

static void
append_delivery(struct journal_writer *writer)
{
	struct delivery_recipient recipient = {"user@example.org", 0,
	    {WALL_NS, 5}, {250, "2.1.5", "OK", {WALL_NS, 6}},
	    {250, "2.0.0", "Saved", {WALL_NS, 7}}};
	struct event event = {
	    EVENT_DELIVERY, .delivery = {
				.id.bytes = {1, 2, 3, 4, 5, 6, 0x77, 8, 0x8a},
				.ending = DELIVERY_ENDING_COMPLETED,
				.queue_id = "4Kt8Fh2vZlz9",
				.stamp_mail_wall_ns = WALL_NS,
				.recipients = &recipient,
				.recipient_count = 1,
			    }};

	if (journal_writer_append(writer, &event, JOURNAL_SHARE_ALL) != 1)
		exit(1);
}

static void
append_operation(struct journal_writer *writer)
{
	struct event event = {EVENT_OPERATION,
	    .operation = {
		.kind = OPERATION_ACKNOWLEDGE,
		.at = {WALL_NS, 8},
		.message.bytes = {1, 2, 3, 4, 5, 6, 0x77, 8, 0x89},
		.who = "root",
		.comment = "restored\nto mx2",
	    }};

	if (journal_writer_append(writer, &event, JOURNAL_SHARE_ALL) != 1)
		exit(1);
}

int
main(int argc, char **argv)
{
	struct journal_writer_settings settings = {
	    .directory = argc > 1 ? argv[1] : "",
	    .source = argc > 2 ? argv[2] : "",
	    .instance = "mx.example.com",
	    .program = "tool_events",
	    .segment_bytes = 1 << 20,
	    .segment_age_ns = 3600 * SECOND_NS,
	    .limit_bytes = 1 << 30,
	    .sync_interval_ns = SECOND_NS,
	    .heartbeat_interval_ns = 3600 * SECOND_NS,
	};
	struct reason reason = {""};
	struct journal_writer *writer = journal_writer_open(&settings, &reason);

	if (writer == NULL) {
		fprintf(stderr, "tool_events: %s\n", reason.text);
		return 1;
	}
	append_message(writer);
	append_delivery(writer);
	append_operation(writer);
	if (argc > 3 && strcmp(argv[3], "hold") == 0) {
		puts("ready");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	journal_writer_close(&writer);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool_journal DIRECTORY [SEGMENT_BYTES]: writes the journals "milter" and
 * "lmtp" as told on standard input, one command a line, each answered by one
 * line:
 *
 *     message LABEL QUEUE_ID RCPT...         -> its id
 *     delivery LABEL|-|? QUEUE_ID|- RCPT=CODE... -> "ok"; ?: a stamp of nobody
 *     load COUNT RECIPIENTS DAYS             -> what was written so far
 *     latency MS...                          -> ids, each of a message that
 *                                               was delivered after so long
 *     strangers COUNT [DAYS]                 -> "ok"
 *     defer COUNT                            -> "ok"
 *     open LABEL QUEUE_ID DAYS               -> its id
 *     strange                                -> "ok"
 *
 * "load" writes messages of the last DAYS days and their deliveries, with every
 * kind of complication in turn, and counts what must come of them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/journal_writer.h"

#define SECOND_NS INT64_C(1000000000)
#define MESSAGES_MAX 4096

static struct journal_writer *milter, *lmtp;
static struct arena *arena;

static struct {
	char label[32];
	char queue_id[32];
	struct uuid id;
} messages[MESSAGES_MAX];
static size_t message_count;

/* What must come of all "load" commands. */
static struct {
	unsigned long messages, accepted, unjoined, delivered, bounced,
	    attempts, deferrals, duplicates, latencies, no_stamp, no_message,
	    deliveries;
} wanted;

static struct stamp
moment(int64_t days, int64_t ms)
{
	struct stamp now = clock_stamp();

	now.wall_ns += ms * 1000000 - days * 86400 * SECOND_NS;
	now.monotonic_ns += ms * 1000000;
	return now;
}

static void
append(struct journal_writer *writer, const struct event *event)
{
	if (journal_writer_append(writer, event, JOURNAL_SHARE_ALL) != 1) {
		fputs("tool_journal: not appended\n", stderr);
		exit(1);
	}
}

static void
add_recipient(struct message_event *message, const char *address)
{
	struct message_recipient *recipient =
	    arena_append(arena, &message->recipients, &message->recipient_count,
		sizeof(*recipient));

	recipient->address = arena_string(arena, address);
	recipient->rcpt_at = message->mail_at;
}

static struct event
message_begin(int64_t days, const char *queue_id)
{
	struct event event = {.type = EVENT_MESSAGE};
	struct message_event *message = &event.message;

	message->mail_at = moment(days, 0);
	message->connect_at = message->helo_at = message->mail_at;
	message->data_at = moment(days, 1);
	message->content_at = moment(days, 2);
	message->eom_at = moment(days, 3);
	message->id = uuid_new(message->mail_at.wall_ns);
	message->ending = MESSAGE_ENDING_ACCEPTED;
	message->phase = MESSAGE_PHASE_EOM;
	message->queue_id = queue_id;
	message->message_id = "<load@example.net>";
	message->sender = "sender@example.net";
	message->client_address = "192.0.2.1";
	return event;
}

static void
add_result(struct delivery_event *delivery, const char *address, uint32_t code)
{
	struct delivery_recipient *recipient =
	    arena_append(arena, &delivery->recipients,
		&delivery->recipient_count, sizeof(*recipient));

	recipient->address = arena_string(arena, address);
	recipient->position = (uint32_t)delivery->recipient_count - 1;
	recipient->rcpt_at = recipient->envelope.at = delivery->mail_at;
	recipient->envelope.code = 250;
	recipient->final.code = code;
	recipient->final.enhanced = code == 451 ? "4.2.2" : NULL;
	recipient->final.text = "Saved";
	recipient->final.at = delivery->end_at;
}

static struct event
delivery_begin(const struct uuid *stamp, const char *queue_id)
{
	struct event event = {.type = EVENT_DELIVERY};
	struct delivery_event *delivery = &event.delivery;

	delivery->mail_at = moment(0, 5);
	delivery->data_at = moment(0, 6);
	delivery->content_end_at = moment(0, 7);
	delivery->end_at = moment(0, 9);
	delivery->id = uuid_new(delivery->mail_at.wall_ns);
	delivery->ending = DELIVERY_ENDING_COMPLETED;
	delivery->phase = DELIVERY_PHASE_CONTENT_END;
	delivery->queue_id = queue_id;
	if (stamp != NULL) {
		delivery->stamps_seen = 1;
		delivery->stamp_id = *stamp;
		delivery->stamp_queue_id = queue_id;
	}
	return event;
}

static const struct uuid *
find_stamp(const char *label)
{
	static struct uuid unknown;

	if (*label == '?') {
		unknown = uuid_new(clock_stamp().wall_ns);
		return &unknown;
	}
	for (size_t i = 0; i < message_count; i++)
		if (strcmp(messages[i].label, label) == 0)
			return &messages[i].id;
	return NULL;
}

/* Deliveries know it by its label. */
static void
finish_message(const char *label, struct event *event)
{
	char text[UUID_TEXT_SIZE];

	snprintf(text, sizeof(text), "<%.20s@example.net>", label);
	event->message.message_id = arena_string(arena, text);
	append(milter, event);
	if (message_count < MESSAGES_MAX) {
		snprintf(messages[message_count].label,
		    sizeof(messages[0].label), "%s", label);
		messages[message_count++].id = event->message.id;
	}
	uuid_format(&event->message.id, text);
	puts(text);
}

static void
command_message(char **rest)
{
	const char *label = strtok_r(NULL, " ", rest);
	const char *queue_id = strtok_r(NULL, " ", rest);
	struct event event = message_begin(0, queue_id);
	char *word;

	while ((word = strtok_r(NULL, " ", rest)) != NULL)
		add_recipient(&event.message, word);
	finish_message(label, &event);
}

static void
command_delivery(char **rest)
{
	const char *label = strtok_r(NULL, " ", rest);
	const char *queue_id = strtok_r(NULL, " ", rest);
	struct event event = delivery_begin(
	    find_stamp(label), strcmp(queue_id, "-") == 0 ? NULL : queue_id);
	char *word;

	while ((word = strtok_r(NULL, " ", rest)) != NULL) {
		char *code = strrchr(word, '=');

		*code++ = '\0';
		add_result(&event.delivery, word, (uint32_t)atoi(code));
	}
	append(lmtp, &event);
	puts("ok");
}

static const char *
load_address(unsigned long number, unsigned long recipient)
{
	static char address[64];

	snprintf(address, sizeof(address), "u%lu.%lu@example.test",
	    number % 100, recipient);
	return address;
}

/* One message and its deliveries. */
static void
load_one(unsigned long number, unsigned long recipients, unsigned long days)
{
	bool has_stamp = number % 17 != 0, is_known = number % 19 != 0;
	bool bounces = number % 7 == 0, is_deferred = number % 11 == 0;
	bool is_doubled = number % 13 == 0;
	char queue_id[32];
	struct event event, again;
	const struct uuid *stamp;
	struct uuid id;

	snprintf(queue_id, sizeof(queue_id), "%lXQ", 0xA0000 + number);
	event = message_begin((int64_t)(number % days), queue_id);
	for (unsigned long i = 0; i < recipients; i++)
		add_recipient(&event.message, load_address(number, i));
	if (is_known)
		append(milter, &event);
	id = event.message.id;
	stamp = has_stamp && is_known ? &id : NULL;
	event = delivery_begin(stamp, queue_id);
	for (unsigned long i = 0; i < recipients; i++)
		add_result(&event.delivery, load_address(number, i),
		    i > 0         ? 250
		    : bounces     ? 550
		    : is_deferred ? 451
				  : 250);
	append(lmtp, &event);
	wanted.deliveries++;
	if (is_deferred && !bounces) {
		again = delivery_begin(stamp, queue_id);
		add_result(&again.delivery, load_address(number, 0), 250);
		append(lmtp, &again);
		wanted.deliveries++;
		wanted.attempts++;
		wanted.deferrals++;
	}
	if (is_doubled && recipients > 1 && is_known) {
		again = delivery_begin(stamp, queue_id);
		add_result(&again.delivery, load_address(number, 1), 250);
		append(lmtp, &again);
		wanted.deliveries++;
		wanted.duplicates++;
	}
	wanted.messages += is_known;
	wanted.accepted += is_known ? recipients : 0;
	wanted.unjoined += is_known ? 0 : recipients;
	wanted.attempts +=
	    recipients + (is_doubled && recipients > 1 && is_known);
	wanted.delivered += recipients - bounces;
	wanted.bounced += bounces;
	wanted.latencies += is_known ? recipients - bounces : 0;
	if (stamp == NULL) {
		unsigned long legs = 1 + (is_deferred && !bounces) +
				     (is_doubled && recipients > 1 && is_known);

		*(is_known ? &wanted.no_stamp : &wanted.no_message) += legs;
	}
}

static void
command_load(char **rest)
{
	static unsigned long number;
	unsigned long count = strtoul(strtok_r(NULL, " ", rest), NULL, 10);
	unsigned long recipients = strtoul(strtok_r(NULL, " ", rest), NULL, 10);
	unsigned long days = strtoul(strtok_r(NULL, " ", rest), NULL, 10);

	for (unsigned long i = 0; i < count; i++) {
		load_one(++number, recipients, days);
		arena_reset(arena);
	}
	printf("{\"messages\": %lu, \"accepted\": %lu, \"unjoined\": %lu, "
	       "\"delivered\": %lu, \"bounced\": %lu, \"attempts\": %lu, "
	       "\"deferrals\": %lu, \"duplicates\": %lu, \"latencies\": %lu, "
	       "\"no_stamp\": %lu, "
	       "\"no_message\": %lu, \"deliveries\": %lu}\n",
	    wanted.messages, wanted.accepted, wanted.unjoined, wanted.delivered,
	    wanted.bounced, wanted.attempts, wanted.deferrals,
	    wanted.duplicates, wanted.latencies, wanted.no_stamp,
	    wanted.no_message, wanted.deliveries);
}

/* Messages with a recipient each, all of which the LMTP server defers. */
static void
command_defer(char **rest)
{
	unsigned long count = strtoul(strtok_r(NULL, " ", rest), NULL, 10);

	for (unsigned long i = 0; i < count; i++) {
		char queue_id[32], address[64];
		struct event event;
		struct uuid id;

		snprintf(queue_id, sizeof(queue_id), "%08lXA1B2C3", i);
		snprintf(
		    address, sizeof(address), "user%07lu@mail.example.org", i);
		event = message_begin(0, queue_id);
		add_recipient(&event.message, address);
		append(milter, &event);
		id = event.message.id;
		event = delivery_begin(&id, queue_id);
		add_result(&event.delivery, address, 451);
		append(lmtp, &event);
		arena_reset(arena);
	}
	puts("ok");
}

/* Messages of the last DAYS days, of whose senders, clients, recipients and
 * servers no two are the same. */
static void
command_strangers(char **rest)
{
	unsigned long count = strtoul(strtok_r(NULL, " ", rest), NULL, 10);
	const char *word = strtok_r(NULL, " ", rest);
	unsigned long days = word != NULL ? strtoul(word, NULL, 10) : 1;

	for (unsigned long i = 0; i < count; i++) {
		char queue_id[32], name[64], address[100];
		struct event event;
		struct uuid id;

		snprintf(queue_id, sizeof(queue_id), "%lXS", 0xC0000 + i);
		snprintf(name, sizeof(name), "host%lu.example.org", i);
		snprintf(address, sizeof(address), "u%lu@%s", i, name);
		event = message_begin((int64_t)(i % days), queue_id);
		event.message.sender = address;
		event.message.helo = event.message.client_name = name;
		add_recipient(&event.message, address);
		append(milter, &event);
		id = event.message.id;
		event = delivery_begin(&id, queue_id);
		event.delivery.backend = name;
		add_result(&event.delivery, address, 250);
		append(lmtp, &event);
		arena_reset(arena);
	}
	puts("ok");
}

static void
command_latency(char **rest)
{
	static unsigned long number;
	char *word;

	while ((word = strtok_r(NULL, " ", rest)) != NULL) {
		int64_t ms = atoll(word);
		char text[UUID_TEXT_SIZE];
		struct event event;
		struct stamp end;
		struct uuid id;

		snprintf(text, sizeof(text), "%lXL", 0xB0000 + ++number);
		event = message_begin(0, text);
		add_recipient(&event.message, load_address(number, 0));
		append(milter, &event);
		id = event.message.id;
		end = event.message.mail_at;
		end.wall_ns += ms * 1000000;
		end.monotonic_ns += ms * 1000000;
		event = delivery_begin(&id, text);
		event.delivery.mail_at = event.delivery.data_at =
		    event.delivery.content_end_at = event.delivery.end_at = end;
		add_result(&event.delivery, load_address(number, 0), 250);
		append(lmtp, &event);
		arena_reset(arena);
		uuid_format(&id, text);
		printf("%s ", text);
	}
	puts("");
}

/* A message of so many days ago, of which nothing more is heard. */
static void
command_open(char **rest)
{
	const char *label = strtok_r(NULL, " ", rest);
	const char *queue_id = strtok_r(NULL, " ", rest);
	struct event event =
	    message_begin(atol(strtok_r(NULL, " ", rest)), queue_id);

	add_recipient(&event.message, "u1@example.test");
	add_recipient(&event.message, "u2@example.test");
	finish_message(label, &event);
}

/* A message of last year, one with more recipients than there was room for,
 * and its delivery a minute before it. */
static void
command_strange(void)
{
	struct event event = message_begin(365, "STRANGE1");
	struct uuid id;

	append(milter, &event);
	event = message_begin(0, "STRANGE2");
	add_recipient(&event.message, "u1@example.test");
	event.message.recipients_omitted = 1;
	append(milter, &event);
	id = event.message.id;
	event = delivery_begin(&id, "STRANGE2");
	event.delivery.mail_at = event.delivery.data_at =
	    event.delivery.content_end_at = event.delivery.end_at =
		moment(0, -60000);
	add_result(&event.delivery, "u1@example.test", 250);
	append(lmtp, &event);
	puts("ok");
}

static struct journal_writer *
open_writer(const char *directory, const char *source, int64_t segment_bytes)
{
	const struct journal_writer_settings settings = {
	    .directory = directory,
	    .source = source,
	    .instance = "mx.test",
	    .program = "tool_journal",
	    .segment_bytes = segment_bytes,
	    .segment_age_ns = 3600 * SECOND_NS,
	    .limit_bytes = INT64_C(1) << 34,
	    .sync_interval_ns = SECOND_NS,
	    .heartbeat_interval_ns = 3600 * SECOND_NS,
	};
	struct reason reason;
	struct journal_writer *writer = journal_writer_open(&settings, &reason);

	if (writer == NULL) {
		fprintf(stderr, "tool_journal: %s\n", reason.text);
		exit(1);
	}
	return writer;
}

int
main(int argc, char **argv)
{
	static char line[1 << 20];
	int64_t segment_bytes = argc > 2 ? atoll(argv[2]) : 16 << 20;
	char *rest, *verb;

	arena = arena_new(256 << 20);
	milter = open_writer(argv[1], "milter", segment_bytes);
	lmtp = open_writer(argv[1], "lmtp", segment_bytes);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		verb = strtok_r(line, " ", &rest);
		if (strcmp(verb, "message") == 0)
			command_message(&rest);
		else if (strcmp(verb, "delivery") == 0)
			command_delivery(&rest);
		else if (strcmp(verb, "defer") == 0)
			command_defer(&rest);
		else if (strcmp(verb, "strangers") == 0)
			command_strangers(&rest);
		else if (strcmp(verb, "latency") == 0)
			command_latency(&rest);
		else if (strcmp(verb, "open") == 0)
			command_open(&rest);
		else if (strcmp(verb, "strange") == 0)
			command_strange();
		else
			command_load(&rest);
		arena_reset(arena);
		fflush(stdout);
	}
	journal_writer_close(&milter);
	journal_writer_close(&lmtp);
	return 0;
}

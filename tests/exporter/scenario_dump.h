/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_dump: how a scenario ended, as text that does not depend on the
 * order in which its sources were read: a line a recipient, to be read by
 * people, and then what the counters say.
 */
#ifndef TESTS_EXPORTER_SCENARIO_DUMP_H
#define TESTS_EXPORTER_SCENARIO_DUMP_H

#include "tests/exporter/log_dump.h"
#include "tests/exporter/scenario.h"

/* Texts of which the order does not matter. */
struct texts {
	struct buffer items[200];
	size_t count;
};

static inline struct buffer *
texts_add(struct texts *texts)
{
	assert_true(texts->count < COUNT(texts->items));
	texts->items[texts->count] = (struct buffer){.data = NULL};
	return &texts->items[texts->count++];
}

static inline int
compare_buffers(const void *left, const void *right)
{
	return strcmp((const char *)((const struct buffer *)left)->data,
	    (const char *)((const struct buffer *)right)->data);
}

/* Each behind `before`. */
static inline void
texts_append_sorted(struct texts *texts, const char *before, struct buffer *out)
{
	for (size_t i = 0; i < texts->count; i++)
		buffer_append(&texts->items[i], "", 1);
	qsort(texts->items, texts->count, sizeof(texts->items[0]),
	    compare_buffers);
	for (size_t i = 0; i < texts->count; i++) {
		buffer_append_format(
		    out, "%s%s", before, (const char *)texts->items[i].data);
		buffer_free(&texts->items[i]);
	}
	texts->count = 0;
}

/* What the log says of it, each with its second, which sorts them. */
static inline void
dump_attempts(
    const struct message_record *record, uint32_t recipient, struct buffer *out)
{
	static struct texts texts;

	for (size_t i = 0; i < record->attempt_count; i++) {
		const struct attempt_record *attempt = &record->attempts[i];

		if (attempt->recipient == recipient)
			buffer_append_format(texts_add(&texts),
			    "%02ld:%02ld %s %s %s%s%s",
			    attempt->wall_ns / SECOND_NS % 3600 / 60,
			    attempt->wall_ns / SECOND_NS % 60, attempt->agent,
			    attempt->status, attempt->dsn,
			    attempt->queue_id != NULL ? " of " : "",
			    attempt->queue_id != NULL ? attempt->queue_id : "");
	}
	if (texts.count > 0)
		buffer_append_string(out, "; log");
	texts_append_sorted(&texts, ", ", out);
}

static inline uint32_t
last_code(const struct delivery_recipient *recipient)
{
	return recipient->final.code != 0 ? recipient->final.code
					  : recipient->envelope.code;
}

static inline void
dump_recipient(
    const struct message_record *record, size_t number, struct buffer *out)
{
	const struct recipient_record *recipient = &record->recipients[number];

	buffer_append_format(out, "%s %s", recipient->address,
	    recipient_state_name(recipient->state));
	if (recipient->reason != FATE_REASON_NONE)
		buffer_append_format(
		    out, " (%s)", fate_reason_name(recipient->reason));
	if (recipient->original != NULL)
		buffer_append_format(out, "; was %s", recipient->original);
	if (!recipient->expected)
		buffer_append_string(out, "; not named");
	if (recipient->attempts > 0)
		buffer_append_format(out, "; hook: %u", recipient->attempts);
	if (recipient->leg >= 0)
		buffer_append_format(out, ", decided %u",
		    last_code(
			&record->legs[recipient->leg]
			     .event.recipients[recipient->leg_recipient]));
	dump_attempts(record, (uint32_t)number, out);
}

static inline void
dump_leg(const struct leg_record *leg, struct buffer *out)
{
	buffer_append_format(out, "leg %s", leg_state_name(leg->state));
	for (size_t i = 0; i < leg->event.recipient_count; i++) {
		const struct delivery_recipient *recipient =
		    &leg->event.recipients[i];

		buffer_append_format(out, " %.*s=%u/%u",
		    local_size(recipient->address), recipient->address,
		    recipient->envelope.code, recipient->final.code);
	}
}

/* Its further queue ids may be told in any order. */
static inline void
dump_further_queue_ids(const struct message_record *record, struct buffer *out)
{
	static struct texts texts;

	for (size_t i = 0; i < record->queue_id_count; i++)
		buffer_append_string(texts_add(&texts), record->queue_ids[i]);
	texts_append_sorted(&texts, " and ", out);
}

static inline void
dump_message(const char *queue_id, const struct message_record *record,
    struct buffer *out)
{
	static struct texts texts;

	buffer_append_format(out, "  %s", queue_id);
	dump_further_queue_ids(record, out);
	if (!uuid_is_set(&record->event.id))
		buffer_append_string(out, " no message");
	else
		buffer_append_format(out, " %s from <%s>",
		    message_ending_name(record->event.ending),
		    record->event.sender != NULL ? record->event.sender : "?");
	if (uuid_is_set(&record->event.previous))
		buffer_append_string(out, ", continues another");
	for (size_t i = 0; i < record->recipient_count; i++)
		dump_recipient(record, i, texts_add(&texts));
	texts_append_sorted(&texts, "\n    ", out);
	for (size_t i = 0; i < record->leg_count; i++)
		dump_leg(&record->legs[i], texts_add(&texts));
	texts_append_sorted(&texts, "\n    ", out);
	buffer_append_string(out, "\n");
}

/* Whether a message is told of under this queue id: its first. */
static inline bool
is_told_under(const struct message_record *record, const char *queue_id)
{
	return !uuid_is_set(&record->event.id) ||
	       record->event.queue_id == NULL ||
	       strcmp(record->event.queue_id, queue_id) == 0;
}

/* Called with each message that the store has. */
typedef void record_each(
    void *context, const char *queue_id, const struct message_record *record);

static inline void
each_record(const struct world *world, const struct scenario *scenario,
    record_each *each, void *context)
{
	struct reason reason;
	struct store_reader *reader =
	    store_reader_open(world->directory, &reason);
	struct arena *arena = arena_new(64 << 20);

	assert_non_null(reader);
	for (size_t i = 0; i < scenario->queue_id_count; i++) {
		const char *queue_id = scenario->queue_ids[i];
		struct message_record *records;
		long count =
		    store_find(reader, queue_id, 100, arena, &records, &reason);

		if (count < 0)
			fail_msg("%s", reason.text);
		for (long j = 0; j < count; j++)
			if (is_told_under(&records[j], queue_id))
				each(context, queue_id, &records[j]);
		arena_reset(arena);
	}
	arena_free(&arena);
	store_reader_free(&reader);
}

static inline void
dump_each(
    void *context, const char *queue_id, const struct message_record *record)
{
	dump_message(queue_id, record, context);
}

/* Counters that a correction adds to, so that they tell of the way. What they
 * come to in the end is in dump_balance(). */
static const char *const of_the_way[] = {"recipients_added_total",
    "recipient_outcomes_total", "outcome_revisions_total",
    "recipients_recognized_total", "unstamped_total", "messages_ghost_total"};

static inline bool
tells_of_the_way(const char *line)
{
	for (size_t i = 0; i < COUNT(of_the_way); i++)
		if (strncmp(line, of_the_way[i], strlen(of_the_way[i])) == 0)
			return true;
	return false;
}

static inline void
dump_fixed(const char *totals, struct buffer *out)
{
	const char *next;

	for (const char *line = totals; *line != '\0'; line = next) {
		next = strchr(line, '\n') + 1;
		if (!tells_of_the_way(line))
			buffer_append(out, line, (size_t)(next - line));
	}
}

/* The rows alone. To be freed. */
static inline char *
scenario_rows(const struct world *world, const struct scenario *scenario)
{
	struct buffer out = {.data = NULL};

	each_record(world, scenario, dump_each, &out);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

/* To be freed. */
static inline char *
scenario_dump(struct world *world, const struct scenario *scenario)
{
	struct buffer totals = {.data = NULL}, out = {.data = NULL};

	dump_totals(world, &totals);
	dump_gauges(world, &totals);
	buffer_append(&totals, "", 1);
	assert_balance((const char *)totals.data);
	each_record(world, scenario, dump_each, &out);
	dump_balance((const char *)totals.data, &out);
	dump_fixed((const char *)totals.data, &out);
	buffer_free(&totals);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

#endif

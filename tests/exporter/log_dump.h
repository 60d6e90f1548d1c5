/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_dump: what came of a script with a log, in a form that does not depend on
 * the order in which its sources were read.
 */
#ifndef TESTS_EXPORTER_LOG_DUMP_H
#define TESTS_EXPORTER_LOG_DUMP_H

#include "store/route.h"
#include "tests/exporter/join_dump.h"

#define TEXTS_MAX 64

static inline int
compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static inline void
append_sorted(struct buffer *out, char **texts, size_t count)
{
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++) {
		buffer_append_format(out, " %s", texts[i]);
		free(texts[i]);
	}
}

static inline int
local_size(const char *address)
{
	return (int)strcspn(address, "@");
}

static inline void
dump_filings(const struct recipient_record *recipient, struct buffer *out)
{
	char *texts[TEXTS_MAX];

	if (recipient->filing_count == 0)
		return;
	for (size_t i = 0; i < recipient->filing_count; i++) {
		const struct filing_record *filing = &recipient->filings[i];
		struct buffer text = {.data = NULL};

		buffer_append_format(&text, "%s%s%s",
		    filing_action_name(filing->action),
		    filing->name != NULL ? "-" : "",
		    filing->name != NULL ? filing->name : "");
		buffer_append(&text, "", 1);
		texts[i] = (char *)text.data;
	}
	buffer_append_string(out, "{");
	append_sorted(out, texts, recipient->filing_count);
	buffer_append_string(out, " }");
}

static inline void
dump_log_recipients(const struct message_record *record, struct buffer *out)
{
	char *texts[TEXTS_MAX];

	assert_true(record->recipient_count <= TEXTS_MAX);
	for (size_t i = 0; i < record->recipient_count; i++) {
		const struct recipient_record *recipient =
		    &record->recipients[i];
		const char *original =
		    recipient->original != NULL ? recipient->original : "";
		struct buffer text = {.data = NULL};

		buffer_append_format(&text, "%.*s%s%.*s=%s",
		    local_size(recipient->address), recipient->address,
		    *original != '\0' ? "<" : "", local_size(original),
		    original, recipient_state_name(recipient->state));
		if (recipient->reason != FATE_REASON_NONE)
			buffer_append_format(
			    &text, "(%s)", fate_reason_name(recipient->reason));
		buffer_append_format(&text, "/%u", recipient->attempts);
		dump_filings(recipient, &text);
		buffer_append(&text, "", 1);
		texts[i] = (char *)text.data;
	}
	append_sorted(out, texts, record->recipient_count);
}

static inline void
dump_log_record(const struct message_record *record, struct buffer *out)
{
	char *texts[TEXTS_MAX];

	buffer_append_format(
	    out, " %s", message_ending_name(record->event.ending));
	dump_log_recipients(record, out);
	for (size_t i = 0; i < record->leg_count; i++)
		texts[i] = strdup(leg_state_name(record->legs[i].state));
	append_sorted(out, texts, record->leg_count);
	buffer_append_format(out, " +%zu", record->attempt_count);
	for (size_t i = 0; i < record->queue_id_count; i++)
		buffer_append_format(out, " %s", record->queue_ids[i]);
	if (uuid_is_set(&record->event.previous))
		buffer_append_string(out, " previous");
	buffer_append_string(out, "\n");
}

static inline void
dump_log_found(
    struct store_reader *reader, const char *queue_id, struct buffer *out)
{
	struct arena *arena = arena_new(64 << 20);
	struct message_record *records;
	struct reason reason;
	long count =
	    store_find(reader, queue_id, 100, arena, &records, &reason);

	if (count < 0)
		fail_msg("%s", reason.text);
	for (long i = 0; i < count; i++) {
		buffer_append_format(out, "%s:", queue_id);
		dump_log_record(&records[i], out);
	}
	arena_free(&arena);
}

/* The queue id of a step of any kind, at most 30 characters; empty: none. */
static inline void
log_step_queue_id(const struct step *step, char queue_id_r[32])
{
	const char *known = step_queue_id(step);
	const char *text;
	size_t size;

	snprintf(queue_id_r, 32, "%s", known != NULL ? known : "");
	if (step->line == NULL)
		return;
	text = strstr(step->line, "]: ");
	if (text == NULL)
		return;
	text += 3;
	size = strspn(text, "ABCDEF0123456789");
	if (text[size] == ':')
		snprintf(queue_id_r, 32, "%.*s", (int)size, text);
}

static inline void
dump_rows(struct world *world, const struct script *script, struct buffer *out)
{
	struct reason reason;
	struct store_reader *reader =
	    store_reader_open(world->directory, &reason);

	assert_non_null(reader);
	for (size_t i = 0; i < script->count; i++) {
		char queue_id[32], other[32] = "";

		log_step_queue_id(&script->steps[i], queue_id);
		for (size_t j = 0; j < i && strcmp(queue_id, other) != 0; j++)
			log_step_queue_id(&script->steps[j], other);
		if (*queue_id != '\0' && strcmp(queue_id, other) != 0)
			dump_log_found(reader, queue_id, out);
	}
	store_reader_free(&reader);
}

/* What the counters say of this moment. */
static inline void
dump_balance(const char *totals, struct buffer *out)
{
	buffer_append_format(out, "known %lu\n",
	    dump_sum(totals, "recipients_accepted_total", "?") +
		dump_sum(totals, "recipients_added_total", "?") -
		dump_sum(totals, "recipients_recognized_total", "?"));
	for (unsigned i = 0; i < OUTCOMES; i++) {
		const char *state = recipient_state_name(outcome_state(i));
		char entered[100];
		unsigned long left = 0;

		snprintf(entered, sizeof(entered),
		    "recipient_outcomes_total{outcome=\"%s\"}", state);
		for (unsigned j = 0; j < REVISIONS; j++) {
			char name[100];

			if (revision_from(j) != outcome_state(i))
				continue;
			snprintf(name, sizeof(name),
			    "outcome_revisions_total{from=\"%s\",to=\"%s\"}",
			    state, recipient_state_name(revision_to(j)));
			left += dump_value(totals, name);
		}
		buffer_append_format(
		    out, "%s %lu\n", state, dump_value(totals, entered) - left);
	}
}

/* What was refused, as far as something was. */
static inline void
dump_refusals(const char *totals, struct buffer *out)
{
	for (unsigned i = 0; i < REJECT_PHASES * REJECTS; i++) {
		const char *phase =
		    metric_label_value(METRIC_SMTP_REJECTS, i, 0);
		const char *class =
		    metric_label_value(METRIC_SMTP_REJECTS, i, 1);
		char name[100];

		snprintf(name, sizeof(name),
		    "smtp_rejects_total{phase=\"%s\",class=\"%s\"}", phase,
		    class);
		if (dump_value(totals, name) > 0)
			buffer_append_format(out, "refused at %s %s: %lu\n",
			    phase, class, dump_value(totals, name));
	}
}

/* How many latencies of each route were observed. */
static inline void
dump_routes(const char *totals, struct buffer *out)
{
	for (unsigned i = 0; i < ROUTES; i++) {
		const char *route = route_name((enum route)i);
		char name[100];

		snprintf(name, sizeof(name),
		    "delivery_latency_seconds{route=\"%s\"}", route);
		buffer_append_format(
		    out, "%s %lu\n", route, dump_value(totals, name));
	}
}

/* To be freed. */
static inline char *
log_dump(struct world *world, const struct script *script)
{
	struct buffer totals = {.data = NULL}, out = {.data = NULL};

	dump_totals(world, &totals);
	dump_gauges(world, &totals);
	buffer_append(&totals, "", 1);
	assert_balance((const char *)totals.data);
	dump_balance((const char *)totals.data, &out);
	dump_refusals((const char *)totals.data, &out);
	dump_routes((const char *)totals.data, &out);
	dump_gauges(world, &out);
	dump_rows(world, script, &out);
	buffer_free(&totals);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

#endif

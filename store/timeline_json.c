/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline as JSON, for the API and `postlag show --json`: the only place
 * that knows the names of its members. No state, any thread.
 *
 * Every member is always there; what is not known is null. Bytes that are not
 * UTF-8 become U+FFFD, for JSON cannot hold them.
 */
#include "store/timeline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

#define NS_PER_SECOND 1e9
/* As many as a double has without 0.1 becoming 0.10...01: nanoseconds of a span
 * of eleven days. */
#define SIGNIFICANT_DIGITS 15

static const char replacement[] = "\xef\xbf\xbd";

static json_t *
from_text(const char *text)
{
	struct buffer clean = {0};
	size_t size, left;
	json_t *value;

	if (text == NULL)
		return json_null();
	for (left = strlen(text); left > 0; text += size, left -= size) {
		size = text_character(text, left);
		if (size > 0) {
			buffer_append(&clean, text, size);
		} else {
			buffer_append_string(&clean, replacement);
			size = 1;
		}
	}
	value =
	    json_stringn(clean.size > 0 ? (char *)clean.data : "", clean.size);
	buffer_free(&clean);
	return value;
}

static void
put_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, from_text(text));
}

static void
put_number(json_t *object, const char *name, uint64_t number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

static void
put_seconds(json_t *object, const char *name, int64_t ns)
{
	json_object_set_new(
	    object, name, json_real((double)ns / NS_PER_SECOND));
}

static void
put_uuid(json_t *object, const char *name, const struct uuid *uuid)
{
	char text[UUID_TEXT_SIZE];

	uuid_format(uuid, text);
	put_text(object, name, uuid_is_set(uuid) ? text : NULL);
}

static void
put_stamp(json_t *object, const char *name, const struct stamp *stamp)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(stamp->wall_ns, text);
	put_text(object, name, stamp_is_set(stamp) ? text : NULL);
}

static json_t *
from_phases(const struct timeline_phase *phases, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *phase = json_object();

		put_text(phase, "phase", phase_describe(phases[i].phase)->name);
		put_seconds(phase, "offset_seconds", phases[i].offset_ns);
		put_seconds(phase, "duration_seconds", phases[i].duration_ns);
		json_object_set_new(
		    phase, "skewed", json_boolean(phases[i].skewed));
		json_array_append_new(array, phase);
	}
	return array;
}

static json_t *
from_reply(const struct delivery_reply *reply)
{
	json_t *object;

	if (reply == NULL || reply->code == 0)
		return json_null();
	object = json_object();
	put_number(object, "code", reply->code);
	put_text(object, "enhanced", reply->enhanced);
	put_text(object, "text", reply->text);
	put_stamp(object, "at", &reply->at);
	return object;
}

static json_t *
from_reject(const struct recipient_record *recipient)
{
	json_t *object;

	if (recipient->reject_dsn == NULL && recipient->reject_text == NULL)
		return json_null();
	object = json_object();
	put_text(object, "enhanced", recipient->reject_dsn);
	put_text(object, "text", recipient->reject_text);
	return object;
}

/* The first of several. */
static const char *
mailbox(const struct recipient_record *recipient)
{
	return recipient->filing_count > 0 &&
		       recipient->filings[0].action == FILING_STORED
		   ? recipient->filings[0].name
		   : NULL;
}

static json_t *
from_filings(const struct recipient_record *recipient)
{
	json_t *array = json_array();

	for (size_t i = 0; i < recipient->filing_count; i++) {
		const struct filing_record *filing = &recipient->filings[i];
		bool is_stored = filing->action == FILING_STORED;
		json_t *object = json_object();

		put_text(object, "action", filing_action_name(filing->action));
		put_text(object, "mailbox", is_stored ? filing->name : NULL);
		put_text(object, "address", is_stored ? NULL : filing->name);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *
from_recipient(const struct timeline_recipient *recipient)
{
	const struct recipient_record *record = recipient->record;
	json_t *object = json_object();

	put_text(object, "address", record->address);
	put_text(object, "original", record->original);
	put_text(object, "state", recipient_state_name(record->state));
	put_text(object, "route", recipient->route);
	put_text(object, "reason",
	    record->reason != FATE_REASON_NONE
		? fate_reason_name(record->reason)
		: NULL);
	json_object_set_new(object, "expected", json_boolean(record->expected));
	put_stamp(object, "rcpt", &record->rcpt_at);
	json_object_set_new(object, "reject", from_reject(record));
	if (recipient->latency.state == DURATION_KNOWN)
		put_seconds(object, "latency_seconds", recipient->latency.ns);
	else
		put_text(object, "latency_seconds", NULL);
	json_object_set_new(object, "reply", from_reply(recipient->reply));
	json_object_set_new(object, "phases",
	    from_phases(recipient->phases, recipient->phase_count));
	put_number(object, "attempts", record->attempts);
	put_text(object, "mailbox", mailbox(record));
	json_object_set_new(object, "filings", from_filings(record));
	json_object_set_new(object, "leg",
	    record->leg < 0 ? json_null() : json_integer(record->leg));
	return object;
}

/* A line of the log, which has one clock. */
static json_t *
from_attempt(
    const struct attempt_record *attempt, const struct message_record *record)
{
	json_t *object = json_object();
	const struct stamp at = {.wall_ns = attempt->wall_ns};

	put_stamp(object, "at", &at);
	put_text(object, "recipient",
	    attempt->recipient < record->recipient_count
		? record->recipients[attempt->recipient].address
		: NULL);
	put_text(object, "queue_id", attempt->queue_id);
	put_text(object, "agent", attempt->agent);
	put_text(object, "relay", attempt->relay);
	put_text(object, "dsn", attempt->dsn);
	put_text(object, "status", attempt->status);
	put_text(object, "text", attempt->text);
	return object;
}

static json_t *
from_leg_recipient(const struct delivery_recipient *recipient)
{
	json_t *object = json_object();

	put_text(object, "address", recipient->address);
	put_number(object, "position", recipient->position);
	put_stamp(object, "rcpt", &recipient->rcpt_at);
	json_object_set_new(
	    object, "envelope_reply", from_reply(&recipient->envelope));
	json_object_set_new(
	    object, "final_reply", from_reply(&recipient->final));
	return object;
}

static json_t *
from_leg_stamps(const struct delivery_event *event)
{
	json_t *object = json_object();

	put_stamp(object, "connect", &event->connect_at);
	put_stamp(object, "mail", &event->mail_at);
	put_stamp(object, "data", &event->data_at);
	put_stamp(object, "content_end", &event->content_end_at);
	put_stamp(object, "end", &event->end_at);
	return object;
}

static json_t *
from_leg(const struct leg_record *leg)
{
	const struct delivery_event *event = &leg->event;
	json_t *object = json_object();
	json_t *recipients = json_array();

	put_uuid(object, "id", &event->id);
	put_text(object, "state", leg_state_name(leg->state));
	put_text(object, "instance", leg->instance);
	put_text(object, "queue_id", event->queue_id);
	put_text(object, "ident", event->ident);
	put_text(object, "message_id", event->message_id);
	put_text(object, "run", event->run);
	put_text(object, "sender", event->sender);
	put_text(object, "backend", event->backend);
	put_text(object, "phase", delivery_phase_name(event->phase));
	put_text(object, "ending", delivery_ending_name(event->ending));
	put_number(object, "content_bytes", event->content_bytes);
	put_number(object, "stamps_seen", event->stamps_seen);
	json_object_set_new(object, "stamps", from_leg_stamps(event));
	for (size_t i = 0; i < event->recipient_count; i++)
		json_array_append_new(
		    recipients, from_leg_recipient(&event->recipients[i]));
	json_object_set_new(object, "recipients", recipients);
	return object;
}

static json_t *
from_client(const struct message_event *event)
{
	json_t *object = json_object();
	json_t *tls = json_object();

	put_text(object, "name", event->client_name);
	put_text(object, "address", event->client_address);
	put_number(object, "port", event->client_port);
	put_text(object, "helo", event->helo);
	put_text(tls, "version", event->tls_version);
	put_text(tls, "cipher", event->tls_cipher);
	json_object_set_new(object, "tls", tls);
	put_text(object, "sasl_method", event->sasl_method);
	put_text(object, "sasl_user", event->sasl_user);
	put_text(object, "daemon", event->daemon_name);
	return object;
}

static json_t *
from_stamps(const struct message_event *event)
{
	json_t *object = json_object();

	put_stamp(object, "connect", &event->connect_at);
	put_stamp(object, "helo", &event->helo_at);
	put_stamp(object, "mail", &event->mail_at);
	put_stamp(object, "data", &event->data_at);
	put_stamp(object, "content", &event->content_at);
	put_stamp(object, "eom", &event->eom_at);
	put_stamp(object, "end", &event->end_at);
	return object;
}

static void
put_event(json_t *object, const struct message_event *event)
{
	put_uuid(object, "id", &event->id);
	put_uuid(object, "previous", &event->previous);
	put_text(object, "queue_id", event->queue_id);
	put_text(object, "message_id", event->message_id);
	put_text(object, "run", event->run);
	put_text(object, "sender", event->sender);
	put_number(object, "session", event->session);
	put_number(object, "sequence", event->sequence);
	put_number(object, "declared_bytes", event->declared_bytes);
	put_number(object, "forged_stamps", event->forged_stamps);
	put_number(object, "recipients_omitted", event->recipients_omitted);
	put_text(object, "ending", message_ending_name(event->ending));
	put_text(object, "phase", message_phase_name(event->phase));
	json_object_set_new(object, "client", from_client(event));
	json_object_set_new(object, "stamps", from_stamps(event));
}

static json_t *
from_attempts(const struct message_record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->attempt_count; i++)
		json_array_append_new(
		    array, from_attempt(&record->attempts[i], record));
	return array;
}

static json_t *
from_queue_ids(const struct message_record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->queue_id_count; i++)
		json_array_append_new(array, from_text(record->queue_ids[i]));
	return array;
}

/* An operator's word, which has one clock. */
static json_t *
from_operations(const struct message_record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->operation_count; i++) {
		const struct operation_record *operation =
		    &record->operations[i];
		const struct stamp at = {.wall_ns = operation->wall_ns};
		json_t *object = json_object();

		put_text(object, "kind", operation_kind_name(operation->kind));
		put_stamp(object, "at", &at);
		put_text(object, "who", operation->who);
		put_text(object, "comment", operation->comment);
		json_array_append_new(array, object);
	}
	return array;
}

static void
put_size(json_t *object, uint64_t size_bytes)
{
	json_object_set_new(object, "size_bytes",
	    size_bytes != 0 ? json_integer((json_int_t)size_bytes)
			    : json_null());
}

char *
timeline_json(const struct timeline *timeline)
{
	const struct message_record *record = timeline->record;
	json_t *object = json_object();
	json_t *recipients = json_array(), *legs = json_array();
	char *text;

	put_event(object, &record->event);
	put_text(object, "instance", record->instance);
	json_object_set_new(object, "queue_ids", from_queue_ids(record));
	put_size(object, record->size_bytes);
	json_object_set_new(object, "phases",
	    from_phases(timeline->phases, timeline->phase_count));
	for (size_t i = 0; i < timeline->recipient_count; i++)
		json_array_append_new(
		    recipients, from_recipient(&timeline->recipients[i]));
	json_object_set_new(object, "recipients", recipients);
	for (size_t i = 0; i < record->leg_count; i++)
		json_array_append_new(legs, from_leg(&record->legs[i]));
	json_object_set_new(object, "legs", legs);
	json_object_set_new(object, "attempts", from_attempts(record));
	json_object_set_new(object, "operations", from_operations(record));
	text = json_dumps(
	    object, JSON_INDENT(2) | JSON_REAL_PRECISION(SIGNIFICANT_DIGITS));
	json_decref(object);
	return text != NULL ? text : memory_string("{}");
}

int
timelines_json(const struct message_record *records, size_t count,
    struct arena *arena, struct buffer *out)
{
	for (size_t i = 0; i < count; i++) {
		struct timeline *timeline = timeline_build(&records[i], arena);
		char *json;

		if (timeline == NULL)
			return -1;
		json = timeline_json(timeline);
		buffer_append_string(out, i > 0 ? ",\n" : "\n");
		buffer_append_string(out, json);
		free(json);
	}
	return 0;
}

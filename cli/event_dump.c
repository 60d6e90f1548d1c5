/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event becomes a JSON object, by the lists of proto/event_fields.h; the
 * text form is that object made flat. Called by `postlag journal dump`.
 */
#include "cli/event_dump.h"

#include "base/memory.h"
#include "base/text.h"
#include "proto/event_fields.h"
#include "proto/producer_counter.h"
#include "proto/segment_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* JSON. */

/* A copy in which what is not UTF-8 is replaced; to be freed. */
static char *
utf8(const char *text)
{
	size_t size = strlen(text), step;
	char *copy = memory_zeroed(size + 1, strlen(REPLACEMENT)), *to = copy;

	for (size_t i = 0; i<size; i += step> 0 ? step : 1) {
		step = text_character(text + i, size - i);
		if (step > 0)
			to = mempcpy(to, text + i, step);
		else
			to = stpcpy(to, REPLACEMENT);
	}
	return copy;
}

static void
add_TEXT(json_t *object, const char *name, const char *text)
{
	char *copy;

	if (text == NULL)
		return;
	copy = utf8(text);
	json_object_set_new(object, name, json_string(copy));
	free(copy);
}

#define add_WORD add_TEXT
#define add_ADDRESS add_TEXT

static void
add_UUID(json_t *object, const char *name, struct uuid uuid)
{
	char text[UUID_TEXT_SIZE];

	if (!uuid_is_set(&uuid))
		return;
	uuid_format(&uuid, text);
	json_object_set_new(object, name, json_string(text));
}

static void
add_U64(json_t *object, const char *name, uint64_t number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

#define add_U32 add_U64

static void
add_BOOL(json_t *object, const char *name, bool truth)
{
	json_object_set_new(object, name, json_boolean(truth));
}

static void
add_time(json_t *object, const char *name, int64_t wall_ns)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(wall_ns, text);
	json_object_set_new(object, name, json_string(text));
}

static void
add_NS(json_t *object, const char *name, int64_t wall_ns)
{
	if (wall_ns != 0)
		json_object_set_new(object, name, json_integer(wall_ns));
}

static void
add_STAMP(json_t *object, const char *name, struct stamp stamp)
{
	json_t *both;

	if (!stamp_is_set(&stamp))
		return;
	both = json_object();
	add_time(both, "time", stamp.wall_ns);
	add_NS(both, "wall_ns", stamp.wall_ns);
	add_NS(both, "monotonic_ns", stamp.monotonic_ns);
	json_object_set_new(object, name, both);
}

/* The members of *from, one call each. */
#define X(kind, member) add_##kind(object, #member, from->member);
#define ENUM(member, enumerators, name)                                        \
	add_TEXT(object, #member, name(from->member));

static void
add_REPLY(json_t *parent, const char *name, struct delivery_reply reply)
{
	const struct delivery_reply *from = &reply;
	json_t *object;

	if (reply.code == 0 && !stamp_is_set(&reply.at))
		return;
	object = json_object();
	DELIVERY_REPLY_FIELDS(X, ENUM)
	json_object_set_new(parent, name, object);
}

static json_t *
message_recipient_json(const struct message_recipient *from)
{
	json_t *object = json_object();

	MESSAGE_RECIPIENT_FIELDS(X, ENUM)
	return object;
}

static void
add_message(json_t *object, const struct message_event *from)
{
	json_t *recipients = json_array();

	MESSAGE_EVENT_FIELDS(X, ENUM)
	for (size_t i = 0; i < from->recipient_count; i++)
		json_array_append_new(
		    recipients, message_recipient_json(&from->recipients[i]));
	json_object_set_new(object, "recipients", recipients);
}

static json_t *
delivery_recipient_json(const struct delivery_recipient *from)
{
	json_t *object = json_object();

	DELIVERY_RECIPIENT_FIELDS(X, ENUM)
	return object;
}

static void
add_delivery(json_t *object, const struct delivery_event *from)
{
	json_t *recipients = json_array();

	DELIVERY_EVENT_FIELDS(X, ENUM)
	for (size_t i = 0; i < from->recipient_count; i++)
		json_array_append_new(
		    recipients, delivery_recipient_json(&from->recipients[i]));
	json_object_set_new(object, "recipients", recipients);
}

static void
add_heartbeat(json_t *object, const struct heartbeat_event *from)
{
	json_t *increases = json_object();

	HEARTBEAT_EVENT_FIELDS(X, ENUM)
	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		if (from->increases[i] != 0)
			add_U64(increases, producer_counter_name(i),
			    from->increases[i]);
	json_object_set_new(object, "increases", increases);
}

static void
add_operation(json_t *object, const struct operation_event *from)
{
	OPERATION_EVENT_FIELDS(X, ENUM)
}

#undef X
#undef ENUM

static json_t *
event_json(const struct journal_record *record)
{
	json_t *object = json_object();
	char segment[SEGMENT_NAME_SIZE];

	segment_name(record->position.segment, segment);
	switch (record->event.type) {
	case EVENT_MESSAGE:
		add_TEXT(object, "type", "message");
		add_message(object, &record->event.message);
		break;
	case EVENT_DELIVERY:
		add_TEXT(object, "type", "delivery");
		add_delivery(object, &record->event.delivery);
		break;
	case EVENT_HEARTBEAT:
		add_TEXT(object, "type", "heartbeat");
		add_heartbeat(object, &record->event.heartbeat);
		break;
	case EVENT_OPERATION:
		add_TEXT(object, "type", "operation");
		add_operation(object, &record->event.operation);
		break;
	case EVENT_NONE:
		break;
	}
	add_TEXT(object, "source", record->segment->source);
	add_TEXT(object, "instance", record->segment->instance);
	add_TEXT(object, "segment", segment);
	add_U64(object, "offset", record->offset);
	return object;
}

void
event_dump_json(FILE *out, const struct journal_record *record)
{
	json_t *object = event_json(record);

	json_dumpf(object, out, JSON_COMPACT);
	fputc('\n', out);
	json_decref(object);
}

/* Text. */

/* The control character (C0, DEL, C1) at the front of UTF-8, else 0. */
static unsigned
control_character(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return text[0];
	if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0)
		return text[1];
	return 0;
}

static bool
needs_quotes(const char *text)
{
	if (text[0] == '\0' || strpbrk(text, " \"\\=") != NULL)
		return true;
	for (; *text != '\0'; text++)
		if (control_character((const unsigned char *)text) != 0)
			return true;
	return false;
}

static void
print_quoted(FILE *out, const char *text)
{
	unsigned control;

	fputc('"', out);
	for (; *text != '\0'; text++) {
		control = control_character((const unsigned char *)text);
		if (control == '\n') {
			fputs("\\n", out);
		} else if (control != 0) {
			fprintf(out, "\\x%02x", control);
			if (control >= 0x80)
				text++;
		} else {
			if (*text == '"' || *text == '\\')
				fputc('\\', out);
			fputc(*text, out);
		}
	}
	fputc('"', out);
}

static void
print_string(FILE *out, const char *name, const char *text)
{
	fprintf(out, " %s=", name);
	if (needs_quotes(text))
		print_quoted(out, text);
	else
		fputs(text, out);
}

static void print_value(FILE *out, const char *name, json_t *value);

static void
print_array(FILE *out, const char *name, json_t *array)
{
	size_t i;
	json_t *value;

	json_array_foreach(array, i, value)
	{
		char *longer = memory_format("%s[%zu]", name, i);

		print_value(out, longer, value);
		free(longer);
	}
}

static void
print_object(FILE *out, const char *name, json_t *object)
{
	json_t *value, *time = json_object_get(object, "time");
	const char *key;

	if (time != NULL) {
		print_value(out, name, time);
		return;
	}
	json_object_foreach(object, key, value)
	{
		char *longer = name[0] != '\0'
				   ? memory_format("%s.%s", name, key)
				   : memory_string(key);

		print_value(out, longer, value);
		free(longer);
	}
}

static void
print_value(FILE *out, const char *name, json_t *value)
{
	if (json_is_object(value))
		print_object(out, name, value);
	else if (json_is_array(value))
		print_array(out, name, value);
	else if (json_is_string(value))
		print_string(out, name, json_string_value(value));
	else if (json_is_true(value))
		fprintf(out, " %s=yes", name);
	else if (json_integer_value(value) != 0)
		fprintf(out, " %s=%" JSON_INTEGER_FORMAT, name,
		    json_integer_value(value));
}

void
event_dump_text(FILE *out, const struct journal_record *record)
{
	json_t *object = event_json(record);

	fputs(json_string_value(json_object_get(object, "type")), out);
	json_object_del(object, "type");
	print_object(out, "", object);
	fputc('\n', out);
	json_decref(object);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Events as bytes and back; what other versions write does no harm. */
#include "proto/event_codec.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "proto/event.h"
#include "proto/producer_counter.h"
#include "proto/segment.h"

#include <string.h>

#include "tests/lib/unit.h"

#define EIGHT_BIT "\xff\x80 \xc3\xa9\x01\n\t\"\\"

struct codec {
	struct arena *scratch;
	struct arena *arena;
	struct buffer bytes;
	struct event event; /* decoded */
};

static int
setup(void **state)
{
	static struct codec codec;

	codec =
	    (struct codec){arena_new(1 << 20), arena_new(1 << 20), {0}, {0}};
	*state = &codec;
	return 0;
}

static int
teardown(void **state)
{
	struct codec *codec = *state;

	arena_free(&codec->scratch);
	arena_free(&codec->arena);
	buffer_free(&codec->bytes);
	return 0;
}

static const struct event *
round_trip(struct codec *codec, const struct event *event)
{
	struct reason reason = {""};

	arena_reset(codec->scratch);
	arena_reset(codec->arena);
	buffer_clear(&codec->bytes);
	assert_int_equal(event_encode(event, codec->scratch, &codec->bytes), 0);
	if (event_decode(codec->bytes.data, codec->bytes.size, codec->arena,
		&codec->event, &reason) != 0)
		fail_msg("%s", reason.text);
	return &codec->event;
}

/* Decodes hand-made bytes. */
static int
decode(struct codec *codec, const void *bytes, size_t size)
{
	struct reason reason;

	arena_reset(codec->arena);
	return event_decode(bytes, size, codec->arena, &codec->event, &reason);
}

static void
assert_stamp(struct stamp got, struct stamp wanted)
{
	assert_true(got.wall_ns == wanted.wall_ns);
	assert_true(got.monotonic_ns == wanted.monotonic_ns);
}

static void
assert_text(const char *got, const char *wanted)
{
	if (wanted == NULL)
		assert_null(got);
	else
		assert_string_equal(got, wanted);
}

static const struct message_event full_message = {
    .id.bytes = {1, 2, 3},
    .previous.bytes = {9},
    .ending = MESSAGE_ENDING_CLOSED,
    .phase = MESSAGE_PHASE_EOM,
    .queue_id = "4Kt8Fh2vZlz9",
    .message_id = "<" EIGHT_BIT "@x>",
    .run = "run 1",
    .sender = "s@example.com",
    .session = UINT64_MAX,
    .sequence = UINT32_MAX,
    .forged_stamps = 3,
    .declared_bytes = UINT64_MAX - 1,
    .client_name = "mail.example.com",
    .client_address = "2001:db8::1",
    .client_port = 65535,
    .helo = EIGHT_BIT,
    .daemon_name = "smtpd",
    .tls_version = "TLSv1.3",
    .tls_cipher = "TLS_AES_256_GCM_SHA384",
    .sasl_method = "PLAIN",
    .sasl_user = "user",
    .connect_at = {INT64_MIN, INT64_MAX},
    .helo_at = {-1, 1},
    .mail_at = {3, 0},
    .data_at = {0, 4},
    .content_at = {5, 5},
    .eom_at = {6, 6},
    .end_at = {7, 7},
    .recipients_omitted = 12,
};

static void
assert_message(
    const struct message_event *got, const struct message_event *want)
{
	assert_true(uuid_equal(&got->id, &want->id));
	assert_true(uuid_equal(&got->previous, &want->previous));
	assert_int_equal(got->ending, want->ending);
	assert_int_equal(got->phase, want->phase);
	assert_text(got->queue_id, want->queue_id);
	assert_text(got->message_id, want->message_id);
	assert_text(got->run, want->run);
	assert_text(got->sender, want->sender);
	assert_true(got->session == want->session);
	assert_true(got->sequence == want->sequence);
	assert_true(got->forged_stamps == want->forged_stamps);
	assert_true(got->declared_bytes == want->declared_bytes);
	assert_text(got->client_name, want->client_name);
	assert_text(got->client_address, want->client_address);
	assert_true(got->client_port == want->client_port);
	assert_text(got->helo, want->helo);
	assert_text(got->daemon_name, want->daemon_name);
	assert_text(got->tls_version, want->tls_version);
	assert_text(got->tls_cipher, want->tls_cipher);
	assert_text(got->sasl_method, want->sasl_method);
	assert_text(got->sasl_user, want->sasl_user);
	assert_stamp(got->connect_at, want->connect_at);
	assert_stamp(got->helo_at, want->helo_at);
	assert_stamp(got->mail_at, want->mail_at);
	assert_stamp(got->data_at, want->data_at);
	assert_stamp(got->content_at, want->content_at);
	assert_stamp(got->eom_at, want->eom_at);
	assert_stamp(got->end_at, want->end_at);
	assert_int_equal(got->recipient_count, want->recipient_count);
	assert_true(got->recipients_omitted == want->recipients_omitted);
}

static void
a_full_message_comes_back(void **state)
{
	struct message_recipient recipients[3] = {
	    {"a@example.org", {1, 2}, false, NULL, NULL},
	    {EIGHT_BIT, {3, 4}, true, "5.1.1", "no such user"},
	    {"", {0, 0}, true, NULL, NULL},
	};
	struct event event = {EVENT_MESSAGE, .message = full_message};
	const struct event *got;

	event.message.recipients = recipients;
	event.message.recipient_count = COUNT(recipients);
	got = round_trip(*state, &event);
	assert_int_equal(got->type, EVENT_MESSAGE);
	assert_message(&got->message, &event.message);
	for (size_t i = 0; i < COUNT(recipients); i++) {
		const struct message_recipient *to =
		    &got->message.recipients[i];

		assert_text(to->address, recipients[i].address);
		assert_stamp(to->rcpt_at, recipients[i].rcpt_at);
		assert_int_equal(to->rejected, recipients[i].rejected);
		assert_text(to->reject_dsn, recipients[i].reject_dsn);
		assert_text(to->reject_text, recipients[i].reject_text);
	}
}

static void
an_empty_message_and_the_null_sender_stay_apart(void **state)
{
	struct event event = {.type = EVENT_MESSAGE};
	const struct event *got = round_trip(*state, &event);

	assert_int_equal(got->type, EVENT_MESSAGE);
	assert_message(&got->message, &event.message);
	assert_null(got->message.recipients);
	event.message.sender = "";
	got = round_trip(*state, &event);
	assert_message(&got->message, &event.message);
}

static const struct delivery_event full_delivery = {
    .id.bytes = {4, 5, 6},
    .part = 7,
    .ending = DELIVERY_ENDING_STOPPED,
    .phase = DELIVERY_PHASE_CONTENT_END,
    .queue_id = "ABCDEF",
    .ident = "ident",
    .message_id = "<m@x>",
    .run = EIGHT_BIT,
    .sender = "",
    .session = 1,
    .sequence = 2,
    .content_bytes = UINT64_MAX,
    .backend = "unix:/run/dovecot/lmtp",
    .stamps_seen = 2,
    .stamp_id.bytes = {8},
    .stamp_queue_id = "4Kt8Fh2vZlz9",
    .stamp_mail_wall_ns = -5,
    .connect_at = {1, 1},
    .mail_at = {2, 2},
    .data_at = {3, 3},
    .content_end_at = {4, 4},
    .end_at = {5, 5},
};

static void
assert_reply(struct delivery_reply got, struct delivery_reply want)
{
	assert_int_equal(got.code, want.code);
	assert_text(got.enhanced, want.enhanced);
	assert_text(got.text, want.text);
	assert_stamp(got.at, want.at);
}

static void
assert_delivery(
    const struct delivery_event *got, const struct delivery_event *want)
{
	assert_true(uuid_equal(&got->id, &want->id));
	assert_true(got->part == want->part);
	assert_int_equal(got->ending, want->ending);
	assert_int_equal(got->phase, want->phase);
	assert_text(got->queue_id, want->queue_id);
	assert_text(got->ident, want->ident);
	assert_text(got->message_id, want->message_id);
	assert_text(got->run, want->run);
	assert_text(got->sender, want->sender);
	assert_true(got->session == want->session);
	assert_true(got->sequence == want->sequence);
	assert_true(got->content_bytes == want->content_bytes);
	assert_text(got->backend, want->backend);
	assert_true(got->stamps_seen == want->stamps_seen);
	assert_true(uuid_equal(&got->stamp_id, &want->stamp_id));
	assert_text(got->stamp_queue_id, want->stamp_queue_id);
	assert_true(got->stamp_mail_wall_ns == want->stamp_mail_wall_ns);
	assert_stamp(got->connect_at, want->connect_at);
	assert_stamp(got->mail_at, want->mail_at);
	assert_stamp(got->data_at, want->data_at);
	assert_stamp(got->content_end_at, want->content_end_at);
	assert_stamp(got->end_at, want->end_at);
	assert_int_equal(got->recipient_count, want->recipient_count);
}

static void
a_full_delivery_comes_back(void **state)
{
	struct delivery_recipient recipients[3] = {
	    {"a@example.org", 0, {1, 2}, {250, "2.1.5", "OK", {3, 4}},
		{250, "2.0.0", "two\nlines", {5, 6}}},
	    {"a@example.org", 1, {7, 8}, {550, NULL, EIGHT_BIT, {9, 10}},
		{0, NULL, NULL, {0, 0}}},
	    {"", 2, {0, 0}, {0, NULL, NULL, {0, 0}}, {0, NULL, NULL, {11, 0}}},
	};
	struct event event = {EVENT_DELIVERY, .delivery = full_delivery};
	const struct event *got;

	event.delivery.recipients = recipients;
	event.delivery.recipient_count = COUNT(recipients);
	got = round_trip(*state, &event);
	assert_int_equal(got->type, EVENT_DELIVERY);
	assert_delivery(&got->delivery, &event.delivery);
	for (size_t i = 0; i < COUNT(recipients); i++) {
		const struct delivery_recipient *to =
		    &got->delivery.recipients[i];

		assert_text(to->address, recipients[i].address);
		assert_int_equal(to->position, recipients[i].position);
		assert_stamp(to->rcpt_at, recipients[i].rcpt_at);
		assert_reply(to->envelope, recipients[i].envelope);
		assert_reply(to->final, recipients[i].final);
	}
}

static void
an_empty_delivery_comes_back(void **state)
{
	struct event event = {.type = EVENT_DELIVERY};
	const struct event *got = round_trip(*state, &event);

	assert_int_equal(got->type, EVENT_DELIVERY);
	assert_delivery(&got->delivery, &event.delivery);
}

static void
a_heartbeat_comes_back_with_and_without_increases(void **state)
{
	uint64_t increases[PRODUCER_COUNTERS];
	struct event event = {.type = EVENT_HEARTBEAT};
	struct codec *codec = *state;
	const struct event *got;

	for (unsigned i = 0; i < PRODUCER_COUNTERS; i++)
		increases[i] = i % 3 == 0 ? 0 : UINT64_MAX - i;
	event.heartbeat.at = (struct stamp){1, 2};
	event.heartbeat.start = true;
	event.heartbeat.increases = increases;
	got = round_trip(codec, &event);
	assert_int_equal(got->type, EVENT_HEARTBEAT);
	assert_stamp(got->heartbeat.at, event.heartbeat.at);
	assert_true(got->heartbeat.start);
	assert_memory_equal(
	    got->heartbeat.increases, increases, sizeof(increases));
	memset(increases, 0, sizeof(increases));
	got = round_trip(codec, &event);
	assert_memory_equal(
	    got->heartbeat.increases, increases, sizeof(increases));
	assert_true(codec->bytes.size < 32);
	event.heartbeat.increases = NULL;
	got = round_trip(codec, &event);
	assert_memory_equal(
	    got->heartbeat.increases, increases, sizeof(increases));
}

static void
an_operation_comes_back_full_and_empty(void **state)
{
	struct event event = {.type = EVENT_OPERATION};
	struct operation_event *operation = &event.operation;
	const struct event *got = round_trip(*state, &event);

	assert_int_equal(got->type, EVENT_OPERATION);
	assert_int_equal(got->operation.kind, OPERATION_NONE);
	assert_false(uuid_is_set(&got->operation.message));
	assert_null(got->operation.who);
	operation->kind = OPERATION_ACKNOWLEDGE;
	operation->at = (struct stamp){INT64_MAX, -1};
	operation->message = (struct uuid){{1, 2, 3}};
	operation->who = "root";
	operation->comment = EIGHT_BIT;
	got = round_trip(*state, &event);
	assert_int_equal(got->operation.kind, OPERATION_ACKNOWLEDGE);
	assert_stamp(got->operation.at, operation->at);
	assert_true(uuid_equal(&got->operation.message, &operation->message));
	assert_text(got->operation.who, "root");
	assert_text(got->operation.comment, EIGHT_BIT);
}

static void
a_segment_header_comes_back(void **state)
{
	struct codec *codec = *state;
	struct segment_header got,
	    header = {1, "milter", "mx.example.com", {1, 2, 3}, {4, 5},
		UINT64_MAX, "postlag-milter 0.1.0"};

	assert_int_equal(
	    segment_header_encode(&header, codec->scratch, &codec->bytes), 0);
	assert_int_equal(segment_header_decode(codec->bytes.data,
			     codec->bytes.size, codec->arena, &got, NULL),
	    0);
	assert_int_equal(got.format, 1);
	assert_text(got.source, header.source);
	assert_text(got.instance, header.instance);
	assert_memory_equal(got.boot_id, header.boot_id, CLOCK_BOOT_ID_BYTES);
	assert_stamp(got.start, header.start);
	assert_true(got.checksum_seed == UINT64_MAX);
	assert_text(got.program, header.program);
}

/* Tags: field number << 3 | wire type (0 a number, 2 with a length). */
static void
what_a_newer_version_writes_is_passed_over(void **state)
{
	static const uint8_t unknown_field[] = {
	    0x0a, 9, 0x2a, 1, 'A', 0xfa, 0x3e, 1, 'x', 0x48, 5};
	static const uint8_t unknown_kind[] = {0x7a, 2, 'h', 'i'};
	static const uint8_t unknown_enums[] = {0x0a, 4, 0x18, 99, 0x20, 100};
	static const uint8_t unknown_counter[] = {
	    0x1a, 12, 0x1a, 4, 0x08, 99, 0x10, 1, 0x1a, 4, 0x08, 5, 0x10, 7};
	struct codec *codec = *state;
	const struct message_event *message = &codec->event.message;
	const struct heartbeat_event *heartbeat = &codec->event.heartbeat;

	assert_int_equal(
	    decode(codec, unknown_field, sizeof(unknown_field)), 0);
	assert_text(message->queue_id, "A");
	assert_int_equal(message->session, 5);
	assert_int_equal(decode(codec, unknown_kind, sizeof(unknown_kind)), 0);
	assert_int_equal(codec->event.type, EVENT_NONE);
	assert_int_equal(
	    decode(codec, unknown_enums, sizeof(unknown_enums)), 0);
	assert_int_equal(message->ending, MESSAGE_ENDING_NONE);
	assert_int_equal(message->phase, MESSAGE_PHASE_NONE);
	assert_int_equal(
	    decode(codec, unknown_counter, sizeof(unknown_counter)), 0);
	assert_int_equal(heartbeat->increases[PRODUCER_SESSIONS], 7);
	assert_int_equal(heartbeat->increases[0], 0);
}

static void
what_cannot_be_an_id_or_a_text_is_made_harmless(void **state)
{
	/* An id of 3 bytes, a helo with NUL bytes, a queue id with one. */
	static const uint8_t bytes[] = {0x0a, 18, 0x0a, 3, 1, 2, 3, 0xba, 1, 5,
	    0, 'a', 0, 0, 'b', 0x2a, 3, 'A', 0, 'B'};
	struct codec *codec = *state;

	assert_int_equal(decode(codec, bytes, sizeof(bytes)), 0);
	assert_false(uuid_is_set(&codec->event.message.id));
	assert_text(codec->event.message.helo, "?a??b");
	assert_text(codec->event.message.queue_id, "A");
}

static void
bytes_that_are_no_event_are_refused(void **state)
{
	static const struct {
		uint8_t bytes[8];
		size_t size;
	} rows[] = {
	    {{0x0a}, 1},
	    {{0x0a, 0x05, 1}, 3},
	    {{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6},
	    {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 8},
	    {{0x0f}, 1},
	};
	struct codec *codec = *state;

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, decode(codec, rows[i].bytes, rows[i].size) == -1);
	assert_int_equal(decode(codec, "", 0), 0);
	assert_int_equal(codec->event.type, EVENT_NONE);
}

static void
too_little_memory_is_a_failure_both_ways(void **state)
{
	static char helo[5000];
	struct message_recipient recipients[20] = {{.rcpt_at = {1, 1}}};
	struct event event = {.type = EVENT_MESSAGE}, got;
	struct codec *codec = *state;
	struct buffer small = {.limit = 1000};
	struct arena *tight = arena_new(2000);

	memset(helo, 'h', sizeof(helo) - 1);
	event.message.helo = helo;
	for (size_t i = 0; i < COUNT(recipients); i++)
		recipients[i] = recipients[0];
	event.message.recipients = recipients;
	event.message.recipient_count = COUNT(recipients);
	round_trip(codec, &event);
	assert_int_equal(event_decode(codec->bytes.data, codec->bytes.size,
			     tight, &got, NULL),
	    -1);
	arena_reset(tight);
	assert_int_equal(event_encode(&event, tight, &codec->bytes), -1);
	arena_reset(codec->scratch);
	assert_int_equal(event_encode(&event, codec->scratch, &small), -1);
	arena_free(&tight);
	buffer_free(&small);
}

int
main(void)
{
#define CODEC_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    CODEC_TEST(a_full_message_comes_back),
	    CODEC_TEST(an_empty_message_and_the_null_sender_stay_apart),
	    CODEC_TEST(a_full_delivery_comes_back),
	    CODEC_TEST(an_empty_delivery_comes_back),
	    CODEC_TEST(a_heartbeat_comes_back_with_and_without_increases),
	    CODEC_TEST(an_operation_comes_back_full_and_empty),
	    CODEC_TEST(a_segment_header_comes_back),
	    CODEC_TEST(what_a_newer_version_writes_is_passed_over),
	    CODEC_TEST(what_cannot_be_an_id_or_a_text_is_made_harmless),
	    CODEC_TEST(bytes_that_are_no_event_are_refused),
	    CODEC_TEST(too_little_memory_is_a_failure_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

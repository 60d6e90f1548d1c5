/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_fixture: messages made up for text, and the files it is compared with.
 */
#ifndef TESTS_CLI_TEXT_FIXTURE_H
#define TESTS_CLI_TEXT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/text_page.h"
#include "store/timeline.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MAIL_WALL_NS INT64_C(1796024862123456000) /* 2026-11-30T07:47:42Z */
#define MAIL_MONOTONIC_NS (1000 * SECOND)

static const struct text_style wide = {.width = 80, .utf8 = true};

/* A message under construction. */
struct made {
	struct arena *arena;
	struct message_record record;
};

static inline struct stamp
at(int64_t ns)
{
	return (struct stamp){MAIL_WALL_NS + ns, MAIL_MONOTONIC_NS + ns};
}

static inline void
set_boot(uint8_t *boot_id, uint8_t value)
{
	memset(boot_id, value, CLOCK_BOOT_ID_BYTES);
}

static inline struct made
make(void)
{
	struct made made = {.arena = arena_new(16 << 20)};
	struct message_event *event = &made.record.event;

	assert_int_equal(0,
	    uuid_parse("019ad3c7-5c8b-7abc-8def-0123456789ab", 36, &event->id));
	event->ending = MESSAGE_ENDING_ACCEPTED;
	event->phase = MESSAGE_PHASE_EOM;
	event->queue_id = "4XyZab1234z5";
	event->message_id = "<20261130074742.1@client.example>";
	event->sender = "alice@client.example";
	event->client_name = "mail.client.example";
	event->client_address = "192.0.2.1";
	event->client_port = 54321;
	event->helo = "mail.client.example";
	event->tls_version = "TLSv1.3";
	event->tls_cipher = "TLS_AES_256_GCM_SHA384";
	event->declared_bytes = 12000;
	event->connect_at = at(-21 * MS);
	event->helo_at = at(-9 * MS);
	event->mail_at = at(0);
	event->data_at = at(3 * MS);
	event->content_at = at(3 * MS + 412000);
	event->eom_at = at(150 * MS);
	made.record.instance = "mx1.example";
	set_boot(made.record.boot_id, 1);
	return made;
}

static inline struct recipient_record *
add_recipient(
    struct made *made, const char *address, enum recipient_state state)
{
	struct recipient_record *recipient =
	    arena_append(made->arena, &made->record.recipients,
		&made->record.recipient_count, sizeof(*recipient));

	assert_non_null(recipient);
	recipient->address = arena_string(made->arena, address);
	recipient->state = state;
	recipient->expected = true;
	recipient->rcpt_at = at(1 * MS);
	recipient->leg = recipient->leg_recipient = -1;
	return recipient;
}

/* A delivery that began at `begin_ns`. */
static inline struct leg_record *
add_leg(struct made *made, int64_t begin_ns)
{
	struct leg_record *leg = arena_append(made->arena, &made->record.legs,
	    &made->record.leg_count, sizeof(*leg));

	assert_non_null(leg);
	leg->state = LEG_STAMPED;
	leg->instance = "mx1.example";
	set_boot(leg->boot_id, 1);
	leg->event.ending = DELIVERY_ENDING_COMPLETED;
	leg->event.phase = DELIVERY_PHASE_CONTENT_END;
	leg->event.queue_id = made->record.event.queue_id;
	leg->event.backend = "unix:/run/dovecot/lmtp";
	leg->event.content_bytes = 12345;
	leg->event.mail_at = at(begin_ns);
	leg->event.data_at = at(begin_ns + 2 * MS);
	leg->event.content_end_at = at(begin_ns + 5 * MS);
	return leg;
}

static inline struct delivery_recipient *
add_reply(struct made *made, struct leg_record *leg, const char *address,
    struct delivery_reply reply)
{
	struct delivery_recipient *recipient =
	    arena_append(made->arena, &leg->event.recipients,
		&leg->event.recipient_count, sizeof(*recipient));

	assert_non_null(recipient);
	recipient->address = arena_string(made->arena, address);
	recipient->position = (uint32_t)leg->event.recipient_count - 1;
	recipient->envelope =
	    (struct delivery_reply){250, "2.1.5", "Ok", leg->event.mail_at};
	recipient->final = reply;
	return recipient;
}

/* The recipient added last was decided by the last reply of `leg`. */
static inline void
decided(struct made *made, const struct leg_record *leg)
{
	struct recipient_record *recipient =
	    &made->record.recipients[made->record.recipient_count - 1];

	recipient->attempts = 1;
	recipient->leg = (int)(leg - made->record.legs);
	recipient->leg_recipient = (int)leg->event.recipient_count - 1;
}

static inline void
add_delivered(struct made *made, struct leg_record *leg, const char *address,
    int64_t reply_ns)
{
	char text[96];

	snprintf(text, sizeof(text), "<%s> aBcDeFg%zu Saved", address,
	    made->record.recipient_count);
	add_recipient(made, address, RECIPIENT_DELIVERED);
	add_reply(made, leg, address,
	    (struct delivery_reply){
		250, "2.0.0", arena_string(made->arena, text), at(reply_ns)});
	decided(made, leg);
}

/* A line of the log about the recipient added last. */
static inline void
add_attempt(struct made *made, int64_t ns, struct attempt_record attempt)
{
	struct attempt_record *added =
	    arena_append(made->arena, &made->record.attempts,
		&made->record.attempt_count, sizeof(*added));

	assert_non_null(added);
	*added = attempt;
	added->wall_ns = (MAIL_WALL_NS + ns) / SECOND * SECOND;
	added->recipient = (uint32_t)made->record.recipient_count - 1;
}

static const struct attempt_record sent = {
    .agent = "smtp",
    .relay = "mx.remote.example[203.0.113.7]:25",
    .dsn = "2.0.0",
    .status = "sent",
    .text = "250 2.0.0 Ok: queued as 9F1E2D3C4B",
};
static const struct attempt_record busy = {
    .agent = "lmtp",
    .relay = "127.0.0.1[127.0.0.1]:24",
    .dsn = "4.2.0",
    .status = "deferred",
    .text = "host 127.0.0.1[127.0.0.1] said: 451 4.2.0 Mailbox busy (in "
	    "reply to end of DATA command)",
};
static const struct attempt_record filtered = {
    .agent = "pipe",
    .relay = "spamfilter",
    .dsn = "2.0.0",
    .status = "sent",
    .text = "delivered via spamfilter service",
};

static inline char *
reference(const char *name)
{
	static char text[1 << 16];
	char path[256];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "tests/cli/%s.ref", name);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	return text;
}

static inline void
write_reference(const char *name, const struct buffer *out)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "tests/cli/%s.ref", name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(out->data, 1, out->size, file);
	fclose(file);
}

/* Compares with tests/cli/NAME.ref, or writes it with POSTLAG_WRITE_REF in the
 * environment. */
static inline void
expect_text(const char *name, struct buffer *out)
{
	if (getenv("POSTLAG_WRITE_REF") != NULL)
		write_reference(name, out);
	buffer_append(out, "", 1);
	assert_string_equal((const char *)out->data, reference(name));
	buffer_free(out);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mail: messages to measure with, and their deliveries, made from a number: the
 * same number gives the same message.
 *
 * They lie evenly over a span of time; 1.2 recipients each, addresses and
 * senders out of skewed pools.
 */
#ifndef TESTS_BENCH_MAIL_H
#define TESTS_BENCH_MAIL_H

#include "proto/event.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* To be set first. */
static long message_count;
static int64_t mail_start_ns, mail_span_ns;

static inline uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* One out of `count`, the first ones far more often. */
static inline unsigned
skewed(uint64_t seed, unsigned count)
{
	double r = (double)(mix(seed) >> 11) / 9007199254740992.0;

	return (unsigned)(r * r * r * r * r * count);
}

struct mail {
	struct message_event message;
	struct message_recipient recipients[2];
	struct delivery_event delivery;
	struct delivery_recipient delivered[2];
	char queue_id[32], message_id[96], sender[64], helo[64], client[32];
	char addresses[2][64], texts[2][128];
};

static inline struct stamp
stamp_at(int64_t wall_ns, uint64_t seed)
{
	return (struct stamp){wall_ns,
	    wall_ns - mail_start_ns + (int64_t)(mix(seed) % 90) + 5000};
}

static inline struct uuid
make_id(int64_t wall_ns, uint64_t seed)
{
	uint64_t ms = (uint64_t)(wall_ns / 1000000), random = mix(seed);
	struct uuid id;

	memcpy(id.bytes + 8, &random, 8);
	for (int i = 0; i < 6; i++)
		id.bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
	id.bytes[6] = 0x70 | (random & 15);
	id.bytes[7] = (uint8_t)(random >> 8);
	id.bytes[8] = (id.bytes[8] & 0x3f) | 0x80;
	return id;
}

/* A long one, as Postfix makes it: seconds in six digits, microseconds in
 * four, 'z', and the number of the file in a smaller base. */
static inline void
make_queue_id(struct mail *mail, int64_t wall_ns, uint64_t n)
{
	static const char digits[] =
	    "0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz";
	const struct {
		uint64_t value;
		unsigned base, size;
	} parts[] = {{(uint64_t)(wall_ns / 1000000000), 52, 6},
	    {(uint64_t)(wall_ns / 1000 % 1000000), 52, 4},
	    {1000000 + mix(n) % 1000, 51, 4}};
	char *at = mail->queue_id;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t value = parts[i].value;

		if (parts[i].base == 51)
			*at++ = 'z';
		for (unsigned digit = parts[i].size; digit-- > 0;) {
			at[digit] = digits[value % parts[i].base];
			value /= parts[i].base;
		}
		at += parts[i].size;
	}
	*at = '\0';
}

static inline void
make_texts(struct mail *mail, uint64_t n)
{
	uint64_t r = mix(n * 5 + 1);
	unsigned sender = skewed(n * 5 + 2, 50000);

	snprintf(mail->message_id, sizeof(mail->message_id),
	    "<20261130.%016llx@mail%u.sender%u.example>", (unsigned long long)r,
	    sender % 3, sender % 5000);
	snprintf(mail->sender, sizeof(mail->sender),
	    "bounce+%u@sender%u.example", sender, sender % 5000);
	snprintf(mail->helo, sizeof(mail->helo), "mail%u.sender%u.example",
	    sender % 3, sender % 5000);
	snprintf(mail->client, sizeof(mail->client), "198.51.%u.%u",
	    sender % 200, sender % 250);
}

static inline void
make_message(struct mail *mail, uint64_t n)
{
	int64_t at = mail_start_ns +
		     (int64_t)((double)mail_span_ns * (double)n /
			       (double)message_count) +
		     (int64_t)(mix(n) % 100000);
	struct message_event *event = &mail->message;

	memset(mail, 0, sizeof(*mail));
	make_texts(mail, n);
	make_queue_id(mail, at, n);
	*event = (struct message_event){.id = make_id(at, n * 3),
	    .ending = MESSAGE_ENDING_ACCEPTED,
	    .phase = MESSAGE_PHASE_EOM,
	    .queue_id = mail->queue_id,
	    .message_id = mail->message_id,
	    .sender = mail->sender,
	    .session = n * 2 / 3,
	    .sequence = 1,
	    .declared_bytes = mix(n * 5 + 3) % 200000,
	    .client_name = mail->helo,
	    .client_address = mail->client,
	    .client_port = (uint32_t)(1024 + mix(n * 5 + 4) % 60000),
	    .helo = mail->helo,
	    .daemon_name = "smtpd",
	    .tls_version = "TLSv1.3",
	    .tls_cipher = "TLS_AES_256_GCM_SHA384",
	    .connect_at = stamp_at(at - 90000000, n * 16),
	    .helo_at = stamp_at(at - 40000000, n * 16 + 1),
	    .mail_at = stamp_at(at, n * 16 + 2),
	    .data_at = stamp_at(at + 30000000, n * 16 + 3),
	    .content_at = stamp_at(at + 70000000, n * 16 + 4),
	    .eom_at = stamp_at(at + 71000000, n * 16 + 5),
	    .recipients = mail->recipients,
	    .recipient_count = n % 5 == 0 ? 2 : 1};
	for (uint64_t i = 0; i < event->recipient_count; i++) {
		unsigned user = skewed(n * 5 + 6 + i, 200000);

		snprintf(mail->addresses[i], sizeof(mail->addresses[i]),
		    "firstname.lastname%u@domain%u.example", user,
		    user % 20000);
		mail->recipients[i].address = mail->addresses[i];
		mail->recipients[i].rcpt_at =
		    stamp_at(at + 15000000 + (int64_t)i * 9000000, n * 16 + 6);
	}
}

static inline void
make_delivery(struct mail *mail, uint64_t n)
{
	const struct message_event *message = &mail->message;
	int64_t at = message->eom_at.wall_ns + 20000000 +
		     (int64_t)(mix(n * 7) % 100000000);

	mail->delivery = (struct delivery_event){.id = make_id(at, n * 3 + 1),
	    .ending = DELIVERY_ENDING_COMPLETED,
	    .phase = DELIVERY_PHASE_CONTENT_END,
	    .queue_id = mail->queue_id,
	    .ident = mail->queue_id,
	    .message_id = mail->message_id,
	    .sender = mail->sender,
	    .session = n,
	    .sequence = 1,
	    .content_bytes = message->declared_bytes + 321,
	    .backend = "unix:/run/dovecot/lmtp",
	    .stamps_seen = 1,
	    .stamp_id = message->id,
	    .stamp_queue_id = mail->queue_id,
	    .stamp_mail_wall_ns = message->mail_at.wall_ns / 1000 * 1000,
	    .connect_at = stamp_at(at - 1000000, n * 16 + 7),
	    .mail_at = stamp_at(at, n * 16 + 8),
	    .data_at = stamp_at(at + 3000000, n * 16 + 9),
	    .content_end_at = stamp_at(at + 5000000, n * 16 + 10),
	    .end_at = stamp_at(at + 21000000, n * 16 + 11),
	    .recipients = mail->delivered,
	    .recipient_count = message->recipient_count};
	for (uint64_t i = 0; i < message->recipient_count; i++) {
		snprintf(mail->texts[i], sizeof(mail->texts[i]),
		    "<%s> %016llx%04llx Saved", mail->addresses[i],
		    (unsigned long long)mix(n * 9),
		    (unsigned long long)mix(n * 9 + 1) % 65536);
		mail->delivered[i] =
		    (struct delivery_recipient){.address = mail->addresses[i],
			.position = (uint32_t)i,
			.rcpt_at = stamp_at(at + 1000000, n * 16 + 12),
			.envelope = {250, "2.1.5", "OK",
			    stamp_at(at + 2000000, n * 16 + 13)},
			.final = {250, "2.0.0", mail->texts[i],
			    stamp_at(at + 20000000, n * 16 + 14)}};
	}
}

#endif

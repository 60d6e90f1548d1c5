/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evidence: add to what is known of a message or recipient, and draw the
 * conclusions.
 *
 * The one way by which a recipient's state changes: bits are added in memory
 * and in the store, the state is fate_of() them, and what changes is counted.
 * The same evidence again changes nothing. All effects go to the message's
 * file. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_EVIDENCE_H
#define EXPORTER_JOIN_EVIDENCE_H

#include "exporter/join/fate.h"
#include "exporter/metrics/metric_labels.h"

#include <stdint.h>

struct open_message;
struct open_messages;
struct reason;
struct tracked;

/* Whom it is about. */
struct subject {
	struct open_messages *messages;
	struct tracked *tracked;
};

struct message_news {
	uint32_t set;
	uint32_t clear;
	uint64_t size_bytes;       /* 0: nothing new */
	uint32_t queue_recipients; /* see record.h; 0: nothing new */
	int64_t wall_ns;           /* when that was; 0: nobody knows */
};

/* Returns 0, or -1 when the store failed. */
int evidence_of_message(const struct subject *subject,
    const struct message_news *news, struct reason *reason);

struct recipient_news {
	uint32_t set;
	uint32_t attempts; /* how many more */
	int64_t leg_row;   /* of the delivery that decides; 0: as it was */
	uint32_t leg_position;
	const char *original; /* NULL: as it was */
	int64_t wall_ns;      /* when that was; 0: nobody knows */
};

int evidence_of_recipient(const struct subject *subject, uint32_t number,
    const struct recipient_news *news, struct reason *reason);

/* Adds a recipient, which gets the next number. */
int evidence_new_recipient(const struct subject *subject, const char *address,
    const struct recipient_news *news, struct reason *reason);

bool evidence_has_ghost(const struct open_message *message);

/* The bits that follow from what else is known of a message that was read from
 * the store, which need not be stored. */
void evidence_complete(struct open_message *message);

/* What the event itself says. */
uint32_t evidence_by_ending(enum message_ending ending);
uint32_t evidence_by_envelope(bool rejected);

#endif

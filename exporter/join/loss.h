/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss: look for the queue files of messages that nothing is heard of.
 *
 * What was accepted and has not ended is in the queue, or it is lost (was never
 * queued: a ghost). A message that has been silent for long enough is looked
 * for; found again and again absent, it is MESSAGE_ABSENT, which is taken back
 * when it is seen. How many are asked about a second is bounded, whatever the
 * size of the queue. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_LOSS_H
#define EXPORTER_JOIN_LOSS_H

#include "base/clock.h"
#include "exporter/metrics/metric_labels.h"
#include "exporter/queue/queue_find.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_trust;
struct loss;
struct open_messages;
struct queue_lookup;
struct reason;

struct loss_settings {
	int64_t after_ns;       /* of silence, and of age, before a loss */
	int64_t confirm_ns;     /* between the first absence and the last */
	int64_t ghost_after_ns; /* the same, where a queue file never was */
	int64_t looks_per_second;
};

/* `lookup` and `trust` are borrowed. Without a lookup (NULL) nothing is ever
 * absent; without a log to trust (NULL) nothing is ever lost. */
struct loss *loss_new(const struct loss_settings *settings,
    struct queue_lookup *lookup, const struct log_trust *trust);
void loss_free(struct loss **loss);

/* Asks about those messages whose time has come and takes the answers that are
 * there. Changes nothing but when to look next. To be called once before there
 * are messages, then each time before the sources are read. */
void loss_look(
    struct loss *loss, struct open_messages *messages, const struct stamp *now);

/* Whether loss_apply() has something to do. */
bool loss_has_answers(const struct loss *loss);

/* Draws the conclusions from the answers. Only to be called when every source
 * has been read to its end since loss_look(). Returns 0, or -1 when the store
 * failed. */
int loss_apply(struct loss *loss, struct open_messages *messages,
    const struct stamp *now, struct reason *reason);

/* When loss_look() is due again, on CLOCK_MONOTONIC; 0: never. And what to
 * poll(2) for reading meanwhile; -1 where there is nothing. */
int64_t loss_deadline(const struct loss *loss, struct open_messages *messages);
#define LOSS_FDS 2
void loss_fds(const struct loss *loss, int fds_r[LOSS_FDS]);

/* Whether losses are found now. */
enum loss_detection loss_detection(const struct loss *loss, int64_t wall_ns);

/* Answers so far, by enum queue_place. */
const uint64_t *loss_answers(const struct loss *loss);

#endif

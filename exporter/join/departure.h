/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * departure: note that a recipient has left the queue after waiting in it.
 *
 * Who was never deferred and left within a minute did not wait. It is what the
 * time that a queue takes to drain is estimated from, and exact no more than
 * that: which source told first may move it by a minute. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_DEPARTURE_H
#define EXPORTER_JOIN_DEPARTURE_H

#include "store/record.h"

#include <stdint.h>

struct open_message;
struct reason;

/* Recipient `number`, which is about to be in state `to`, is so since `wall_ns`
 * (0: nobody knows). Returns 0, or -1 when the store failed. */
int departure_note(const struct open_message *message, uint32_t number,
    enum recipient_state to, int64_t wall_ns, struct reason *reason);

#endif

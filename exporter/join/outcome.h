/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outcome: what a delivery's replies mean for the recipients.
 *
 * A final 2xx delivers, a final 5xx or one to RCPT TO bounces, everything else
 * defers. A recipient is delivered once; what comes after is a duplicate. All
 * effects go to the leg's file, which is the message's. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_OUTCOME_H
#define EXPORTER_JOIN_OUTCOME_H

#include "exporter/maillog/maillog_view.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct lmtp_sessions;
struct open_messages;
struct reason;
struct tracked;

/* A leg that is in the store, and one part of its event. */
struct outcome_leg {
	const struct delivery_event *event;
	const uint8_t *boot_id;
	struct day_file *file;
	int64_t row;
	struct lmtp_sessions *sessions; /* NULL: nobody asks for them */
	bool is_retold;                 /* its attempts are counted */
	bool is_observed;               /* and so are its latencies */
	/* From then on the log counts who is deferred; see log_boundary.h. */
	int64_t counted_by_log_wall_ns;
};

/* Applies the replies to the recipients of `message` that they are about:
 * those of the same address, local part compared exactly, if need be without
 * case; for an address named several times each its own. An address that the
 * message has not (an alias was expanded) is added. Returns 0, or -1 when the
 * store failed. */
int outcome_apply(struct open_messages *messages, struct tracked *message,
    const struct outcome_leg *leg, struct arena *scratch,
    struct reason *reason);

/* The LMTP session of a good reply; empty: it names none. */
struct maillog_view outcome_session(const struct delivery_recipient *recipient);

/* Counts and tells the replies of a leg that belongs to no message. Returns 0,
 * or -1 when the store failed. */
int outcome_of_unjoined(const struct outcome_leg *leg, struct reason *reason);

#endif

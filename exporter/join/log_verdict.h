/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_verdict: what a line of Postfix's log means for a message or recipient.
 *
 * Pure functions of one line; the bits are those of fate.h. Any thread.
 */
#ifndef EXPORTER_JOIN_LOG_VERDICT_H
#define EXPORTER_JOIN_LOG_VERDICT_H

#include "exporter/maillog/maillog_record.h"

#include <stdint.h>

/* What a decision before the commit (a restriction, header check, milter, or
 * trouble with the queue file) says of the message; 0: nothing. */
uint32_t log_verdict_decision(const struct maillog_record *record);

/* What a delivery agent's line says of its recipient. */
struct log_delivery {
	uint32_t evidence; /* of the recipient; 0: unknown */
	/* Nothing was to be delivered: what the milter saw of it (sendmail
	 * -bv) is thrown away as intended. */
	bool is_probe;
	/* The mail may go on on this machine under MAILLOG_NEW_QUEUE_ID;
	 * evidence holds when nothing is known of that. */
	bool goes_on;
	bool is_forward; /* by local(8), within the same instance */
};

struct log_delivery log_verdict_delivery(const struct maillog_record *record);

/* Whether a host as in client= or relay= is this machine itself: its address
 * is a loopback address, or it is a socket. */
bool log_verdict_is_loopback(struct maillog_view peer);

#endif

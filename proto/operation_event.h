/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation_event: what an operator says of a message, by the command line.
 *
 * Part of event.h, whose rules hold.
 */
#ifndef PROTO_OPERATION_EVENT_H
#define PROTO_OPERATION_EVENT_H

#include "base/clock.h"
#include "base/uuid.h"

enum operation_kind {
	OPERATION_NONE,
	/* The message's recipients that are lost, or of which it cannot be
	 * decided what became, are accounted for. */
	OPERATION_ACKNOWLEDGE,
	OPERATION_KINDS
};

/* What an operator says of one message. */
struct operation_event {
	enum operation_kind kind;
	struct stamp at;
	struct uuid message;
	const char *who; /* login name */
	const char *comment;
};

const char *operation_kind_name(enum operation_kind kind);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation_event: what an operator says, by the command line.
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
	/* What is stored of `address`, and of no message in particular, is to
	 * be forgotten. Without an address nothing is: it only makes the
	 * journal's file before this one one that is removed. */
	OPERATION_FORGET,
	OPERATION_KINDS
};

/* What an operator says, mostly of one message. */
struct operation_event {
	enum operation_kind kind;
	struct stamp at;
	struct uuid message;
	const char *who; /* login name */
	const char *comment;
	const char *address;
};

const char *operation_kind_name(enum operation_kind kind);

#endif

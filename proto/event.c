/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of the event's enumerations, for the command line and JSON, and
 * what follows from its fields. Constant tables, any thread.
 */
#include "proto/event.h"

struct stamp
message_event_ended_at(const struct message_event *event)
{
	return stamp_is_set(&event->eom_at) ? event->eom_at : event->end_at;
}

static const char *
name_of(const char *const *names, unsigned count, unsigned value)
{
	return value < count ? names[value] : "unknown";
}

const char *
message_phase_name(enum message_phase phase)
{
	static const char *const names[MESSAGE_PHASES] = {
	    [MESSAGE_PHASE_NONE] = "none",
	    [MESSAGE_PHASE_CONNECT] = "connect",
	    [MESSAGE_PHASE_HELO] = "helo",
	    [MESSAGE_PHASE_MAIL] = "mail",
	    [MESSAGE_PHASE_RCPT] = "rcpt",
	    [MESSAGE_PHASE_DATA] = "data",
	    [MESSAGE_PHASE_CONTENT] = "content",
	    [MESSAGE_PHASE_EOM] = "eom",
	};

	return name_of(names, MESSAGE_PHASES, phase);
}

const char *
message_ending_name(enum message_ending ending)
{
	static const char *const names[MESSAGE_ENDINGS] = {
	    [MESSAGE_ENDING_NONE] = "none",
	    [MESSAGE_ENDING_ACCEPTED] = "accepted",
	    [MESSAGE_ENDING_ABORTED] = "aborted",
	    [MESSAGE_ENDING_CLOSED] = "closed",
	    [MESSAGE_ENDING_LOGGED] = "logged",
	};

	return name_of(names, MESSAGE_ENDINGS, ending);
}

const char *
delivery_phase_name(enum delivery_phase phase)
{
	static const char *const names[DELIVERY_PHASES] = {
	    [DELIVERY_PHASE_NONE] = "none",
	    [DELIVERY_PHASE_CONNECT] = "connect",
	    [DELIVERY_PHASE_LHLO] = "lhlo",
	    [DELIVERY_PHASE_MAIL] = "mail",
	    [DELIVERY_PHASE_RCPT] = "rcpt",
	    [DELIVERY_PHASE_DATA] = "data",
	    [DELIVERY_PHASE_CONTENT_END] = "content_end",
	};

	return name_of(names, DELIVERY_PHASES, phase);
}

const char *
delivery_ending_name(enum delivery_ending ending)
{
	static const char *const names[DELIVERY_ENDINGS] = {
	    [DELIVERY_ENDING_NONE] = "none",
	    [DELIVERY_ENDING_COMPLETED] = "completed",
	    [DELIVERY_ENDING_RESET] = "reset",
	    [DELIVERY_ENDING_CLIENT_LOST] = "client_lost",
	    [DELIVERY_ENDING_BACKEND_LOST] = "backend_lost",
	    [DELIVERY_ENDING_TIMED_OUT] = "timed_out",
	    [DELIVERY_ENDING_STOPPED] = "stopped",
	};

	return name_of(names, DELIVERY_ENDINGS, ending);
}

const char *
operation_kind_name(enum operation_kind kind)
{
	static const char *const names[OPERATION_KINDS] = {
	    [OPERATION_NONE] = "none",
	    [OPERATION_ACKNOWLEDGE] = "acknowledge",
	    [OPERATION_FORGET] = "forget",
	};

	return name_of(names, OPERATION_KINDS, kind);
}

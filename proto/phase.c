/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of phases and the only subtraction of stamps. Called by the join,
 * the API and the command line; no state, any thread.
 */
#include "proto/phase.h"

#include <string.h>

static const struct phase_description descriptions[PHASES] = {
    [PHASE_CONNECT_TO_HELO] = {"connect_to_helo", "connect", "HELO",
	"our answer to the connection, Postfix's greeting, the client"},
    [PHASE_HELO_TO_MAIL] = {"helo_to_mail", "HELO", "MAIL FROM",
	"the answer to HELO; STARTTLS, AUTH and earlier transactions of the "
	"session; the client"},
    [PHASE_MAIL_TO_RCPT] = {"mail_to_rcpt", "MAIL FROM", "first RCPT TO",
	"the answer to MAIL FROM, the client, the restrictions of RCPT TO"},
    [PHASE_RCPT_TO_DATA] = {"rcpt_to_data", "first RCPT TO", "DATA",
	"the answers to all recipients, the restrictions of the further ones, "
	"the client"},
    [PHASE_DATA_TO_CONTENT] = {"data_to_content", "DATA", "first header",
	"the upload of the message and the filters before us"},
    [PHASE_CONTENT_TO_EOM] = {"content_to_eom", "first header",
	"end of message", "the message passing through this filter"},
    [PHASE_QUEUE] = {"queue", "end of message", "LMTP MAIL FROM",
	"later filters, the final reply, the queue, waiting between attempts, "
	"connecting to the LMTP server"},
    [PHASE_LMTP_ENVELOPE] = {"lmtp_envelope", "LMTP MAIL FROM", "LMTP DATA",
	"the LMTP server's answers to sender and recipients"},
    [PHASE_LMTP_DATA] = {"lmtp_data", "LMTP DATA", "LMTP end of data",
	"the answer to DATA and the transfer of the message"},
    [PHASE_LMTP_REPLY] = {"lmtp_reply", "LMTP end of data",
	"the recipient's reply", "the LMTP server storing the message"},
};

const struct phase_description *
phase_describe(enum phase phase)
{
	return &descriptions[phase];
}

bool
boot_is_same(const uint8_t *left, const uint8_t *right)
{
	static const uint8_t unknown[CLOCK_BOOT_ID_BYTES];

	return left != NULL && right != NULL &&
	       memcmp(left, right, CLOCK_BOOT_ID_BYTES) == 0 &&
	       memcmp(left, unknown, CLOCK_BOOT_ID_BYTES) != 0;
}

/* Stamps from a damaged or foreign file may be any number. */
static int64_t
subtract(int64_t to, int64_t from)
{
	int64_t difference;

	if (__builtin_sub_overflow(to, from, &difference))
		return to < from ? INT64_MIN : INT64_MAX;
	return difference;
}

struct duration
duration_between(struct moment from, struct moment to)
{
	struct duration duration = {DURATION_KNOWN, 0};

	if (!stamp_is_set(&from.at) || !stamp_is_set(&to.at))
		return (struct duration){DURATION_UNKNOWN, 0};
	if (boot_is_same(from.boot_id, to.boot_id))
		duration.ns =
		    subtract(to.at.monotonic_ns, from.at.monotonic_ns);
	else
		duration.ns = subtract(to.at.wall_ns, from.at.wall_ns);
	if (duration.ns < 0)
		duration.state = DURATION_SKEWED;
	return duration;
}

static struct stamp
first_rcpt_at(const struct message_event *message)
{
	if (message->recipient_count == 0)
		return (struct stamp){0};
	return message->recipients[0].rcpt_at;
}

/* The moments that the milter stamps, in their order. */
static struct stamp
message_moment(const struct message_event *message, enum phase phase)
{
	switch (phase) {
	case PHASE_CONNECT_TO_HELO:
		return message->connect_at;
	case PHASE_HELO_TO_MAIL:
		return message->helo_at;
	case PHASE_MAIL_TO_RCPT:
		return message->mail_at;
	case PHASE_RCPT_TO_DATA:
		return first_rcpt_at(message);
	case PHASE_DATA_TO_CONTENT:
		return message->data_at;
	case PHASE_CONTENT_TO_EOM:
		return message->content_at;
	default:
		return message->eom_at;
	}
}

static struct stamp
delivery_moment(const struct phase_view *view, enum phase phase)
{
	switch (phase) {
	case PHASE_LMTP_ENVELOPE:
		return view->delivery->mail_at;
	case PHASE_LMTP_DATA:
		return view->delivery->data_at;
	case PHASE_LMTP_REPLY:
		return view->delivery->content_end_at;
	default:
		break;
	}
	return view->recipient != NULL ? view->recipient->final.at
				       : (struct stamp){0};
}

/* Where a phase begins; PHASES stands for where the last one ends. Phases
 * follow each other without a gap, so each ends where the next begins. */
static struct moment
beginning_of(enum phase phase, const struct phase_view *view)
{
	struct moment moment = {{0, 0}, NULL};

	if (phase <= PHASE_QUEUE && view->message != NULL) {
		moment.at = message_moment(view->message, phase);
		moment.boot_id = view->message_boot_id;
	} else if (phase > PHASE_QUEUE && view->delivery != NULL) {
		moment.at = delivery_moment(view, phase);
		moment.boot_id = view->delivery_boot_id;
	}
	return moment;
}

void
phase_moments(enum phase phase, const struct phase_view *view,
    struct moment *from_r, struct moment *to_r)
{
	*from_r = beginning_of(phase, view);
	*to_r = beginning_of(phase + 1, view);
}

struct duration
phase_duration(enum phase phase, const struct phase_view *view)
{
	struct moment from, to;

	phase_moments(phase, view, &from, &to);
	return duration_between(from, to);
}

struct duration
delivery_latency(const struct phase_view *view)
{
	return duration_between(
	    beginning_of(PHASE_MAIL_TO_RCPT, view), beginning_of(PHASES, view));
}

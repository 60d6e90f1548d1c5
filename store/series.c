/* SPDX-License-Identifier: BSD-2-Clause */
/* For queries about latencies; tests/exporter/test_exposition.c compares them
 * with the table of metrics. */
#include "store/series.h"

#define ROUTE(name) "postlag_delivery_latency_seconds{route=\"" name "\"}"
#define PHASE(name) "postlag_phase_seconds{phase=\"" name "\"}"

const char *
series_of_route(enum route route)
{
	static const char *const names[ROUTES] = {
	    [ROUTE_INBOUND] = ROUTE("inbound"),
	    [ROUTE_INTERNAL] = ROUTE("internal"),
	    [ROUTE_OUTBOUND] = ROUTE("outbound"),
	    [ROUTE_TRANSIT] = ROUTE("transit"),
	};

	return names[route];
}

const char *
series_of_phase(enum phase phase)
{
	static const char *const names[PHASES] = {
	    [PHASE_CONNECT_TO_HELO] = PHASE("connect_to_helo"),
	    [PHASE_HELO_TO_MAIL] = PHASE("helo_to_mail"),
	    [PHASE_MAIL_TO_RCPT] = PHASE("mail_to_rcpt"),
	    [PHASE_RCPT_TO_DATA] = PHASE("rcpt_to_data"),
	    [PHASE_DATA_TO_CONTENT] = PHASE("data_to_content"),
	    [PHASE_CONTENT_TO_EOM] = PHASE("content_to_eom"),
	    [PHASE_QUEUE] = PHASE("queue"),
	    [PHASE_LMTP_ENVELOPE] = PHASE("lmtp_envelope"),
	    [PHASE_LMTP_DATA] = PHASE("lmtp_data"),
	    [PHASE_LMTP_REPLY] = PHASE("lmtp_reply"),
	};

	return names[phase];
}

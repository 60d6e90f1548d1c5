/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_summary: how mail is now, in one answer. Any thread.
 */
#ifndef EXPORTER_SERVE_API_SUMMARY_H
#define EXPORTER_SERVE_API_SUMMARY_H

struct buffer;
struct published;

/* Appends an object of the picture of now:
 *
 *     version, ready, loss_detection ("off", "blind" or "on"),
 *     messages: {accepted, in_flight},
 *     behind: null, or of what is not read yet {sources: {SOURCE: {bytes,
 *         events}}, events_per_second, seconds_left: null if not known},
 *     oldest_in_flight: when it began, or null,
 *     recipients: {STATE: how many are in it now},
 *     latency_since_ever: {ROUTE: {count, sum}}, in seconds */
void api_summary(struct published *published, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_labels: by which hosts, relays and providers latencies can be asked
 * for. Any thread.
 */
#ifndef EXPORTER_SERVE_API_LABELS_H
#define EXPORTER_SERVE_API_LABELS_H

struct api;
struct buffer;

/* A list longer than this is of no help to who chooses from it. */
#define API_LABELS_MAX 500

/* Appends {"labels": [...]}, sorted, of `by`: host, relay or provider, and
 * "more": true when there are more than API_LABELS_MAX, "incomplete": true when
 * a part of the store could not be read. Returns 200, 400 for
 * another `by`, 503 when the store cannot be read. */
unsigned api_labels(struct api *api, const char *by, struct buffer *out);

#endif

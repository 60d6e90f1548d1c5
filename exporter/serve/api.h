/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api: look up messages in the store and write them as JSON.
 *
 * Keeps a pool of store readers, one for each thread that asks at a time. Any
 * thread.
 */
#ifndef EXPORTER_SERVE_API_H
#define EXPORTER_SERVE_API_H

struct api;
struct buffer;

/* `store_directory` is copied. */
struct api *api_new(const char *store_directory);
void api_free(struct api **api);

/* Appends {"messages": [...]}, newest first, for the id, queue id or
 * Message-ID `key`, or {"error": "..."}. Returns the HTTP status: 200, 404 for
 * no such message, 414 for a key that is too long, 503 when the store cannot
 * be read. */
unsigned api_messages(struct api *api, const char *key, struct buffer *out);

#endif

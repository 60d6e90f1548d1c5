/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api: look up messages in the store and write them as JSON.
 *
 * Any thread.
 */
#ifndef EXPORTER_SERVE_API_H
#define EXPORTER_SERVE_API_H

#include <stdbool.h>

struct api;
struct api_readers;
struct buffer;

/* `store_directory` is copied. */
struct api *api_new(const char *store_directory);
void api_free(struct api **api);

/* Closes files that were removed, and all when the disk became read-only or
 * writable: see store_reader_close_gone(). `waits`: until running requests have
 * closed theirs; otherwise they do it later. */
void api_close_gone(struct api *api, bool waits);

/* Appends {"messages": [...]}, newest first, for the id, queue id or
 * Message-ID `key`, or {"error": "..."}. Returns the HTTP status: 200, 404 for
 * no such message, 414 for a key that is too long, 503 when the store cannot
 * be read. */
unsigned api_messages(struct api *api, const char *key, struct buffer *out);

/* Where other parts of the API take their readers from. */
struct api_readers *api_readers(struct api *api);

#define API_ARGUMENT_SIZE 1024

/* What was asked, as it was written; empty: nothing. */
struct api_search {
	char text[API_ARGUMENT_SIZE];
	char limit[API_ARGUMENT_SIZE];
	char cursor[API_ARGUMENT_SIZE]; /* the "next" of the page before */
};

/* Appends a page as search_page_json() has it. It takes about 100 ms at most;
 * what was not looked at until then is on later pages. Returns 200, 400 for
 * what cannot be understood, 503 when the store cannot be read. */
unsigned api_search(
    struct api *api, const struct api_search *asked, struct buffer *out);

/* Appends {"pseudonym": "~..."}, which a search finds where privacy is hash, of
 * what is before the @ of an address. Returns 200, 400 for nothing, 404 when
 * the store has no pseudonyms, 503 when the store cannot be read. */
unsigned api_pseudonym(struct api *api, const char *local, struct buffer *out);

/* Makes {"error": ERROR} the answer. Returns `status`. */
unsigned api_error(struct buffer *out, unsigned status, const char *error);

#endif

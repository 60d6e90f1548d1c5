/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query: read the store, read-only, beside a living, stopped or killed
 * exporter.
 *
 * A reader keeps read-only connections to the day files it visited and notices
 * files that appear, vanish or are replaced. One thread at a time per reader.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/record.h"

#include <stddef.h>

struct arena;
struct reason;
struct store_reader;

/* Opens the store at `directory` (copied). Returns NULL with a reason when the
 * directory cannot be read. */
struct store_reader *store_reader_open(
    const char *directory, struct reason *reason);

/* Finds messages by what people have at hand: the id, a queue id (the milter's,
 * the hook's, or one it got later), a Message-ID with or without <>, the id of
 * the LMTP session in which one of its recipients was answered. Newest
 * first, at most `limit`. The array and all it points to lives in `arena`.
 * Returns how many, 0 for none, or -1 with a reason (damaged or newer file,
 * arena's limit). */
long store_find(struct store_reader *reader, const char *key, size_t limit,
    struct arena *arena, struct message_record **records_r,
    struct reason *reason);

void store_reader_free(struct store_reader **reader);

/* Closes what it has open of files that were removed, or on a disk that became
 * read-only or writable since. */
void store_reader_close_gone(struct store_reader *reader);

#endif

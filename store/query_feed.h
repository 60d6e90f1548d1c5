/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_feed: what becomes of messages while one watches.
 *
 * Part of query.h, whose rules hold. Each entry of a recipient into a state
 * that was committed is given once, in the order of commits within each day's
 * file. It is exact whoever is killed: the entries lie in the transactions that
 * made them. They are kept for a while only (feed.h): whoever looks too late is
 * told that some are missing.
 */
#ifndef STORE_QUERY_FEED_H
#define STORE_QUERY_FEED_H

#include "base/reason.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store_feed;
struct store_reader;

/* Begins now, or with everything that is kept if `from_start`: what a store
 * needs that was not there when its watcher began. The reader is borrowed. */
struct store_feed *store_feed_open(
    struct store_reader *reader, bool from_start);
void store_feed_free(struct store_feed **feed);

struct feed_hit {
	/* Of its recipients and of the log, what is about the one alone, in the
	 * state that it came into; all else is as it is now. */
	struct message_record record;
	bool is_begun;             /* it is new: it came from nowhere */
	enum recipient_state from; /* unless it is */
	int64_t wall_ns;           /* of the commit */
};

struct feed_page {
	struct feed_hit *hits;
	size_t count;
	bool is_last;  /* there is nothing behind it for now */
	bool has_gap;  /* entries before these were kept no longer */
	bool is_young; /* what was written lately may not all be seen: look
			* again in a second, though nobody writes */
	/* A file could not be read, for this reason, and was passed over. It
	 * is said once. */
	bool incomplete;
	struct reason reason;
};

/* What came since the last time, in `arena`, some hundred hits at a time. That
 * files vanish or there are none is no failure. Returns 0, or -1 with a reason:
 * no directory, the arena's limit. */
int store_feed_next(struct store_feed *feed, struct arena *arena,
    struct feed_page *page_r, struct reason *reason);

#endif

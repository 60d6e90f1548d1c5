/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feed: what a batch did to recipients, written into their day file for those
 * who watch.
 *
 * The rows of a file are a stream of which the last FEED_BYTES are kept. A
 * row's number is where it ends in the stream, so that a reader knows whether
 * it has missed some. Nothing of it is an address. Ingest thread only.
 */
#ifndef STORE_FEED_H
#define STORE_FEED_H

#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

struct day_tables;
struct feed;

#define FEED_BYTES (1 << 19)
/* What a row counts besides what is packed into it. */
#define FEED_ROW_BYTES 16

struct feed *feed_new(void);
void feed_free(struct feed **feed);

/* One recipient: the row of its message, or of a leg without one, its number
 * there, and the state that it has now. */
struct feed_subject {
	int64_t row;
	uint32_t number;
	enum recipient_state state;
};

/* It is new, or one that was taken away is there again, by its address. */
void feed_begin(
    struct feed *feed, const struct feed_subject *subject, const char *address);

/* It was in `from` until now. That it still is, is no news. */
void feed_change(struct feed *feed, const struct feed_subject *subject,
    enum recipient_state from);

/* A leg without a message has it. */
void feed_leg(struct feed *feed, const struct feed_subject *subject);

/* Its message is taken out of the file, to be told anew. */
void feed_take(
    struct feed *feed, const struct feed_subject *subject, const char *address);

/* All was told anew: those that are not there again are gone. */
void feed_end_taking(struct feed *feed);

/* Writes the batch's share, within the transaction. Failures stick to the
 * connection. */
void feed_write(struct feed *feed, struct day_tables *tables, int64_t wall_ns);

/* After commit or rollback: forgets the batch's share, and unless `committed`
 * what is known of the file. */
void feed_clear(struct feed *feed, bool committed);

#endif

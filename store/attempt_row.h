/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attempt_row: the delivery agents' log lines about a message, as rows of a day
 * file.
 *
 * Failures stick to the connection. Called on the thread that has it.
 */
#ifndef STORE_ATTEMPT_ROW_H
#define STORE_ATTEMPT_ROW_H

#include "store/record.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct day_tables;

/* What is known of the recipient that it is about: its address, the leg that
 * decided it so far (0: none), and that one's blob; NULL: it must be read. */
struct attempt_context {
	const char *address;
	int64_t leg_row;
	const struct buffer *leg;
};

/* Adds it behind those that are there. The queue id is left out if it is the
 * message's own. Returns 0, or -1 when there are too many to be numbered. */
int attempt_row_add(struct day_tables *tables, int64_t message_row,
    const struct attempt_record *attempt,
    const struct attempt_context *context);

/* Whose attempts are read: their queue id where none was written, and the
 * addresses that texts name. */
struct attempt_owner {
	int64_t row;
	const char *queue_id;
	const struct recipient_record *recipients;
	size_t recipient_count;
};

/* All attempts, in `arena`. Returns 0, or -1 when the connection failed or the
 * arena is full. */
int attempt_rows_read(struct day_tables *tables,
    const struct attempt_owner *owner, struct arena *arena,
    struct attempt_record **attempts_r, size_t *count_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filing_row: what Dovecot did with recipients' mail, and under which LMTP
 * session ids it answered for them, as rows of a day file.
 *
 * Failures stick to the connection. Called on the thread that has it.
 */
#ifndef STORE_FILING_ROW_H
#define STORE_FILING_ROW_H

#include "store/record.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;
struct recipient_place;

/* Adds one unless the recipient has it already. */
void filing_row_add(struct day_tables *tables,
    const struct recipient_place *place, const struct filing_record *filing);

/* Gives the recipients of a message, which must be all of them by number, their
 * filings, in `arena`. Returns 0, or -1 when the connection failed or the arena
 * is full. */
int filing_rows_read(struct day_tables *tables, int64_t message_row,
    struct arena *arena, struct recipient_record *recipients, size_t count);

/* The same for session ids, of which only a hash is kept. */
void session_row_add(struct day_tables *tables,
    const struct recipient_place *place, const char *session);

/* Who was answered under a session id, in `arena`. The same returns. */
int session_rows_find(struct day_tables *tables, const char *session,
    struct arena *arena, struct recipient_place **places_r, size_t *count_r);

#endif

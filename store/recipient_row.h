/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recipient_row: a message's recipients as rows of a day file.
 *
 * Failures stick to the connection. Called on the thread that has it.
 */
#ifndef STORE_RECIPIENT_ROW_H
#define STORE_RECIPIENT_ROW_H

#include "store/record.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;

struct recipient_row {
	uint32_t number;
	const char *address;
	enum recipient_state state;
	bool expected;
	struct stamp rcpt_at;
	const char *reject_dsn;
	const char *reject_text;
	enum fate_reason reason;
	uint32_t evidence;
	const char *original; /* NULL: the same, or as it was */
	uint32_t attempts;
	int64_t leg_row; /* the delivery that decided; 0: none did */
	uint32_t leg_position;
};

/* Where the recipients belong: the message's row and its MAIL FROM. */
struct recipient_owner {
	int64_t row;
	struct stamp mail_at;
};

struct recipient_place {
	int64_t message_row;
	uint32_t number;
};

void recipient_row_add(struct day_tables *tables,
    const struct recipient_owner *owner, const struct recipient_row *recipient);

/* The address of a recipient, in `arena`, and the leg that decided it so far
 * (0: none). NULL: no such recipient. */
const char *recipient_row_brief(struct day_tables *tables,
    const struct recipient_place *place, struct arena *arena,
    int64_t *leg_row_r);

/* The leg that decided a recipient so far; 0: none, or no such recipient. */
int64_t recipient_row_leg(
    struct day_tables *tables, int64_t message_row, uint32_t number);

/* Writes state, reason, evidence, attempts and leg of recipient->number, and
 * its original unless it is NULL. */
void recipient_row_change(struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient);

/* All recipients of a message, in `arena`, by number. Returns 0, or -1 when the
 * connection failed or the arena is full. */
int recipient_rows_read(struct day_tables *tables,
    const struct recipient_owner *owner, struct arena *arena,
    struct recipient_row **recipients_r, size_t *count_r);

#endif

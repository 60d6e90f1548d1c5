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

/* One as it goes into the columns of a row. */
struct recipient_columns {
	int64_t address;
	const void *packed;
	size_t packed_size;
	int64_t state, attempts, leg, position, evidence;
};

/* Makes the columns of a new recipient, in `arena`, which the caller looks at.
 * Its original is written at once. */
void recipient_row_make(struct day_tables *tables,
    const struct recipient_owner *owner, const struct recipient_row *recipient,
    struct arena *arena, struct recipient_columns *columns_r);

/* Replaces state, reason, evidence, attempts and leg in the columns. An
 * original that is not NULL is written at once. */
void recipient_row_alter(struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient, struct recipient_columns *columns);

/* The leg that decided by now; 0: none did. */
int64_t recipient_columns_leg(
    const struct recipient_columns *columns, int64_t message_row);

/* Adds a row; replaces in one what recipient_row_alter() does, and returns
 * whether it is there. */
void recipient_row_insert(struct day_tables *tables, int64_t key,
    const struct recipient_columns *columns);
bool recipient_row_update(struct day_tables *tables, int64_t key,
    const struct recipient_columns *columns);

/* The address of a recipient, in `arena`, and the leg that decided it so far
 * (0: none). NULL: no such recipient. */
const char *recipient_row_brief(struct day_tables *tables,
    const struct recipient_place *place, struct arena *arena,
    int64_t *leg_row_r);

/* The number of its address; 0: no such recipient. */
int64_t recipient_row_address(
    struct day_tables *tables, int64_t message_row, uint32_t number);

/* The leg that decided a recipient so far; 0: none, or no such recipient. */
int64_t recipient_row_leg(
    struct day_tables *tables, int64_t message_row, uint32_t number);

/* All recipients of a message, in `arena`, by number. Returns 0, or -1 when the
 * connection failed or the arena is full. */
int recipient_rows_read(struct day_tables *tables,
    const struct recipient_owner *owner, struct arena *arena,
    struct recipient_row **recipients_r, size_t *count_r);

#endif

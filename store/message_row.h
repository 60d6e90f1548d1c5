/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_row: message events as rows of a day file, and back.
 *
 * Failures stick to the connection: callers look once, at the end. Called on
 * the thread that has it.
 */
#ifndef STORE_MESSAGE_ROW_H
#define STORE_MESSAGE_ROW_H

#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct day_tables;
struct segment_header;

struct message_row {
	const struct message_event *event;
	const struct segment_header *segment;
	uint32_t evidence;
};

/* What a leg repeats of its message: compared when it is packed. */
struct message_brief {
	struct uuid id;
	struct stamp mail_at;
	const char *queue_id;
	const char *message_id;
	const char *sender;
};

struct message_brief message_row_brief_of(const struct message_event *event);

/* An event as it goes into the columns of a row, but for what becomes known
 * later. */
struct message_columns {
	struct message_brief brief;
	int64_t message_id_domain;
	const char *message_id_local; /* in brief.message_id */
	size_t message_id_local_size;
	int64_t origin, client, sender;
	const void *packed;
	size_t packed_size;
};

/* Makes the columns of an event without its recipients, in `arena`, which the
 * caller looks at. */
void message_row_make(struct day_tables *tables,
    const struct message_row *message, int64_t row, struct arena *arena,
    struct message_columns *columns_r);

/* What becomes known of a message by the log; 0 is not known. */
struct message_log {
	uint32_t evidence;
	uint64_t size_bytes;
	uint32_t queue_recipients; /* see record.h */
};

/* Adds a row, which must not be there. */
void message_row_insert(struct day_tables *tables, int64_t row,
    const struct message_columns *columns, const struct message_log *log);

/* The largest row; 0 when there is none. */
int64_t message_row_newest(struct day_tables *tables);
bool message_row_is_there(struct day_tables *tables, int64_t row);

/* Writes the evidence, and what else is known. Returns whether the row is
 * there. */
bool message_row_change(
    struct day_tables *tables, int64_t row, const struct message_log *log);

/* Returns 1, 0 when there is no such row, or -1. */
int message_row_brief(struct day_tables *tables, int64_t row,
    struct arena *arena, struct message_brief *brief_r);

/* Of a message only what the join keeps: id, queue id, instance, boot, ending,
 * MAIL FROM, end of message, evidence and size. Returns 1, 0 or -1. */
int message_row_outline(struct day_tables *tables, int64_t row,
    struct arena *arena, struct message_record *record_r);

/* A message without recipients and legs. Returns 1, 0 or -1. */
int message_row_read(struct day_tables *tables, int64_t row,
    struct arena *arena, struct message_record *record_r);

#endif

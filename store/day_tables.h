/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * day_tables: what writer and readers alike need to work with the rows of one
 * open day file.
 */
#ifndef STORE_DAY_TABLES_H
#define STORE_DAY_TABLES_H

#include "base/clock.h"
#include "base/uuid.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct database;
struct intern;
struct statement;

struct day_tables {
	struct database *database;
	struct intern *intern;
	struct stamp start; /* the file's midnight; odd.db's is 1970 */
	bool sizes_follow;  /* messages get their size later, by the log */
};

/* Rows taken lately without a gap, so that a thousand ids of one moment are not
 * tried one by one. One for each table of a file; begins as zero. */
struct row_hint {
	int64_t taken_from, free_from;
};

/* The first row to try for what has `id` and happened at `wall_ns`; never 0. */
int64_t day_first_row(
    const struct row_hint *hint, const struct uuid *id, int64_t wall_ns);

/* Says that all rows from `first`, tried first, to `row` are taken. */
void day_row_taken(struct row_hint *hint, int64_t first, int64_t row);

/* The moment that a row number tells, on a boot that began at `boot_ns`: what
 * the first stamp of the row is kept relative to. */
struct stamp day_row_stamp(
    const struct day_tables *tables, int64_t row, int64_t boot_ns);

/* Ids in columns: without the milliseconds at their beginning when these are
 * those of `wall_ns`, the event's MAIL FROM. */
void day_bind_id(
    struct statement *statement, const struct uuid *id, int64_t wall_ns);
struct uuid day_column_id(
    struct statement *statement, int column, int64_t wall_ns);

/* The row of `id` in `message` (SQL_MESSAGE_SCAN) or `leg` (SQL_LEG_SCAN).
 * Returns 1, 0 or -1; the failure stays with the connection. */
int day_find_id(struct day_tables *tables, enum day_sql scan,
    const struct uuid *id, int64_t *row_r);

/* Recipients of a message are numbered in the low bits of their key. */
#define RECIPIENT_BITS 20
#define RECIPIENT_NUMBER_MAX ((UINT32_C(1) << RECIPIENT_BITS) - 1)

int64_t day_recipient_key(int64_t message_row, uint32_t number);

#endif

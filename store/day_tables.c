/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How ids become rows. Called on whatever thread has the connection.
 *
 * A row number is the microsecond of the day at which the id was made, or the
 * next free one behind it. So an id can only be in its own millisecond or, if
 * that was crowded, in the unbroken run of rows behind it.
 */
#include "store/day_tables.h"

#include <stdbool.h>
#include <string.h>

#include "store/database.h"
#include "store/intern.h"

#define NS_PER_US 1000
#define US_PER_MS 1000

/* Where the milliseconds of an id end and the rest begins (RFC 9562, 5.7). */
#define ID_TIME_BYTES 6
#define ID_REST_BYTES (UUID_BYTES - ID_TIME_BYTES)

struct stamp
day_row_stamp(const struct day_tables *tables, int64_t row, int64_t boot_ns)
{
	int64_t wall_ns = tables->start.wall_ns + row * NS_PER_US;

	if (boot_ns == INTERN_NO_BOOT)
		return (struct stamp){wall_ns, 0};
	return (struct stamp){
	    wall_ns, (int64_t)((uint64_t)wall_ns - (uint64_t)boot_ns)};
}

static void
set_id_time(struct uuid *id, int64_t wall_ns)
{
	uint64_t ms = (uint64_t)(wall_ns / NS_PER_US / US_PER_MS);

	for (int i = 0; i < ID_TIME_BYTES; i++)
		id->bytes[i] = (uint8_t)(ms >> 8 * (ID_TIME_BYTES - 1 - i));
}

void
day_bind_id(struct statement *statement, const struct uuid *id, int64_t wall_ns)
{
	struct uuid timed = *id;

	set_id_time(&timed, wall_ns);
	if (uuid_equal(&timed, id))
		bind_blob(statement, id->bytes + ID_TIME_BYTES, ID_REST_BYTES);
	else
		bind_blob(statement, id->bytes, UUID_BYTES);
}

struct uuid
day_column_id(struct statement *statement, int column, int64_t wall_ns)
{
	struct uuid id = {{0}};
	size_t size;
	const void *bytes = column_bytes(statement, column, &size);

	if (size == UUID_BYTES) {
		memcpy(id.bytes, bytes, UUID_BYTES);
	} else if (size == ID_REST_BYTES) {
		set_id_time(&id, wall_ns);
		memcpy(id.bytes + ID_TIME_BYTES, bytes, ID_REST_BYTES);
	}
	return id;
}

/* The rest is 74 random bits, and the row has the time. */
static bool
is_id(struct statement *statement, int column, const struct uuid *id)
{
	size_t size;
	const void *bytes = column_bytes(statement, column, &size);

	if (size != UUID_BYTES && size != ID_REST_BYTES)
		return false;
	return memcmp(bytes, id->bytes + UUID_BYTES - size, size) == 0;
}

static int64_t
row_of_id(const struct uuid *id)
{
	int64_t wall_ns = uuid_wall_ns(id);

	return (wall_ns - clock_day(wall_ns) * CLOCK_NS_PER_DAY) / NS_PER_US;
}

int64_t
day_first_row(
    const struct row_hint *hint, const struct uuid *id, int64_t wall_ns)
{
	int64_t row = row_of_id(id);
	int64_t beyond_ms_us = (wall_ns - uuid_wall_ns(id)) / NS_PER_US;

	/* The id has milliseconds only. */
	if (beyond_ms_us > 0 && beyond_ms_us < US_PER_MS)
		row += beyond_ms_us;
	if (row == 0)
		row = 1;
	if (row >= hint->taken_from && row < hint->free_from)
		row = hint->free_from;
	return row;
}

void
day_row_taken(struct row_hint *hint, int64_t first, int64_t row)
{
	if (first != hint->free_from)
		hint->taken_from = first;
	hint->free_from = row + 1;
}

int
day_find_id(struct day_tables *tables, enum day_sql scan, const struct uuid *id,
    int64_t *row_r)
{
	struct statement *rows = database_statement(tables->database, scan);
	int64_t next = row_of_id(id), row;
	int64_t end = next + US_PER_MS;
	int found = 0, more = 1;

	bind_integer(rows, next);
	while (found == 0 && (more = statement_step(rows)) == 1) {
		row = column_integer(rows, 0);
		if (row >= end && row != next)
			break;
		next = row + 1;
		if (is_id(rows, 1, id)) {
			*row_r = row;
			found = 1;
		}
	}
	statement_end(rows);
	return more < 0 ? -1 : found;
}

int64_t
day_recipient_key(int64_t message_row, uint32_t number)
{
	return message_row << RECIPIENT_BITS | number;
}

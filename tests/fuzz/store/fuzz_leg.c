/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unpacks a leg's blob against a small dictionary, with and without a message;
 * what is accepted packs to what unpacks the same.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/leg_pack.h"
#include "store/message_row.h"
#include "store/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct day_tables tables;
static const struct message_brief message = {.id = {{1, 2, 3}},
    .mail_at = {1796025600000000000, 5000000},
    .queue_id = "4F1A2B3C",
    .message_id = "<a@b>",
    .sender = ""};

static void
set_up(void)
{
	static const char *const texts[] = {"250\0032.0.0\003\002 \001 Saved",
	    "250\004\004", "no reply", "0\003\003"};
	enum database_failure failure;

	tables.database = database_open(":memory:", DATABASE_WRITE, day_sql,
	    DAY_STATEMENTS, &failure, NULL);
	assert(tables.database != NULL);
	assert(schema_create(tables.database, SCHEMA_DAY) == 0);
	tables.intern = intern_new(tables.database);
	for (size_t i = 0; i < 4; i++)
		intern_string(tables.intern, INTERN_TEXT, texts[i]);
	intern_string(tables.intern, INTERN_HOST, "unix:/run/lmtp");
	intern_string(tables.intern, INTERN_ADDRESS, "jo@example.com");
	intern_string(tables.intern, INTERN_ADDRESS, "");
}

static void
check(const uint8_t *data, size_t size, const struct message_brief *with)
{
	struct leg_blob blob = {
	    .data = data, .size = size, .context = {.message = with}};
	struct arena *arena = arena_new(1 << 20);
	struct delivery_event event, again;
	struct buffer packed = {0};

	database_begin_write(tables.database);
	if (leg_unpack(&tables, &blob, arena, &event) == 0 &&
	    database_check(tables.database, NULL) == 0) {
		leg_pack(&tables, &event, &blob.context, &packed);
		blob.data = packed.data;
		blob.size = packed.size;
		assert(leg_unpack(&tables, &blob, arena, &again) == 0);
		assert(again.recipient_count == event.recipient_count);
		assert(again.part == event.part);
		assert(again.stamp_mail_wall_ns == event.stamp_mail_wall_ns);
		assert((again.queue_id == NULL) == (event.queue_id == NULL));
	}
	database_rollback(tables.database);
	intern_forget(tables.intern);
	buffer_free(&packed);
	arena_free(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (tables.database == NULL)
		set_up();
	check(data, size, NULL);
	check(data, size, &message);
	return 0;
}

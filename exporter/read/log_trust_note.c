/* SPDX-License-Identifier: BSD-2-Clause */
/* A note in control.db. Called by ingest on its thread, or before it starts. */
#include "exporter/read/log_trust_note.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "exporter/read/log_trust.h"
#include "store/store.h"

#define NOTE "log_trust"

void
log_trust_load(struct log_trust *trust, const struct store *store)
{
	const struct stamp now = clock_stamp();
	struct buffer note = {.data = NULL};
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];

	if (store_note_read(store, NOTE, &note))
		log_trust_read(trust, note.data, note.size);
	buffer_free(&note);
	clock_boot_id(boot_id);
	log_trust_boot(trust, boot_id, now.wall_ns - now.monotonic_ns);
}

int
log_trust_save(
    struct log_trust *trust, struct store *store, struct reason *reason)
{
	struct buffer note = {.data = NULL};
	int result;

	if (!log_trust_is_unsaved(trust))
		return 0;
	log_trust_write(trust, &note);
	result = store_note_write(store, NOTE, &note, reason);
	buffer_free(&note);
	return result;
}

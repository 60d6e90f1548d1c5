/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of records without what may not be kept. Called by ingest. */
#include "exporter/privacy/privacy_filter.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/privacy/privacy_event.h"
#include "exporter/privacy/privacy_line.h"

/* More than an event may have. */
#define ARENA_BYTES (64u << 20)

struct privacy_filter {
	struct privacy privacy;
	struct arena *arena;
	struct buffer text;
	struct journal_record record;
	struct log_record line;
};

struct privacy_filter *
privacy_filter_new(const struct privacy *privacy)
{
	struct privacy_filter *filter = memory_zeroed(1, sizeof(*filter));

	filter->privacy = *privacy;
	filter->arena = arena_new(ARENA_BYTES);
	if (filter->arena == NULL)
		privacy_filter_free(&filter);
	return filter;
}

void
privacy_filter_free(struct privacy_filter **filter)
{
	if (*filter == NULL)
		return;
	arena_free(&(*filter)->arena);
	buffer_free(&(*filter)->text);
	free(*filter);
	*filter = NULL;
}

int
privacy_filter_apply(struct privacy_filter *filter,
    struct source_record *record, struct reason *reason)
{
	struct privacy_place place = {
	    &filter->privacy, filter->arena, &filter->text};

	if (filter->privacy.mode == PRIVACY_FULL)
		return 0;
	arena_reset(filter->arena);
	if (record->record != NULL) {
		filter->record = *record->record;
		privacy_event(&place, &filter->record.event);
		record->record = &filter->record;
	}
	if (record->line != NULL) {
		filter->line = *record->line;
		privacy_line(&place, &filter->line);
		record->line = &filter->line;
	}
	if (arena_failed(filter->arena) || filter->text.failed)
		return reason_set(reason, "a record is too large");
	return 0;
}

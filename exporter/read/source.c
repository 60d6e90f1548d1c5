/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What journals and logs have in common as sources. Called by sources.c, on the
 * ingest thread.
 */
#include "exporter/read/source.h"

#include <stdlib.h>
#include <string.h>

#include "exporter/metrics/metrics.h"
#include "exporter/read/log_source.h"
#include "proto/phase.h"

/* What an event or line takes, about, and how many tell better. */
#define EVENT_BYTES 250
#define EVENTS_TOLD 100

/* By how much the wall clocks of two sources may differ. */
#define CLOCKS_DIFFER_NS (2 * CLOCK_NS_PER_SECOND)

static int
source_reopen(struct source *source, const char *directory,
    struct journal_position from, struct reason *reason)
{
	if (source->log != NULL)
		return log_source_restart(source->log, reason);
	journal_reader_free(&source->reader);
	source->reader =
	    journal_reader_open(directory, source->name, from, reason);
	return source->reader != NULL ? 0 : -1;
}

int
source_open(struct source *source, const char *directory, struct store *store,
    struct reason *reason)
{
	const struct journal_position from =
	    store_lower_bound(store, source->name);

	source->position = from;
	source->removed_before = 0;
	source->held_back = false;
	source->is_at_end = false;
	source->is_replayed = source->log != NULL;
	source->failed = false;
	source->ended_at = 0;
	source->latest = (struct stamp){0};
	source->damage = (struct journal_damage){0};
	return source_reopen(source, directory, from, reason);
}

void
source_close(struct source *source)
{
	journal_reader_free(&source->reader);
	log_source_free(&source->log);
	free(source->name);
}

bool
source_record_is_damaged(const struct source_record *record)
{
	const struct journal_damage *damage = &record->damage;

	return damage->records > 0 || damage->bytes > 0 || damage->torn > 0 ||
	       damage->segments > 0;
}

/* When the event was complete. */
static struct stamp
event_stamp(const struct event *event)
{
	switch (event->type) {
	case EVENT_MESSAGE:
		return message_event_ended_at(&event->message);
	case EVENT_DELIVERY:
		return stamp_is_set(&event->delivery.end_at)
			   ? event->delivery.end_at
			   : event->delivery.mail_at;
	case EVENT_HEARTBEAT:
		return event->heartbeat.at;
	case EVENT_OPERATION:
		return event->operation.at;
	case EVENT_NONE:
		break;
	}
	return (struct stamp){0};
}

/* Stamps are taken before their record is appended. So what `other` appended
 * before a delivery began, or a line was logged, lies before its record of
 * anything later. */
bool
source_is_later(const struct source *other, const struct source *source)
{
	const struct journal_record *record = &source->record;

	if (source->log != NULL)
		return other->latest.wall_ns >
		       source->line.wall_ns + CLOCKS_DIFFER_NS;
	if (other->log != NULL)
		return other->latest.wall_ns >
		       record->event.delivery.mail_at.wall_ns +
			   CLOCKS_DIFFER_NS;
	return boot_is_same(other->boot_id, record->segment->boot_id) &&
	       other->latest.monotonic_ns >
		   record->event.delivery.mail_at.monotonic_ns;
}

int
source_read(struct source *source, struct reason *reason)
{
	if (source->failed)
		return 0;
	return source->log != NULL
		   ? log_source_next(source->log, &source->line, reason)
		   : journal_reader_next(
			 source->reader, &source->record, reason);
}

struct source_record
source_record(const struct source *source)
{
	return (struct source_record){
	    .source = source->name,
	    .record = source->log == NULL ? &source->record : NULL,
	    .line = source->log != NULL ? &source->line : NULL,
	};
}

/* The damage that was met since the last time, ending where the record begins
 * or, without one, where reading goes on. */
static void
take_damage(struct source *source, struct source_record *record)
{
	const struct journal_damage *met =
	    journal_reader_damage(source->reader);

	record->damage = (struct journal_damage){
	    .records = met->records - source->damage.records,
	    .bytes = met->bytes - source->damage.bytes,
	    .torn = met->torn - source->damage.torn,
	    .headers = met->headers - source->damage.headers,
	    .segments = met->segments - source->damage.segments,
	};
	source->damage = *met;
	if (record->record != NULL)
		record->damage_end = (struct journal_position){
		    record->record->position.segment, record->record->offset};
	else
		record->damage_end = journal_reader_position(source->reader);
}

/* What is about to be given out. */
static void
measure(struct source *source)
{
	struct journal_position now = source->log != NULL
					  ? source->line.position
					  : source->record.position;
	uint64_t from = now.segment == source->position.segment
			    ? source->position.offset
			    : 0;

	source->read_events++;
	if (now.offset > from)
		source->read_bytes += (int64_t)(now.offset - from);
}

void
source_give(struct source *source, struct source_record *record_r)
{
	const struct journal_record *record = &source->record;

	measure(source);
	*record_r = source_record(source);
	source->held_back = false;
	if (source->log != NULL) {
		source->position = source->line.position;
		source->latest.wall_ns = source->line.wall_ns;
		return;
	}
	take_damage(source, record_r);
	source->position = record->position;
	source->latest = event_stamp(&record->event);
	memcpy(source->boot_id, record->segment->boot_id, CLOCK_BOOT_ID_BYTES);
}

/* The end of a source may have moved over damage. */
bool
source_give_end(struct source *source, struct source_record *record_r)
{
	if (source->log != NULL)
		return false;
	*record_r = (struct source_record){.source = source->name};
	take_damage(source, record_r);
	source->position = record_r->damage_end;
	return source_record_is_damaged(record_r);
}

/* How many of a size that is not read yet. */
static int64_t
events_in(const struct source *source, int64_t bytes)
{
	if (source->read_events < EVENTS_TOLD)
		return bytes / EVENT_BYTES;
	return (int64_t)((double)bytes / (double)source->read_bytes *
			 (double)source->read_events);
}

static void
behind_gauges(const struct source *source, enum metric_source label,
    int64_t behind_bytes, int64_t *live)
{
	unsigned index = source->log != NULL
			     ? metric_index(METRIC_LOG_BEHIND_BYTES, 0)
			     : metric_index(METRIC_JOURNAL_BEHIND_BYTES, label);

	live[metric_index(METRIC_SOURCE_EVENTS, label)] += source->read_events;
	if (behind_bytes <= 0)
		return;
	live[index] += behind_bytes;
	live[metric_index(METRIC_BEHIND_EVENTS, label)] +=
	    events_in(source, behind_bytes);
}

static void
log_gauges(const struct source *source, int64_t *live)
{
	const uint64_t *lines = log_source_lines(source->log);

	for (unsigned i = 0; i < LOG_LINE_KINDS; i++)
		live[metric_index(METRIC_LOG_LINES, i)] += (int64_t)lines[i];
	for (unsigned i = 0; i < LOG_LIMITS; i++) {
		int64_t *used =
		    &live[metric_index(METRIC_LOG_RATE_LIMIT_USED, i)];
		int64_t ours =
		    log_source_limit_used(source->log, (enum log_limit_kind)i);

		if (ours > *used)
			*used = ours;
	}
	behind_gauges(
	    source, SOURCE_LOG, log_source_behind_bytes(source->log), live);
}

void
source_gauges(const struct source *source, int64_t *live)
{
	unsigned label =
	    source->log != NULL ? SOURCE_LOG : metric_source(source->name);
	int64_t *last = &live[metric_index(METRIC_SOURCE_LAST_EVENT, label)];

	/* It must not hide that Postfix's is silent. */
	if (source->log != NULL &&
	    log_source_owner(source->log) == LOG_OF_DOVECOT)
		return;
	if (source->latest.wall_ns > *last)
		*last = source->latest.wall_ns;
	if (source->log != NULL) {
		log_gauges(source, live);
		return;
	}
	behind_gauges(
	    source, label, journal_reader_behind_bytes(source->reader), live);
}

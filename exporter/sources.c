/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readers of all journals and the order in which their records come. Owned
 * by ingest, on its thread.
 */
#include "exporter/sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/metrics.h"
#include "exporter/watch.h"
#include "proto/phase.h"

/* How many records of one source are taken before the next source's turn. */
#define TURN_RECORDS 256

struct source {
	char *name;
	struct journal_reader *reader;
	struct journal_record record;
	bool held_back; /* `record` is read but not returned */
	/* Moments of sources.moment: of reading the record that is held back,
	 * and of having been read to the end last. */
	uint64_t held_since;
	uint64_t ended_at;
	/* The latest stamp returned, and the boot it was taken in. */
	struct stamp latest;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	bool failed; /* not asked again before every source was */
	struct journal_position position; /* behind the last one returned */
	uint64_t removed_before; /* segments before this number are removed */
	struct journal_damage damage; /* returned so far */
};

struct sources {
	const char *directory;
	struct store *store;
	struct watch *watch;
	struct source *items;
	struct source_position *positions;
	size_t count;
	size_t turn; /* whose it is */
	size_t turn_records;
	size_t ended; /* sources in a row that had nothing */
	uint64_t moment;
	bool trouble;
	bool at_end; /* the last sources_next() returned 0 */
};

struct sources *
sources_new(const char *directory, struct store *store, struct watch *watch)
{
	struct sources *sources = memory_zeroed(1, sizeof(*sources));

	sources->directory = directory;
	sources->store = store;
	sources->watch = watch;
	return sources;
}

void
sources_free(struct sources **sources)
{
	if (*sources == NULL)
		return;
	for (size_t i = 0; i < (*sources)->count; i++) {
		journal_reader_free(&(*sources)->items[i].reader);
		free((*sources)->items[i].name);
	}
	free((*sources)->items);
	free((*sources)->positions);
	free(*sources);
	*sources = NULL;
}

/* Begins at what the store has of this source. */
static int
source_open(
    struct sources *sources, struct source *source, struct reason *reason)
{
	const struct journal_position from =
	    store_lower_bound(sources->store, source->name);

	journal_reader_free(&source->reader);
	source->reader =
	    journal_reader_open(sources->directory, source->name, from, reason);
	source->position = from;
	source->removed_before = 0;
	source->held_back = false;
	source->failed = false;
	source->ended_at = 0;
	source->latest = (struct stamp){0};
	source->damage = (struct journal_damage){0};
	return source->reader != NULL ? 0 : -1;
}

static bool
is_open(const struct sources *sources, const char *name)
{
	for (size_t i = 0; i < sources->count; i++)
		if (strcmp(sources->items[i].name, name) == 0)
			return true;
	return false;
}

static void
source_add(struct sources *sources, const char *name)
{
	struct source source = {.name = memory_string(name)};
	struct reason reason;

	if (watch_add(sources->watch, name, &reason) != 0 ||
	    source_open(sources, &source, &reason) != 0) {
		log_warn("source=%s reason=\"%s\"", name, reason.text);
		free(source.name);
		return;
	}
	sources->items =
	    memory_resize(sources->items, sources->count + 1, sizeof(source));
	sources->positions = memory_resize(sources->positions,
	    sources->count + 1, sizeof(*sources->positions));
	sources->items[sources->count++] = source;
	log_info("source=%s state=opened", name);
}

static bool
is_directory(DIR *directory, const struct dirent *entry)
{
	struct stat status;

	if (*entry->d_name == '.')
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
	       S_ISDIR(status.st_mode);
}

int
sources_scan(struct sources *sources, struct reason *reason)
{
	DIR *directory = opendir(sources->directory);
	const struct dirent *entry;

	if (directory == NULL)
		return reason_set_errno(
		    reason, "cannot read %s", sources->directory);
	while ((entry = readdir(directory)) != NULL)
		if (is_directory(directory, entry) &&
		    !is_open(sources, entry->d_name))
			source_add(sources, entry->d_name);
	closedir(directory);
	sources->ended = 0;
	return 0;
}

int
sources_restart(struct sources *sources, struct reason *reason)
{
	sources->ended = 0;
	for (size_t i = 0; i < sources->count; i++)
		if (source_open(sources, &sources->items[i], reason) != 0)
			return -1;
	return sources_scan(sources, reason);
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
		return stamp_is_set(&event->message.eom_at)
			   ? event->message.eom_at
			   : event->message.end_at;
	case EVENT_DELIVERY:
		return stamp_is_set(&event->delivery.end_at)
			   ? event->delivery.end_at
			   : event->delivery.mail_at;
	case EVENT_HEARTBEAT:
		return event->heartbeat.at;
	case EVENT_NONE:
		break;
	}
	return (struct stamp){0};
}

/* Stamps are taken before their record is appended. So what `other` appended
 * before a delivery began lies before its record of anything later. */
static bool
is_later(const struct source *other, const struct journal_record *record)
{
	return boot_is_same(other->boot_id, record->segment->boot_id) &&
	       other->latest.monotonic_ns >
		   record->event.delivery.mail_at.monotonic_ns;
}

/* Whether every other source was read as far as it was when the record was
 * read. A source that is held back itself has nothing to wait for. */
static bool
is_released(const struct sources *sources, const struct source *source)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *other = &sources->items[i];

		if (other != source && !other->held_back &&
		    other->ended_at <= source->held_since &&
		    !is_later(other, &source->record))
			return false;
	}
	return true;
}

static void
fail(
    struct sources *sources, struct source *source, const struct reason *reason)
{
	log_error("source=%s reason=\"%s\"", source->name, reason->text);
	source->failed = true;
	sources->trouble = true;
}

/* Looks for the source's next record. Returns whether there is one, which may
 * be held back. */
static bool
source_read(struct sources *sources, struct source *source,
    sources_ready *ready, void *context)
{
	struct reason reason;
	int result;

	if (source->held_back)
		return true;
	result = source->failed ? 0
				: journal_reader_next(
				      source->reader, &source->record, &reason);
	if (result < 0)
		fail(sources, source, &reason);
	if (result <= 0) {
		source->ended_at = ++sources->moment;
		return false;
	}
	source->held_back = !ready(context, &source->record);
	source->held_since = ++sources->moment;
	return true;
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

static void
give_record(struct source *source, struct source_record *record_r)
{
	const struct journal_record *record = &source->record;

	*record_r = (struct source_record){source->name, record, {0}, {0, 0}};
	take_damage(source, record_r);
	source->held_back = false;
	source->position = record->position;
	source->latest = event_stamp(&record->event);
	memcpy(source->boot_id, record->segment->boot_id, CLOCK_BOOT_ID_BYTES);
}

/* The end of a source may have moved over damage. */
static bool
give_end(struct source *source, struct source_record *record_r)
{
	*record_r = (struct source_record){source->name, NULL, {0}, {0, 0}};
	take_damage(source, record_r);
	source->position = record_r->damage_end;
	return source_record_is_damaged(record_r);
}

static void
end_turn(struct sources *sources)
{
	sources->turn_records = 0;
	sources->turn = (sources->turn + 1) % sources->count;
}

static void
forget_trouble(struct sources *sources)
{
	sources->at_end = false;
	sources->trouble = false;
	for (size_t i = 0; i < sources->count; i++)
		sources->items[i].failed = false;
}

int
sources_next(struct sources *sources, sources_ready *ready, void *context,
    struct source_record *record_r)
{
	if (sources->at_end)
		forget_trouble(sources);
	while (sources->ended < sources->count) {
		struct source *source = &sources->items[sources->turn];

		if (sources->turn_records == TURN_RECORDS) {
			end_turn(sources);
		} else if (!source_read(sources, source, ready, context)) {
			end_turn(sources);
			sources->ended++;
			if (!source->failed && give_end(source, record_r))
				return 1;
		} else if (source->held_back && !is_released(sources, source)) {
			sources->ended = 0;
			end_turn(sources);
		} else {
			sources->ended = 0;
			sources->turn_records++;
			give_record(source, record_r);
			return 1;
		}
	}
	sources->ended = 0;
	sources->at_end = true;
	return 0;
}

bool
sources_in_trouble(const struct sources *sources)
{
	return sources->trouble;
}

const struct source_position *
sources_positions(struct sources *sources, size_t *count_r)
{
	for (size_t i = 0; i < sources->count; i++)
		sources->positions[i] = (struct source_position){
		    sources->items[i].name, sources->items[i].position};
	*count_r = sources->count;
	return sources->positions;
}

void
sources_remove_read(struct sources *sources)
{
	struct reason reason;

	for (size_t i = 0; i < sources->count; i++) {
		struct source *source = &sources->items[i];

		if (source->position.segment == source->removed_before)
			continue;
		source->removed_before = source->position.segment;
		if (journal_reader_remove(
			source->reader, source->position, &reason) < 0)
			log_warn("source=%s reason=\"%s\"", source->name,
			    reason.text);
	}
}

void
sources_gauges(struct sources *sources, int64_t *live)
{
	for (size_t i = 0; i < sources->count; i++) {
		struct source *source = &sources->items[i];
		unsigned label = metric_source(source->name);
		int64_t behind = journal_reader_behind_bytes(source->reader);
		int64_t *last =
		    &live[metric_index(METRIC_SOURCE_LAST_EVENT, label)];

		if (behind > 0)
			live[metric_index(
			    METRIC_JOURNAL_BEHIND_BYTES, label)] += behind;
		if (source->latest.wall_ns > *last)
			*last = source->latest.wall_ns;
	}
}

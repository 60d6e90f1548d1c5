/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader and its catalog. Owned by sources.c, on the ingest thread.
 */
#include "exporter/read/log_source.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/metrics/metric_labels.h"
#include "exporter/read/log_catalog.h"
#include "exporter/read/log_meter.h"
#include "exporter/read/logger_conf.h"
#include "exporter/read/log_reader.h"
#include "store/store.h"

/* How often the catalog is saved for the sake of its times alone. */
#define SAVE_INTERVAL_NS (60 * CLOCK_NS_PER_SECOND)

struct log_source {
	char *path;
	enum log_owner owner;
	char *name;
	char *start_name;
	char *note_name;
	struct store *store;
	struct watch *watch;
	struct log_catalog catalog;
	struct log_reader *reader;
	struct logger_limits limits;
	struct log_meter *meters[LOG_LIMITS]; /* NULL: no limit */
	bool is_warned[LOG_LIMITS];
	/* A limit was used up: what to tell next. */
	bool owes_gap;
	struct log_record gap;
	int64_t saved_ns;
	uint64_t lines[LOG_LINE_KINDS];
};

struct log_source *
log_source_new(const char *path, enum log_owner owner, struct store *store,
    struct watch *watch)
{
	struct log_source *source = memory_zeroed(1, sizeof(*source));

	source->path = memory_string(path);
	source->owner = owner;
	source->name = memory_format("log:%s", path);
	source->start_name = memory_format("log start:%s", path);
	source->note_name = memory_format("log catalog:%s", path);
	source->store = store;
	source->watch = watch;
	return source;
}

void
log_source_free(struct log_source **source)
{
	if (*source == NULL)
		return;
	log_reader_free(&(*source)->reader);
	log_catalog_free(&(*source)->catalog);
	for (size_t i = 0; i < LOG_LIMITS; i++)
		log_meter_free(&(*source)->meters[i]);
	free((*source)->path);
	free((*source)->name);
	free((*source)->start_name);
	free((*source)->note_name);
	free(*source);
	*source = NULL;
}

static void
renew_meters(struct log_source *source)
{
	for (size_t i = 0; i < LOG_LIMITS; i++) {
		log_meter_free(&source->meters[i]);
		if (source->limits.items[i].limit.interval_ns > 0)
			source->meters[i] =
			    log_meter_new(&source->limits.items[i].limit,
				i == LOG_LIMIT_IMUXSOCK);
	}
	source->owes_gap = false;
}

void
log_source_look_for_limits(struct log_source *source, const char *root)
{
	if (*root != '\0')
		logger_conf_find(root, source->path, &source->limits);
}

const char *
log_source_name(const struct log_source *source)
{
	return source->name;
}

const char *
log_source_start_name(const struct log_source *source)
{
	return source->start_name;
}

enum log_owner
log_source_owner(const struct log_source *source)
{
	return source->owner;
}

/* A catalog that cannot be read is begun anew: generations are numbered by
 * their first line's time, so that it is likely to become the same. */
static void
read_catalog(struct log_source *source)
{
	struct buffer note = {.data = NULL};
	bool found = store_note_read(source->store, source->note_name, &note);

	log_catalog_free(&source->catalog);
	if (found)
		log_catalog_read(&source->catalog, note.data, note.size);
	buffer_free(&note);
}

int
log_source_restart(struct log_source *source, struct reason *reason)
{
	struct journal_position from =
	    store_lower_bound(source->store, source->start_name);

	log_reader_free(&source->reader);
	renew_meters(source);
	read_catalog(source);
	source->reader = log_reader_open(
	    source->path, source->watch, &source->catalog, from, reason);
	return source->reader != NULL ? 0 : -1;
}

/* By how much later it may have been: traditional stamps have whole seconds. */
static int64_t
precision_ns(int64_t wall_ns)
{
	return wall_ns % CLOCK_NS_PER_SECOND == 0 ? CLOCK_NS_PER_SECOND - 1 : 0;
}

static void
fill(const struct log_entry *entry, struct log_record *record_r)
{
	record_r->position = entry->position;
	record_r->gap = entry->gap;
	record_r->wall_ns = entry->wall_ns;
	if (entry->gap != LOG_GAP_NONE) {
		record_r->gap_start_wall_ns = entry->gap_start_wall_ns;
		record_r->wall_ns = entry->gap_end_wall_ns;
		record_r->precision_ns = precision_ns(entry->gap_end_wall_ns);
		return;
	}
	record_r->line = entry->line;
	maillog_record_parse(&record_r->line, &record_r->record);
	record_r->record.is_cut |= entry->is_cut;
	record_r->precision_ns = precision_ns(entry->wall_ns);
}

/* So that an administrator finds what was missing, and from when to when. */
static void
warn_of_gap(const struct log_source *source, const struct log_record *record)
{
	char start[CLOCK_TEXT_SIZE], end[CLOCK_TEXT_SIZE];

	clock_format(record->gap_start_wall_ns, start);
	clock_format(record->wall_ns, end);
	log_warn("source=\"%s\" gap=%s from=%s to=%s reason=\"lines of the log "
		 "are missing\"",
	    source->name, log_gap_name(record->gap), start, end);
}

static enum metric_log_line
line_kind(const struct log_record *record)
{
	if (record->line.syslog_name.size == 0)
		return LOG_LINE_FOREIGN;
	return record->record.kind == MAILLOG_OTHER ? LOG_LINE_UNKNOWN
						    : LOG_LINE_KNOWN;
}

static void
warn_of_limit(struct log_source *source, enum log_limit_kind kind)
{
	const struct logger_limit *limit = &source->limits.items[kind];
	int64_t percent = log_source_limit_used(source, kind) / 10000000;

	if (source->is_warned[kind])
		return;
	source->is_warned[kind] = true;
	log_warn("source=\"%s\" limit=%s file=%s setting=%s used=%" PRId64
		 "%% reason=\"%s drops lines of the log when there are more: "
		 "losses could not be told then; raise the setting\"",
	    source->name, log_limit_name(kind), limit->file, limit->setting,
	    percent, kind == LOG_LIMIT_JOURNALD ? "journald" : "rsyslogd");
}

/* journald says itself what it drops, in the journal. What rsyslogd says of it
 * is not of facility mail and goes to another file. */
static void
owe_gap(struct log_source *source, enum log_limit_kind kind,
    const struct log_record *record)
{
	int64_t interval_ns = source->limits.items[kind].limit.interval_ns;

	if (kind == LOG_LIMIT_JOURNALD)
		return;
	source->owes_gap = true;
	source->gap = (struct log_record){
	    .gap = LOG_GAP_LIMITED,
	    .gap_start_wall_ns = record->wall_ns - interval_ns,
	    .wall_ns = record->wall_ns,
	    .position = record->position,
	    .start = record->position,
	};
}

static void
measure(struct log_source *source, const struct log_record *record)
{
	bool is_ours = record->line.syslog_name.size > 0;

	for (unsigned i = 0; i < LOG_LIMITS; i++) {
		enum log_limit_kind kind = (enum log_limit_kind)i;
		enum log_meter_news news;

		if (source->meters[i] == NULL ||
		    (kind == LOG_LIMIT_JOURNALD && !is_ours))
			continue;
		news = log_meter_add(source->meters[i], record->line.pid,
		    record->wall_ns, record->record.repeats);
		if (news != LOG_METER_NOTHING)
			warn_of_limit(source, kind);
		if (news == LOG_METER_USED_UP)
			owe_gap(source, kind, record);
	}
}

int
log_source_next(struct log_source *source, struct log_record *record_r,
    struct reason *reason)
{
	struct log_entry entry;
	int result;

	if (source->owes_gap) {
		source->owes_gap = false;
		*record_r = source->gap;
		warn_of_gap(source, record_r);
		return 1;
	}
	*record_r = (struct log_record){.owner = source->owner,
	    .start = log_reader_position(source->reader)};
	result = log_reader_next(source->reader, &entry, reason);
	if (result == 1)
		fill(&entry, record_r);
	if (result == 1 && record_r->gap != LOG_GAP_NONE) {
		warn_of_gap(source, record_r);
	} else if (result == 1) {
		source->lines[line_kind(record_r)]++;
		measure(source, record_r);
	}
	return result;
}

struct journal_position
log_source_position(const struct log_source *source)
{
	return log_reader_position(source->reader);
}

bool
log_source_sees(const struct log_source *source)
{
	return log_reader_sees(source->reader);
}

int
log_source_save(struct log_source *source, struct reason *reason)
{
	int64_t now_ns = clock_stamp().monotonic_ns;
	struct buffer note = {.data = NULL};
	int result;

	if (source->catalog.count == 0)
		return 0;
	if (!source->catalog.changed &&
	    now_ns < source->saved_ns + SAVE_INTERVAL_NS)
		return 0;
	log_catalog_write(&source->catalog, &note);
	result =
	    store_note_write(source->store, source->note_name, &note, reason);
	buffer_free(&note);
	if (result != 0)
		return -1;
	source->catalog.changed = false;
	source->saved_ns = now_ns;
	return 0;
}

const uint64_t *
log_source_lines(const struct log_source *source)
{
	return source->lines;
}

int64_t
log_source_limit_used(const struct log_source *source, enum log_limit_kind kind)
{
	return source->meters[kind] != NULL
		   ? log_meter_used(source->meters[kind])
		   : 0;
}

int64_t
log_source_behind_bytes(const struct log_source *source)
{
	return log_reader_behind_bytes(source->reader);
}

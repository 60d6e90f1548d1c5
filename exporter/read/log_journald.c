/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The systemd journal as a log. The only user of libsystemd; owned by ingest,
 * on its thread.
 */
#include "exporter/read/log_journald.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include "base/memory.h"
#include "base/reason.h"
#include "exporter/read/log_catalog.h"
#include "exporter/read/log_lines.h"

#define NS_PER_US 1000
#define CURSOR_BYTES 128

/* The fields that are read of an entry. */
enum field { MESSAGE, IDENTIFIER, PID, REAL_PID, HOST, SOURCE_TIME, FIELDS };

static const char *const field_names[FIELDS] = {
    [MESSAGE] = "MESSAGE",
    [IDENTIFIER] = "SYSLOG_IDENTIFIER",
    [PID] = "SYSLOG_PID",
    [REAL_PID] = "_PID",
    [HOST] = "_HOSTNAME",
    [SOURCE_TIME] = "_SOURCE_REALTIME_TIMESTAMP",
};

/* What libsystemd calls a cursor, as far as it identifies an entry. */
struct place {
	uint64_t id[2]; /* of the sequence of numbers */
	uint64_t number;
};

struct log_journald {
	sd_journal *journal;
	struct log_catalog *catalog;
	struct journal_position position; /* behind the last entry given */
	bool sought; /* stands where `position` is, or was */
	bool placed; /* the entry of `position` was passed */
	bool from_end;
	enum log_gap gap; /* to be told in front of the next entry */
	int64_t last_wall_ns;
	bool held; /* `entry` is to be given after its gap */
	struct log_entry entry;
	/* Of the entry: libsystemd's own copies do not stay. */
	char *texts[FIELDS];
	size_t sizes[FIELDS];
};

bool
log_journald_is_supported(void)
{
	return true;
}

static int
fail(struct reason *reason, const char *what, int error)
{
	errno = -error;
	return reason_set_errno(reason, "systemd journal: %s", what);
}

static int
add_matches(sd_journal *journal)
{
	int result = sd_journal_add_match(journal, "SYSLOG_FACILITY=2", 0);

	if (result >= 0)
		result = sd_journal_add_disjunction(journal);
	if (result >= 0)
		result = sd_journal_add_match(
		    journal, "SYSLOG_IDENTIFIER=systemd-journald", 0);
	if (result >= 0)
		result = sd_journal_set_data_threshold(journal, LOG_LINE_MAX);
	return result;
}

/* libsystemd leaves out what it may not read, and says nothing. */
static int
check_access(const char *parent, struct reason *reason)
{
	char path[PATH_MAX], machine[SD_ID128_STRING_MAX];
	sd_id128_t id;

	if (sd_id128_get_machine(&id) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s/system.journal", parent,
	    sd_id128_to_string(id, machine));
	if (access(path, R_OK) == 0 || errno != EACCES)
		return 0;
	return reason_set_errno(
	    reason, "%s (group systemd-journal may read it)", path);
}

static int
open_system(sd_journal **journal_r, struct reason *reason)
{
	int result;

	if (check_access("/var/log/journal", reason) != 0 ||
	    check_access("/run/log/journal", reason) != 0)
		return -1;
	result = sd_journal_open(
	    journal_r, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
	return result < 0 ? fail(reason, "cannot be opened", result) : 0;
}

static int
open_directory(
    const char *directory, sd_journal **journal_r, struct reason *reason)
{
	int result = sd_journal_open_directory(journal_r, directory, 0);

	return result < 0 ? fail(reason, directory, result) : 0;
}

struct log_journald *
log_journald_open(const char *directory, struct log_catalog *catalog,
    struct journal_position from, bool from_end, struct reason *reason)
{
	struct log_journald *journald = memory_zeroed(1, sizeof(*journald));
	int result;

	journald->catalog = catalog;
	journald->position = from;
	journald->from_end = from_end;
	if (from.segment == 0 && catalog->count > 0)
		journald->position = (struct journal_position){
		    catalog->items[0].number, catalog->items[0].start_offset};
	if (directory != NULL)
		result = open_directory(directory, &journald->journal, reason);
	else
		result = open_system(&journald->journal, reason);
	if (result == 0 && (result = add_matches(journald->journal)) < 0)
		fail(reason, "cannot be searched", result);
	if (result < 0) {
		log_journald_free(&journald);
		return NULL;
	}
	/* Made now, it tells of what is written from now on. */
	sd_journal_get_fd(journald->journal);
	return journald;
}

void
log_journald_free(struct log_journald **journald)
{
	if (*journald == NULL)
		return;
	if ((*journald)->journal != NULL)
		sd_journal_close((*journald)->journal);
	for (unsigned i = 0; i < FIELDS; i++)
		free((*journald)->texts[i]);
	free(*journald);
	*journald = NULL;
}

/* Where the journal stands. */
static int
read_place(
    struct log_journald *journald, struct place *place_r, struct reason *reason)
{
	char *cursor;
	int result = sd_journal_get_cursor(journald->journal, &cursor);

	if (result < 0)
		return fail(reason, "no cursor", result);
	result = sscanf(cursor, "s=%16" SCNx64 "%16" SCNx64 ";i=%" SCNx64,
	    &place_r->id[0], &place_r->id[1], &place_r->number);
	free(cursor);
	if (result != 3)
		return reason_set(
		    reason, "systemd journal: a cursor of another kind");
	return 0;
}

static int
seek_generation(struct log_journald *journald)
{
	const struct log_generation *generation =
	    log_catalog_find(journald->catalog, journald->position.segment);
	char cursor[CURSOR_BYTES];

	/* A catalog that was lost is rebuilt: numbers are first times. */
	if (generation == NULL)
		return sd_journal_seek_realtime_usec(
		    journald->journal, journald->position.segment);
	journald->last_wall_ns = generation->read_wall_ns;
	snprintf(cursor, sizeof(cursor),
	    "s=%016" PRIx64 "%016" PRIx64 ";i=%" PRIx64 ";t=%" PRIx64,
	    generation->identity[0], generation->identity[1],
	    journald->position.offset,
	    (uint64_t)generation->read_wall_ns / NS_PER_US);
	return sd_journal_seek_cursor(journald->journal, cursor);
}

/* Stands in front of the first entry to be looked at. */
static int
seek(struct log_journald *journald, struct reason *reason)
{
	int result;

	if (journald->position.segment != 0)
		result = seek_generation(journald);
	else if (!journald->from_end)
		result = sd_journal_seek_head(journald->journal);
	else if ((result = sd_journal_seek_tail(journald->journal)) >= 0)
		result = sd_journal_previous(journald->journal);
	if (result < 0)
		return fail(reason, "cannot seek", result);
	return 0;
}

static bool
is_of(const struct log_generation *generation, const struct place *place)
{
	return generation != NULL && generation->identity[0] == place->id[0] &&
	       generation->identity[1] == place->id[1];
}

/* The generation that an entry belongs to: the present one, or one behind. */
static struct log_generation *
find_generation(
    struct log_journald *journald, const struct place *place, int64_t wall_ns)
{
	uint64_t number = journald->position.segment;
	struct log_generation *generation =
	    log_catalog_find(journald->catalog, number);
	const struct log_generation added = {
	    .identity = {place->id[0], place->id[1]},
	    .start_offset = place->number - 1,
	    .first_wall_ns = wall_ns,
	    .read_wall_ns = wall_ns,
	};

	if (is_of(generation, place))
		return generation;
	while ((generation = log_catalog_after(journald->catalog, number)) !=
	       NULL) {
		if (is_of(generation, place))
			return generation;
		number = generation->number;
	}
	return log_catalog_add(journald->catalog, &added);
}

static void
read_field(struct log_journald *journald, enum field field)
{
	const char *name = field_names[field];
	size_t skip = strlen(name) + 1, size;
	const void *data;

	journald->sizes[field] = 0;
	if (sd_journal_get_data(journald->journal, name, &data, &size) < 0 ||
	    size < skip)
		return;
	journald->sizes[field] = size - skip;
	journald->texts[field] =
	    memory_resize(journald->texts[field], size - skip + 1, 1);
	memcpy(journald->texts[field], (const char *)data + skip, size - skip);
}

static struct maillog_view
field_view(const struct log_journald *journald, enum field field)
{
	return (struct maillog_view){
	    journald->texts[field], journald->sizes[field]};
}

/* When it was logged, else when journald got it. */
static int64_t
read_wall_ns(struct log_journald *journald)
{
	int64_t us = 0;
	uint64_t received_us = 0;

	if (maillog_view_number(field_view(journald, SOURCE_TIME), &us) == 0 &&
	    us < INT64_MAX / NS_PER_US)
		return us * NS_PER_US;
	sd_journal_get_realtime_usec(journald->journal, &received_us);
	return (int64_t)received_us * NS_PER_US;
}

static void
read_entry(struct log_journald *journald)
{
	struct log_entry *entry = &journald->entry;
	struct maillog_line *line = &entry->line;

	*entry = (struct log_entry){.gap = LOG_GAP_NONE};
	for (unsigned i = 0; i < FIELDS; i++)
		read_field(journald, (enum field)i);
	entry->wall_ns = read_wall_ns(journald);
	entry->is_cut =
	    journald->sizes[MESSAGE] + sizeof("MESSAGE=") - 1 >= LOG_LINE_MAX;
	line->text = field_view(journald, MESSAGE);
	line->host = field_view(journald, HOST);
	maillog_line_set_tag(line, field_view(journald, IDENTIFIER));
	if (maillog_view_number(field_view(journald, PID), &line->pid) != 0 &&
	    maillog_view_number(field_view(journald, REAL_PID), &line->pid) !=
		0)
		line->pid = 0;
}

/* The first entry behind a position must follow the position's own, or have the
 * next number; else that one is forgotten, and perhaps others. Returns whether
 * the entry is still to be given. */
static bool
check_first(struct log_journald *journald, struct journal_position position)
{
	struct journal_position from = journald->position;

	journald->placed = true;
	if (from.segment == 0)
		return true;
	if (position.segment == from.segment &&
	    position.offset <= from.offset) {
		journald->placed = position.offset == from.offset;
		return false;
	}
	if (position.segment != from.segment ||
	    position.offset != from.offset + 1)
		journald->gap = LOG_GAP_GONE;
	return true;
}

static void
note_read(struct log_journald *journald)
{
	struct log_generation *generation = log_catalog_find(
	    journald->catalog, journald->entry.position.segment);

	journald->position = journald->entry.position;
	journald->last_wall_ns = journald->entry.wall_ns;
	if (generation != NULL)
		generation->read_wall_ns = journald->last_wall_ns;
}

/* The entry, or the gap in front of it. */
static void
give(struct log_journald *journald, struct log_entry *entry_r)
{
	if (journald->gap == LOG_GAP_NONE) {
		note_read(journald);
		*entry_r = journald->entry;
		return;
	}
	journald->position = journald->entry.position;
	journald->position.offset--;
	*entry_r = (struct log_entry){
	    .position = journald->position,
	    .gap = journald->gap,
	    .gap_start_wall_ns = journald->last_wall_ns,
	    .gap_end_wall_ns = journald->entry.wall_ns,
	};
	journald->gap = LOG_GAP_NONE;
	journald->held = true;
}

/* Moves to the next entry. What came while it was asked for is asked for again:
 * its notice may have been taken. */
static int
move(struct log_journald *journald, struct reason *reason)
{
	int result;

	do {
		result = sd_journal_next(journald->journal);
		if (result < 0)
			return fail(reason, "cannot be read", result);
	} while (result == 0 &&
		 sd_journal_process(journald->journal) > SD_JOURNAL_NOP);
	return result;
}

/* Moves to the next entry and reads it. Returns 1; 0; -1; or 2 for one that was
 * given before. */
static int
step(struct log_journald *journald, struct reason *reason)
{
	struct log_generation *generation;
	struct place place;
	int result = move(journald, reason);

	if (result <= 0)
		return result;
	if (read_place(journald, &place, reason) != 0)
		return -1;
	read_entry(journald);
	generation = find_generation(journald, &place, journald->entry.wall_ns);
	journald->entry.position =
	    (struct journal_position){generation->number, place.number};
	if (journald->placed || check_first(journald, journald->entry.position))
		return 1;
	journald->last_wall_ns = journald->entry.wall_ns;
	return 2;
}

int
log_journald_next(struct log_journald *journald, struct log_entry *entry_r,
    struct reason *reason)
{
	int result;

	if (journald->held) {
		journald->held = false;
		give(journald, entry_r);
		return 1;
	}
	if (!journald->sought) {
		if (seek(journald, reason) != 0)
			return -1;
		journald->sought = true;
	}
	do
		result = step(journald, reason);
	while (result == 2);
	if (result == 1)
		give(journald, entry_r);
	return result;
}

struct journal_position
log_journald_position(const struct log_journald *journald)
{
	return journald->position;
}

int
log_journald_fd(const struct log_journald *journald)
{
	int fd = sd_journal_get_fd(journald->journal);

	return fd >= 0 ? fd : -1;
}

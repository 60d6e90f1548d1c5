/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources: read all journals and logs in an order that respects cause and
 * effect.
 *
 * Each directory in the directory of journals is a source, and so is each log
 * of Postfix's or Dovecot's. On one host a message's event is appended before
 * its delivery can begin; so a delivery that is not ready by itself is held
 * back, and its source with it, until every other source has been read to its
 * end since it was read, or to something that is later on the same boot's
 * monotonic clock. In the same way lines of a log come after what the journals
 * held when they were read, and deliveries after what the logs held. After a
 * restart, lines come first that were read before it: see join_rebuild(). Not
 * thread-safe.
 */
#ifndef EXPORTER_READ_SOURCES_H
#define EXPORTER_READ_SOURCES_H

#include "exporter/read/log_record.h"
#include "proto/journal_reader.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct reason;
struct sources;
struct watch;

/* All are borrowed. Nothing is read before sources_scan(). */
struct sources *sources_new(
    const char *directory, struct store *store, struct watch *watch);
void sources_free(struct sources **sources);

/* Finds the journals that are there, and watches and opens those that are new.
 * Returns 0, or -1 when the directory cannot be read. One journal that cannot
 * be used is logged and left out. */
int sources_scan(struct sources *sources, struct reason *reason);

/* Goes back to the store's lower bounds. Returns 0, or -1. */
int sources_restart(struct sources *sources, struct reason *reason);

/* Adds the log that `path` names (see log_reader.h); for `limit_root` see
 * log_source_look_for_limits(). Returns 0, or -1 when it cannot be opened or
 * the store does not tell how far it was read. */
int sources_add_log(struct sources *sources, const char *path,
    const char *limit_root, struct reason *reason);

/* The same for a log of Dovecot's own. */
int sources_add_dovecot_log(
    struct sources *sources, const char *path, struct reason *reason);

/* A record to apply: an event of a journal or a line of a log, and the damage
 * that was stepped over on the way to it. */
struct source_record {
	const char *source;
	const struct journal_record *record; /* NULL: a line, or only damage */
	const struct log_record *line;       /* NULL: not a log's */
	struct journal_damage damage;
	struct journal_position damage_end;
};

bool source_record_is_damaged(const struct source_record *record);

typedef bool sources_ready(void *context, const struct source_record *record);

/* Returns 1 with the next record, valid until the next call; 0 when every
 * source has been read to its end. */
int sources_next(struct sources *sources, sources_ready *ready, void *context,
    struct source_record *record_r);

/* Whether a source could not be read since the last sources_next() that
 * returned 0; the reason is in the log. */
bool sources_in_trouble(const struct sources *sources);

/* Whether every log of Postfix's is there and followed, also when there is
 * none. To be asked when sources_next() has returned 0. */
bool sources_see_logs(const struct sources *sources);

/* From where a log that was read up to `position` must be read again. */
typedef struct journal_position sources_start(
    void *context, const char *source, struct journal_position position);

/* What is to be committed: behind the last record returned, for each source,
 * and where logs must be read again. The array is the sources'. */
const struct source_position *sources_positions(struct sources *sources,
    sources_start *start, void *context, size_t *count_r);

/* To be called before they are. Returns 0, or -1. */
int sources_save(struct sources *sources, struct reason *reason);

/* Removes the segments that nothing will be read of again, because what they
 * told is on the disk of the store. */
void sources_remove_read(struct sources *sources);

/* Sets the gauges about sources; see metric_index(). */
void sources_gauges(struct sources *sources, int64_t *live);

#endif

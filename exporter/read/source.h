/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source: one journal or log, and how far it was read.
 *
 * Only for sources.c, which decides whose turn it is.
 */
#ifndef EXPORTER_READ_SOURCE_H
#define EXPORTER_READ_SOURCE_H

#include "base/reason.h"
#include "exporter/read/sources.h"

#include <stdint.h>

struct log_source;

struct source {
	char *name;
	struct journal_reader *reader;
	struct journal_record record;
	struct log_source *log; /* instead of a journal; NULL: is one */
	struct log_record line;
	bool held_back; /* `record` is read but not returned */
	bool is_at_end; /* it had nothing when it was asked last */
	/* A log of which lines are to come that were read before a restart. */
	bool is_replayed;
	/* Moments of sources.moment: of reading the record that is held back,
	 * and of having been read to the end last. */
	uint64_t held_since;
	uint64_t ended_at;
	/* The latest stamp returned, and the boot it was taken in. */
	struct stamp latest;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	bool failed;           /* not asked again before every source was */
	struct reason trouble; /* the last failure told; "": none since */
	struct journal_position position; /* behind the last one returned */
	/* Since start, for what is not read yet to be estimated. */
	int64_t read_events, read_bytes;
	uint64_t removed_before; /* segments before this number are removed */
	struct journal_damage damage; /* returned so far */
};

/* Begins, or begins again, at what the store has of this source. Returns 0, or
 * -1. */
int source_open(struct source *source, const char *directory,
    struct store *store, struct reason *reason);
void source_close(struct source *source);

/* Reads the next record into the source. Returns 1, 0, or -1. */
int source_read(struct source *source, struct reason *reason);

/* The record that was read. */
struct source_record source_record(const struct source *source);

/* Whether `other` was read to something later than what was read of `source`,
 * a delivery or a line. */
bool source_is_later(const struct source *other, const struct source *source);

/* Hands the record out. */
void source_give(struct source *source, struct source_record *record_r);

/* The end of a source may have moved over damage. Returns whether it has. */
bool source_give_end(struct source *source, struct source_record *record_r);

/* Sets the gauges about it; see metric_index(). */
void source_gauges(const struct source *source, int64_t *live);

#endif

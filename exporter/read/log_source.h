/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_source: one log as a source: its lines, parsed, from where the store has
 * it.
 *
 * Keeps the log's catalog as a note in the store. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_SOURCE_H
#define EXPORTER_READ_LOG_SOURCE_H

#include "exporter/maillog/log_limit.h"
#include "exporter/read/log_record.h"

#include <stdint.h>

struct log_source;
struct reason;
struct store;
struct watch;

/* `path` names a log as in log_reader.h and is copied; the others are borrowed.
 */
struct log_source *log_source_new(const char *path, enum log_owner owner,
    struct store *store, struct watch *watch);
void log_source_free(struct log_source **source);

/* The names of its two positions in the store: up to where it was read, and
 * from where it must be read again. */
const char *log_source_name(const struct log_source *source);
const char *log_source_start_name(const struct log_source *source);

/* From now on looks out for the rate limits of journald and rsyslogd, whose
 * configuration lies below `root` (see logger_conf.h); empty: for none. To be
 * called before log_source_restart(). */
void log_source_look_for_limits(struct log_source *source, const char *root);

enum log_owner log_source_owner(const struct log_source *source);

/* Goes to where the store says. Returns 0, or -1. */
int log_source_restart(struct log_source *source, struct reason *reason);

/* Returns 1 with a record, valid until the next call; 0 at the end of what is
 * there; -1 with a reason, after which it may be called again. */
int log_source_next(struct log_source *source, struct log_record *record_r,
    struct reason *reason);

/* Behind the last record. */
struct journal_position log_source_position(const struct log_source *source);

/* Whether lines written now would be read. To be asked at the end of what is
 * there. */
bool log_source_sees(const struct log_source *source);

/* Saves what the store must know before it is told a position. Returns 0, or
 * -1. */
int log_source_save(struct log_source *source, struct reason *reason);

/* How many lines of each kind were read; see enum metric_log_line. */
const uint64_t *log_source_lines(const struct log_source *source);

/* See log_meter_used(). */
int64_t log_source_limit_used(
    const struct log_source *source, enum log_limit_kind kind);

/* See log_reader_behind_bytes(). */
int64_t log_source_behind_bytes(const struct log_source *source);

#endif

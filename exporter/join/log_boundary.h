/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_boundary: count once what both a producer and Postfix's log tell of.
 *
 * Where a log is read its lines count, and they alone. A log that begins to be
 * read may reach back to what was counted without it; so the moment when that
 * began is kept in the store, and divides them by their time. An attempt that
 * is under way in that moment may count twice, for the log tells of it a little
 * later; there is no such moment when a log is read from the first. For the
 * ingest thread.
 */
#ifndef EXPORTER_JOIN_LOG_BOUNDARY_H
#define EXPORTER_JOIN_LOG_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct store;

/* No log is read; one was from the first. */
#define LOG_BOUNDARY_NEVER INT64_MAX
#define LOG_BOUNDARY_ALWAYS INT64_MIN

/* Finds out from when on the log's lines count: from when a log was read for
 * the first time after one was not. Returns 0, or -1. */
int log_boundary_find(struct store *store, bool reads_log, int64_t now_wall_ns,
    int64_t *boundary_wall_ns_r, struct reason *reason);

#endif

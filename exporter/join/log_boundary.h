/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_boundary: count once what both a producer and Postfix's log tell of.
 *
 * Where a log is read its lines count, and they alone. A log that begins to be
 * read may reach back to what was counted without it; so the moment when that
 * began is kept in the store, and divides them by their time. For the ingest
 * thread.
 */
#ifndef EXPORTER_JOIN_LOG_BOUNDARY_H
#define EXPORTER_JOIN_LOG_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct store;

/* No log is read. */
#define LOG_BOUNDARY_NEVER INT64_MAX

/* Finds out from when on the log's lines count: from when a log was read for
 * the first time after one was not. Returns 0, or -1. */
int log_boundary_find(struct store *store, bool reads_log, int64_t now_wall_ns,
    int64_t *boundary_wall_ns_r, struct reason *reason);

#endif

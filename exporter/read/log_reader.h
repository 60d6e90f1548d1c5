/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_reader: the lines of a log, whether it is a file or the systemd journal,
 * and the watching for more.
 *
 * A log is named by a file's path, by `journal`, or by `journal:/directory` for
 * a journal elsewhere. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_READER_H
#define EXPORTER_READ_LOG_READER_H

#include "exporter/read/log_entry.h"

#include <stdbool.h>
#include <stdint.h>

struct log_catalog;
struct log_reader;
struct reason;
struct watch;

/* Whether this build can read such a log. Returns 0, or -1. */
int log_reader_check(const char *name, struct reason *reason);

/* Opens it behind `from`. The name is copied; the catalog, as for
 * log_follower_open(), and the watch are borrowed. NULL with a reason: a file
 * need not exist, but the journal must. */
struct log_reader *log_reader_open(const char *name, struct watch *watch,
    struct log_catalog *catalog, struct journal_position from,
    struct reason *reason);
void log_reader_free(struct log_reader **reader);

/* Returns 1 with an entry; 0 at the end of what is there, and the watch tells
 * when there is more; -1 with a reason, after which it may be called again. */
int log_reader_next(struct log_reader *reader, struct log_entry *entry_r,
    struct reason *reason);

/* Behind the last entry given. */
struct journal_position log_reader_position(const struct log_reader *reader);

/* Whether what is logged now would be read. To be asked at the end of what is
 * there. */
bool log_reader_sees(const struct log_reader *reader);

/* Bytes of the present file that are not read yet; 0 for the journal, which
 * does not tell. */
int64_t log_reader_behind_bytes(const struct log_reader *reader);

#endif

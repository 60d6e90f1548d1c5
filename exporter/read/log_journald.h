/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_journald: the mail log in the systemd journal, in order, from any
 * position.
 *
 * Gives what has the facility mail, and what journald says of itself. A
 * generation is a stretch of the journal with sequence numbers of their own
 * (journald begins anew when its files were lost or damaged); a position's
 * offset is the number of the last entry. Where the journal has forgotten the
 * entry of the position, a gap says so. Present only when built with
 * libsystemd. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_JOURNALD_H
#define EXPORTER_READ_LOG_JOURNALD_H

#include "exporter/read/log_entry.h"

#include <stdbool.h>

struct log_catalog;
struct log_journald;
struct reason;

/* Whether this build can read the journal. */
bool log_journald_is_supported(void);

/* Opens the system's journal, or the one in `directory` if that is not NULL,
 * behind `from`; the catalog and `from_end` as for log_follower_open(). Returns
 * NULL with a reason when it cannot be read: to see other users' entries takes
 * membership in group systemd-journal. */
struct log_journald *log_journald_open(const char *directory,
    struct log_catalog *catalog, struct journal_position from, bool from_end,
    struct reason *reason);

/* Returns 1 with an entry; 0 at the end of what is there; -1 on an error, after
 * which it is to be opened anew. */
int log_journald_next(struct log_journald *journald, struct log_entry *entry_r,
    struct reason *reason);

struct journal_position log_journald_position(
    const struct log_journald *journald);

/* Readable when there may be more; log_journald_next() then tells, and makes it
 * unreadable at the end of what is there. -1: the system does not tell. */
int log_journald_fd(const struct log_journald *journald);

void log_journald_free(struct log_journald **journald);

#endif

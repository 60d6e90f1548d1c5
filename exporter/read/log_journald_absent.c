/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands for log_journald.c in builds without libsystemd. */
#include "exporter/read/log_journald.h"

#include "base/reason.h"

bool
log_journald_is_supported(void)
{
	return false;
}

struct log_journald *
log_journald_open(const char *directory, struct log_catalog *catalog,
    struct journal_position from, bool from_end, struct reason *reason)
{
	reason_set(reason, "this build cannot read the systemd journal: "
			   "libsystemd was missing");
	return NULL;
}

int
log_journald_next(struct log_journald *journald, struct log_entry *entry_r,
    struct reason *reason)
{
	return reason_set(reason, "the systemd journal is not open");
}

struct journal_position
log_journald_position(const struct log_journald *journald)
{
	return (struct journal_position){0, 0};
}

int
log_journald_fd(const struct log_journald *journald)
{
	return -1;
}

void
log_journald_free(struct log_journald **journald)
{
	*journald = NULL;
}

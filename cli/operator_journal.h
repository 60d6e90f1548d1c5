/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operator_journal: the journal that the command line writes, in which what an
 * operator says reaches the exporter, running or not.
 */
#ifndef CLI_OPERATOR_JOURNAL_H
#define CLI_OPERATOR_JOURNAL_H

#include "base/config.h"

#include <stddef.h>

struct operation_event;
struct reason;
struct store_options;

struct operator_settings {
	char *journal;  /* directory of all journals */
	char *exporter; /* where it listens */
};

/* The section [operator]. */
extern const struct config_item operator_config_items[];
extern const size_t operator_config_item_count;

/* The directory of all journals, as the options or the configuration say; to be
 * freed. NULL with a reason when the configuration is not sound. */
char *operator_journal_directory(
    const struct store_options *options, struct reason *reason);

/* Appends all of them to the journal in `directory`, waiting for another one
 * who writes. Returns 0 when they are on the disk. -1 with a reason when they
 * may not all be: whatever is there holds. */
int operator_journal_write(const char *directory,
    const struct operation_event *operations, size_t count,
    struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privacy_filter: records as privacy allows them, on their way to the join.
 *
 * Envelope, logins and texts; Message-IDs and what operators write stay as they
 * are. What decides a fate reads the same before and after. Not thread-safe.
 */
#ifndef EXPORTER_PRIVACY_PRIVACY_FILTER_H
#define EXPORTER_PRIVACY_PRIVACY_FILTER_H

#include "exporter/privacy/privacy.h"
#include "exporter/read/sources.h"

struct privacy_filter;

/* The key is borrowed. NULL when there is no memory. */
struct privacy_filter *privacy_filter_new(const struct privacy *privacy);
void privacy_filter_free(struct privacy_filter **filter);

/* Has *record point to what may be kept, valid until the next call. Returns 0,
 * or -1 for a record that is too large. */
int privacy_filter_apply(struct privacy_filter *filter,
    struct source_record *record, struct reason *reason);

#endif

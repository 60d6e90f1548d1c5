/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_labels: whose latencies the store keeps.
 *
 * Part of query.h, whose rules hold.
 */
#ifndef STORE_QUERY_LABELS_H
#define STORE_QUERY_LABELS_H

#include "store/query_days.h"
#include "store/series.h"

#include <stddef.h>

struct arena;
struct store_reader;

struct label_answer {
	const char **labels; /* each once, sorted */
	size_t count;
	struct query_gap gap;
};

/* All labels of a kind, in all files and the archive; in `arena`. Returns 0, or
 * -1 with a reason: no directory, the arena's limit. */
int store_latency_labels(struct store_reader *reader, enum series_kind kind,
    struct arena *arena, struct label_answer *answer_r, struct reason *reason);

#endif

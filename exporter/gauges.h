/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gauges: what is true of ingest at the moment.
 *
 * Part of ingest, on its thread.
 */
#ifndef EXPORTER_GAUGES_H
#define EXPORTER_GAUGES_H

#include "exporter/join/loss.h"
#include "exporter/pace.h"

#include <stdbool.h>
#include <stdint.h>

struct join;
struct sources;
struct store;
struct upkeep;

/* Pointers are borrowed. */
struct gauges {
	struct store *store;
	struct sources *sources;
	struct join *join;
	struct loss *loss;
	const struct upkeep *upkeep;
	struct pace pace;
	enum loss_detection noted_detection; /* LOSS_DETECTIONS: none yet */
};

/* Sets all of them, by metric_index(). `at_end`: all that was there is read. */
void gauges_fill(struct gauges *gauges, bool at_end, int64_t *live);

/* Those that do not depend on what is committed. */
void gauges_fill_in_trouble(struct gauges *gauges, bool at_end, int64_t *live);

#endif

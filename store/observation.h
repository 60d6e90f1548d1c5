/* SPDX-License-Identifier: BSD-2-Clause */
/* observation: a duration, and whose it is. */
#ifndef STORE_OBSERVATION_H
#define STORE_OBSERVATION_H

#include "store/series.h"

#include <stdint.h>

struct uuid;

struct observation {
	unsigned histogram;          /* as in totals_names */
	struct series_labels labels; /* as they were written */
	const struct uuid *message;  /* whose; NULL: not said */
	int64_t wall_ns;             /* when it was complete */
	int64_t value_ns;
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by threads and commands that read the store. */
#include "base/priority.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/log.h"

/* A ninth of the weight: of two processors that ten readers want, too, who
 * stores has most of one. */
#define NICER 10

void
priority_give_way(void)
{
	static _Thread_local bool has_given_way;

	if (!has_given_way && nice(NICER) == -1)
		log_debug("reason=\"the priority stays\"");
	has_given_way = true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by subcommands that tell what is true now. */
#include "cli/store_age.h"

#include "base/clock.h"
#include "cli/duration_text.h"
#include "cli/store_options.h"
#include "store/reach.h"

#define WRITTEN_LATELY_NS (60 * CLOCK_NS_PER_SECOND)

/* -1 where there is nothing to be old. */
static int64_t
age_ns(const char *directory, int64_t now_wall_ns)
{
	struct store_reach reach;

	if (store_reach(directory, &reach, NULL) < 0 ||
	    reach.first_wall_ns == 0)
		return -1;
	return now_wall_ns - reach.written_wall_ns;
}

bool
store_age_is_small(const char *directory, int64_t now_wall_ns)
{
	return age_ns(directory, now_wall_ns) < WRITTEN_LATELY_NS;
}

bool
store_age_warn(const char *directory, int64_t now_wall_ns)
{
	int64_t age = age_ns(directory, now_wall_ns);
	char ago[DURATION_TEXT_SIZE];

	if (age < WRITTEN_LATELY_NS)
		return true;
	duration_text(age, false, ago);
	store_options_say("the store was last written %s ago:"
			  " is postlag-exporter running?",
	    ago);
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes answers about outcomes. Called by the exporter's HTTP threads. */
#include "store/outcomes_json.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "store/query_outcomes.h"

/* Who was refused is recorded only where others of the message were not, or as
 * long as there are few: their count over time would tell nothing. */
static bool
was_accepted(enum recipient_state state)
{
	return state != RECIPIENT_REJECTED && state != RECIPIENT_ABORTED;
}

static void
append_point(const struct outcome_point *point, struct buffer *out)
{
	char start[CLOCK_TEXT_SIZE];

	clock_format(point->start_wall_ns, start);
	buffer_append_format(out, "{\"start\": \"%s\"", start);
	for (unsigned i = 0; i < RECIPIENT_STATES; i++)
		if (was_accepted((enum recipient_state)i))
			buffer_append_format(out, ", \"%s\": %" PRIu64,
			    recipient_state_name((enum recipient_state)i),
			    point->counts[i]);
	buffer_append_string(out, "}");
}

void
outcomes_json(
    const struct outcome_answer *answer, int64_t step_ns, struct buffer *out)
{
	buffer_append_format(out, "{\"step\": %" PRId64 ", \"points\": [",
	    step_ns / CLOCK_NS_PER_SECOND);
	for (size_t i = 0; i < answer->count; i++) {
		buffer_append_string(out, i > 0 ? ",\n" : "\n");
		append_point(&answer->points[i], out);
	}
	buffer_append_string(out, "\n], \"whole\": ");
	append_point(&answer->whole, out);
	if (answer->gap.is_there)
		buffer_append_string(out, ", \"incomplete\": true");
	buffer_append_string(out, "}\n");
}

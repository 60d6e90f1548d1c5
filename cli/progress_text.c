/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by watch_progress.c. */
#include "cli/progress_text.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "cli/duration_text.h"
#include "store/progress.h"

#define STEP 1000.0

static void
append_bytes(struct buffer *out, int64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	double size = (double)bytes / STEP;
	size_t unit = 0;

	while (size >= STEP && unit + 1 < sizeof(units) / sizeof(units[0])) {
		size /= STEP;
		unit++;
	}
	buffer_append_format(out, "%.1f %s", size, units[unit]);
}

char *
progress_text(const struct progress *progress)
{
	struct buffer out = {0};
	char left[DURATION_TEXT_SIZE], *text;
	int64_t events = 0;

	buffer_append_string(&out, "the exporter catches up: ");
	for (size_t i = 0; i < progress->count; i++) {
		const struct progress_source *source = &progress->sources[i];

		buffer_append_format(
		    &out, "%s%s ", i > 0 ? ", " : "", source->name);
		append_bytes(&out, source->bytes);
		events += source->events;
	}
	buffer_append_format(&out,
	    " to read, about %" PRId64 " events, %" PRId64 " a second", events,
	    progress->events_per_second);
	if (progress->left_ns >= 0) {
		duration_text(progress->left_ns, false, left);
		buffer_append_format(&out, ", done in about %s", left);
	}
	buffer_append(&out, "", 1);
	text = memory_string((const char *)out.data);
	buffer_free(&out);
	return text;
}

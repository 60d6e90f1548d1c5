/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by logs.c at start. */
#include "exporter/join/log_boundary.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "store/store.h"

#define NOTE "refusals_by_log_since"

/* Logs with whole seconds are divided right by a whole second only. */
static int64_t
next_second(int64_t wall_ns)
{
	return (wall_ns / CLOCK_NS_PER_SECOND + 1) * CLOCK_NS_PER_SECOND;
}

static int
write_note(struct store *store, int64_t since_wall_ns, struct reason *reason)
{
	struct buffer note = {.data = NULL};
	int result;

	if (since_wall_ns != LOG_BOUNDARY_NEVER)
		buffer_append_format(&note, "%" PRId64 "\n", since_wall_ns);
	result = store_note_write(store, NOTE, &note, reason);
	buffer_free(&note);
	return result;
}

/* What was in force last time. */
static int64_t
read_note(const struct store *store)
{
	struct buffer note = {.data = NULL};
	int64_t since_wall_ns = LOG_BOUNDARY_NEVER;

	if (store_note_read(store, NOTE, &note)) {
		buffer_append(&note, "", 1);
		sscanf((const char *)note.data, "%" SCNd64, &since_wall_ns);
	}
	buffer_free(&note);
	return since_wall_ns;
}

static int64_t
begin(const struct store *store, int64_t now_wall_ns)
{
	return store_is_new(store) ? LOG_BOUNDARY_ALWAYS
				   : next_second(now_wall_ns);
}

int
log_boundary_find(struct store *store, bool reads_log, int64_t now_wall_ns,
    int64_t *boundary_wall_ns_r, struct reason *reason)
{
	const int64_t kept_wall_ns = read_note(store);

	if (reads_log)
		*boundary_wall_ns_r = kept_wall_ns != LOG_BOUNDARY_NEVER
					  ? kept_wall_ns
					  : begin(store, now_wall_ns);
	else
		*boundary_wall_ns_r = LOG_BOUNDARY_NEVER;
	return *boundary_wall_ns_r == kept_wall_ns
		   ? 0
		   : write_note(store, *boundary_wall_ns_r, reason);
}

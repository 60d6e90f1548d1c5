/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Called by watch.c after each look at the store. The exporter notes how far it
 * is behind in the store itself: so all who may read the store are told, and
 * from the one who knows; files' sizes and positions say nothing of compressed
 * logs, nor of the journal of systemd, and the logs are not for all to read.
 */
#include "cli/watch_progress.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/reason.h"
#include "cli/progress_text.h"
#include "cli/store_age.h"
#include "cli/store_options.h"
#include "store/progress.h"
#include "store/query_note.h"

#define LOOK_NS CLOCK_NS_PER_SECOND
#define TELL_NS (10 * CLOCK_NS_PER_SECOND)
/* An exporter that runs notes it each second. */
#define STALE_NS (10 * CLOCK_NS_PER_SECOND)
#define ARENA_BYTES (1 << 16)

/* Returns whether it is behind. */
static bool
read_progress(struct store_reader *reader, struct progress *progress_r)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct reason reason;
	const char *text;
	bool is_behind =
	    store_note(reader, NOTE_PROGRESS, arena, &text, &reason) == 1 &&
	    text != NULL && progress_read(text, progress_r) == 0;

	arena_free(&arena);
	return is_behind;
}

static void
tell(struct watch_progress *told, const struct progress *now, int64_t now_ns)
{
	char *text;

	if (told->is_behind && now_ns - told->told_ns < TELL_NS)
		return;
	text = progress_text(now);
	store_options_say("%s", text);
	free(text);
	told->is_behind = true;
	told->told_ns = now_ns;
}

void
watch_progress_tell(struct watch_progress *told, struct store_reader *reader,
    const char *directory)
{
	const struct stamp now = clock_stamp();
	struct progress progress;

	if (told->looked_ns != 0 &&
	    now.monotonic_ns - told->looked_ns < LOOK_NS)
		return;
	told->looked_ns = now.monotonic_ns;
	if (!read_progress(reader, &progress)) {
		if (told->is_behind)
			store_options_say("the exporter has caught up");
		told->is_behind = false;
	} else if (now.wall_ns - progress.wall_ns < STALE_NS)
		tell(told, &progress, now.monotonic_ns);
	if (!told->is_silent)
		told->is_silent = !store_age_warn(directory, now.wall_ns);
	else
		told->is_silent = !store_age_is_small(directory, now.wall_ns);
}

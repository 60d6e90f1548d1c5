/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upkeep: what the store needs as time goes by, whether mail comes or not.
 *
 * Days that leave the window of those that are written are sealed: what is open
 * in them becomes unknown, as part of a batch like any other, and after its
 * commit they are closed. Those that were kept long enough are purged, and then
 * nothing in them is lost any more. What operators want forgotten is, between
 * batches. What journals told is removed once it is on the disk of the store.
 * Part of ingest, on its thread. `now_ns` is CLOCK_MONOTONIC.
 */
#ifndef EXPORTER_UPKEEP_H
#define EXPORTER_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join;
struct published;
struct reason;
struct sources;
struct store;

/* Zero but for what is borrowed. */
struct upkeep {
	struct store *store;
	struct join *join;
	struct sources *sources;
	struct published *published;
	bool is_settled; /* no loss is gone since that was looked for */
	int64_t seal_at_ns; /* when days that were not sealed are tried again */
	bool is_sealing;    /* since a batch ended what was open in days */
	bool is_purging;
	bool has_no_disk;
	uint64_t errors; /* batches given up */
	/* Called when files are gone that others may still have open, and, with
	 * `waits`, when the disk became read-only or writable and none may be
	 * open as it was. NULL: nobody has any. */
	void (*close_gone)(bool waits);
};

/* Before anything of a batch: whether the store can be written at all. Returns
 * 0, or -1: the store must be read again before going on. */
int upkeep_before_batch(struct upkeep *upkeep, struct reason *reason);

/* Between reading and committing; `all_is_read`: no source has more to tell.
 * Returns how many messages it changed, or -1: the batch must be given up. */
long upkeep_before_commit(struct upkeep *upkeep, bool all_is_read,
    int64_t now_ns, struct reason *reason);

/* After a commit, or when there is no batch. Returns whether the gauges have
 * changed. */
bool upkeep_between_batches(struct upkeep *upkeep, int64_t now_ns);

/* After a batch was given up. */
void upkeep_break_off(struct upkeep *upkeep);

/* When there is something to do at the latest. */
int64_t upkeep_deadline(const struct upkeep *upkeep, int64_t now_ns);

/* Sets the live metrics of the store that are its own business. */
void upkeep_gauges(const struct upkeep *upkeep, int64_t *live);

#endif

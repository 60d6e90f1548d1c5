/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest on its thread. */
#include "exporter/upkeep.h"

#include "base/clock.h"
#include "exporter/gone.h"
#include "exporter/join/join.h"
#include "exporter/metrics/metrics.h"
#include "exporter/read/sources.h"
#include "exporter/serve/published.h"
#include "store/store.h"

/* A batch of them. */
#define MESSAGES_MAX 1000
/* After which days in which deliveries still wait are tried again. */
#define RETRY_NS CLOCK_NS_PER_SECOND
/* After which a purge is looked at again. */
#define PURGE_LOOK_NS (CLOCK_NS_PER_SECOND / 10)
/* How long ingest stands still at a time while addresses are forgotten. */
#define FORGET_NS (CLOCK_NS_PER_SECOND / 100)

int
upkeep_before_batch(struct upkeep *upkeep, struct reason *reason)
{
	int result = store_probe_disk(upkeep->store, reason);
	bool has_no_disk = result != 0;

	if (has_no_disk != upkeep->has_no_disk && upkeep->close_gone != NULL)
		upkeep->close_gone(true);
	upkeep->has_no_disk = has_no_disk;
	return result;
}

static long
settle(struct upkeep *upkeep, struct reason *reason)
{
	if (upkeep->is_settled)
		return 0;
	upkeep->is_settled = true;
	return gone_settle(upkeep->store,
	    published_committed(upkeep->published, RECIPIENT_LOST), reason);
}

static long
seal(struct upkeep *upkeep, bool all_is_read, int64_t now_ns,
    struct reason *reason)
{
	long count;

	if ((!all_is_read && !store_is_pressed(upkeep->store)) ||
	    now_ns < upkeep->seal_at_ns || !store_has_past(upkeep->store))
		return 0;
	count = join_seal(upkeep->join, MESSAGES_MAX, reason);
	upkeep->is_sealing = count >= 0;
	upkeep->seal_at_ns = count == MESSAGES_MAX ? 0 : now_ns + RETRY_NS;
	return count;
}

long
upkeep_before_commit(struct upkeep *upkeep, bool all_is_read, int64_t now_ns,
    struct reason *reason)
{
	long settled = settle(upkeep, reason), sealed;

	if (settled < 0)
		return -1;
	sealed = seal(upkeep, all_is_read, now_ns, reason);
	return sealed < 0 ? -1 : settled + sealed;
}

/* Returns whether days are gone. */
static bool
purge(struct upkeep *upkeep)
{
	bool is_done;

	upkeep->is_purging = store_is_purging(upkeep->store, &is_done);
	if (is_done)
		upkeep->is_settled = false;
	if (is_done && upkeep->close_gone != NULL)
		upkeep->close_gone(false);
	if (!upkeep->is_purging && store_has_purge(upkeep->store)) {
		join_forget_kept(upkeep->join);
		store_purge(upkeep->store);
		upkeep->is_purging = true;
	}
	return is_done;
}

/* What the disk has is shown; then it is asked for the rest. Returns whether
 * that was begun. */
static bool
follow_disk(struct upkeep *upkeep, int64_t now_ns)
{
	enum store_sync sync = store_follow_sync(upkeep->store, now_ns);

	if (sync == STORE_SYNC_ENDED) {
		published_show(upkeep->published);
		store_raise_synced(upkeep->store);
		sources_remove_read(upkeep->sources);
		sync = store_follow_sync(upkeep->store, now_ns);
	}
	return sync == STORE_SYNC_BEGAN;
}

bool
upkeep_between_batches(struct upkeep *upkeep, int64_t now_ns)
{
	bool has_begun;

	store_shorten_logs(upkeep->store);
	has_begun = follow_disk(upkeep, now_ns);
	store_forget_some(upkeep->store, now_ns, FORGET_NS);
	if (upkeep->is_sealing)
		upkeep->is_sealing = !store_seal(upkeep->store);
	/* The oldest go first, so not while they are sealed. */
	return (!upkeep->is_sealing && purge(upkeep)) || has_begun;
}

void
upkeep_break_off(struct upkeep *upkeep)
{
	upkeep->is_sealing = upkeep->is_settled = false;
	upkeep->errors++;
}

static int64_t
midnight_ns(int64_t now_ns)
{
	int64_t wall_ns = clock_stamp().wall_ns;

	return now_ns + (clock_day(wall_ns) + 1) * CLOCK_NS_PER_DAY - wall_ns;
}

static int64_t
seal_deadline(const struct upkeep *upkeep, int64_t now_ns)
{
	if (upkeep->is_purging)
		return now_ns + PURGE_LOOK_NS;
	if (!store_has_past(upkeep->store))
		return midnight_ns(now_ns);
	return upkeep->seal_at_ns > now_ns ? upkeep->seal_at_ns
					   : now_ns + RETRY_NS;
}

int64_t
upkeep_deadline(const struct upkeep *upkeep, int64_t now_ns)
{
	int64_t next_ns = seal_deadline(upkeep, now_ns);
	int64_t forget_ns = store_forget_due(upkeep->store);
	int64_t purge_ns = store_purge_due(upkeep->store);
	int64_t sync_ns = store_sync_due(upkeep->store);

	if (!upkeep->is_settled)
		return now_ns;
	if (forget_ns != 0 && forget_ns < next_ns)
		next_ns = forget_ns;
	if (sync_ns != 0 && sync_ns < next_ns)
		next_ns = sync_ns;
	return purge_ns != 0 && purge_ns < next_ns ? purge_ns : next_ns;
}

static void
set_live(int64_t *live, enum metric metric, int64_t value)
{
	live[metric_index(metric, 0)] = value;
}

void
upkeep_gauges(const struct upkeep *upkeep, int64_t *live)
{
	struct store_figures store;

	store_figures(upkeep->store, &store);
	set_live(live, METRIC_STORE_FILES, (int64_t)store.files);
	set_live(live, METRIC_STORE_BYTES, (int64_t)store.bytes);
	live[metric_index(METRIC_DISK_AVAILABLE_BYTES, DISK_STORE)] =
	    store.available_bytes;
	set_live(
	    live, METRIC_STORE_DAMAGED_FILES, (int64_t)store.damaged_files);
	set_live(
	    live, METRIC_STORE_REPLACED_FILES, (int64_t)store.replaced_files);
	set_live(live, METRIC_STORE_OLDEST_DAY,
	    store.oldest_day != INT64_MAX ? store.oldest_day * CLOCK_NS_PER_DAY
					  : 0);
	set_live(live, METRIC_STORE_PURGES, (int64_t)store.purged_days);
	set_live(live, METRIC_STORE_ERRORS,
	    (int64_t)(upkeep->errors + store.failures));
	set_live(live, METRIC_STORE_COMMITS, (int64_t)store.commits);
	set_live(live, METRIC_STORE_LONGEST_COMMIT, store.longest_commit_ns);
	set_live(live, METRIC_STORE_LONGEST_PAUSE, store.longest_pause_ns);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture behind a lock, and the one that the ingest thread prepares. The
 * HTTP threads copy what is shown. The lock is held for copies of some
 * kilobytes only.
 */
#include "exporter/serve/published.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exporter/metrics/metrics.h"
#include "exporter/metrics/revision.h"
#include "exporter/serve/balance.h"

struct published {
	pthread_mutex_t lock;
	struct totals *totals;
	struct picture now;  /* with the lock */
	struct picture next; /* the ingest thread's */
	bool has_next;
};

void
picture_init(struct picture *picture)
{
	*picture = (struct picture){
	    .counters = memory_zeroed(
		metric_values(METRIC_STORED_COUNTER), sizeof(uint64_t)),
	    .histograms = memory_zeroed(metric_values(METRIC_STORED_HISTOGRAM),
		sizeof(struct histogram_total)),
	    .live = memory_zeroed(metric_values(METRIC_GAUGE), sizeof(int64_t)),
	};
}

void
picture_free(struct picture *picture)
{
	free(picture->counters);
	free(picture->histograms);
	free(picture->live);
	*picture = (struct picture){.counters = NULL};
}

struct published *
published_new(struct totals *totals)
{
	struct published *published = memory_zeroed(1, sizeof(*published));

	pthread_mutex_init(&published->lock, NULL);
	published->totals = totals;
	picture_init(&published->now);
	picture_init(&published->next);
	totals_snapshot(
	    totals, published->now.counters, published->now.histograms);
	return published;
}

void
published_free(struct published **published)
{
	if (*published == NULL)
		return;
	picture_free(&(*published)->now);
	picture_free(&(*published)->next);
	pthread_mutex_destroy(&(*published)->lock);
	free(*published);
	*published = NULL;
}

static void
copy_state(struct picture *to, const struct picture *from)
{
	memcpy(to->live, from->live,
	    metric_values(METRIC_GAUGE) * sizeof(*to->live));
	memcpy(to->trouble, from->trouble, sizeof(to->trouble));
	to->caught_up = from->caught_up;
}

void
published_prepare(struct published *published, const struct picture *own)
{
	struct picture *next = &published->next;

	totals_snapshot(published->totals, next->counters, next->histograms);
	copy_state(next, own);
	balance_fill(next);
	published->has_next = true;
}

void
published_show(struct published *published)
{
	const struct picture before = published->now;

	if (!published->has_next)
		return;
	pthread_mutex_lock(&published->lock);
	published->now = published->next;
	published->next = before;
	pthread_mutex_unlock(&published->lock);
	published->has_next = false;
}

void
published_tell(struct published *published, const struct picture *own)
{
	pthread_mutex_lock(&published->lock);
	copy_state(&published->now, own);
	pthread_mutex_unlock(&published->lock);
}

void
published_recall(struct published *published, struct picture *own_r)
{
	pthread_mutex_lock(&published->lock);
	copy_state(own_r, &published->now);
	pthread_mutex_unlock(&published->lock);
}

int64_t
published_committed(struct published *published, enum recipient_state state)
{
	struct picture committed;
	int64_t count;

	picture_init(&committed);
	totals_snapshot(
	    published->totals, committed.counters, committed.histograms);
	balance_fill(&committed);
	count = committed.live[metric_index(
	    METRIC_RECIPIENTS, OPEN_STATES + outcome_number(state))];
	picture_free(&committed);
	return count;
}

void
published_copy(struct published *published, struct picture *picture_r)
{
	const struct picture *now = &published->now;

	pthread_mutex_lock(&published->lock);
	memcpy(picture_r->counters, now->counters,
	    metric_values(METRIC_STORED_COUNTER) * sizeof(*now->counters));
	memcpy(picture_r->histograms, now->histograms,
	    metric_values(METRIC_STORED_HISTOGRAM) * sizeof(*now->histograms));
	copy_state(picture_r, now);
	pthread_mutex_unlock(&published->lock);
}

bool
published_ready(
    struct published *published, char trouble_r[PICTURE_TROUBLE_SIZE])
{
	bool caught_up;

	pthread_mutex_lock(&published->lock);
	memcpy(trouble_r, published->now.trouble, PICTURE_TROUBLE_SIZE);
	caught_up = published->now.caught_up;
	pthread_mutex_unlock(&published->lock);
	if (*trouble_r != '\0')
		return false;
	if (!caught_up)
		snprintf(trouble_r, PICTURE_TROUBLE_SIZE,
		    "the journals are still being read");
	return caught_up;
}

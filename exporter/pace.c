/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest with each picture that it publishes. */
#include "exporter/pace.h"

#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/metrics/metrics.h"
#include "store/progress.h"
#include "store/store.h"

#define BEHIND_NS (2 * CLOCK_NS_PER_SECOND)
#define NOT_KNOWN_NS (-CLOCK_NS_PER_SECOND)

struct pace
pace_begin(int64_t now_ns)
{
	/* Until it is published that it keeps up, somebody may have noted that
	 * it does not. */
	return (struct pace){.at_end_ns = now_ns, .is_noted = true};
}

static int64_t
bytes_of(const int64_t *live, unsigned source)
{
	int64_t bytes = live[metric_index(METRIC_JOURNAL_BEHIND_BYTES, source)];

	if (source == SOURCE_LOG)
		bytes += live[metric_index(METRIC_LOG_BEHIND_BYTES, 0)];
	return bytes;
}

static struct pace_sample
sample_of(const int64_t *live, int64_t now_ns)
{
	struct pace_sample sample = {.at_ns = now_ns};

	for (unsigned i = 0; i < SOURCES; i++) {
		sample.read_events +=
		    live[metric_index(METRIC_SOURCE_EVENTS, i)];
		sample.behind_bytes += bytes_of(live, i);
	}
	return sample;
}

/* Keeps one a second. Returns whether this is one. */
static bool
keep(struct pace *pace, const struct pace_sample *sample)
{
	const struct pace_sample *last =
	    pace->count > 0 ? &pace->samples[pace->count - 1] : NULL;

	if (last != NULL && sample->at_ns - last->at_ns < CLOCK_NS_PER_SECOND)
		return false;
	if (pace->count == PACE_SAMPLES)
		memmove(&pace->samples[0], &pace->samples[1],
		    --pace->count * sizeof(pace->samples[0]));
	pace->samples[pace->count++] = *sample;
	return true;
}

/* Since the oldest sample, as far as that is not too close. */
static void
measure(const struct pace *pace, const struct pace_sample *now,
    int64_t *events_per_second_r, int64_t *left_ns_r)
{
	const struct pace_sample *then = &pace->samples[0];
	double seconds =
	    (double)(now->at_ns - then->at_ns) / (double)CLOCK_NS_PER_SECOND;
	double gained = (double)(then->behind_bytes - now->behind_bytes);

	*events_per_second_r = 0;
	*left_ns_r = NOT_KNOWN_NS;
	if (seconds < 0.5)
		return;
	*events_per_second_r =
	    (int64_t)((double)(now->read_events - then->read_events) / seconds);
	if (gained > 0)
		*left_ns_r = (int64_t)((double)now->behind_bytes * seconds /
				       gained * (double)CLOCK_NS_PER_SECOND);
	/* 0 says that all is read. */
	if (*left_ns_r == 0)
		*left_ns_r = 1;
}

static struct progress
progress_of(const int64_t *live)
{
	struct progress progress = {.wall_ns = clock_stamp().wall_ns,
	    .events_per_second = live[metric_index(METRIC_READ_RATE, 0)],
	    .left_ns = live[metric_index(METRIC_CATCH_UP, 0)]};

	for (unsigned i = 0; i < SOURCES; i++) {
		struct progress_source *source =
		    &progress.sources[progress.count];

		if (bytes_of(live, i) == 0)
			continue;
		strncpy(source->name,
		    metric_label_value(METRIC_SOURCE_EVENTS, i, 0),
		    sizeof(source->name) - 1);
		source->bytes = bytes_of(live, i);
		source->events = live[metric_index(METRIC_BEHIND_EVENTS, i)];
		progress.count++;
	}
	return progress;
}

static void
note(struct store *store, const struct progress *progress)
{
	struct buffer text = {0};
	struct reason reason;

	if (progress != NULL)
		progress_write(progress, &text);
	if (store_note_write(store, NOTE_PROGRESS, &text, &reason) != 0)
		log_warn("reason=\"%s\"", reason.text);
	buffer_free(&text);
}

void
pace_look(struct pace *pace, int64_t now_ns, bool at_end, int64_t *live,
    struct store *store)
{
	const struct pace_sample now = sample_of(live, now_ns);
	int64_t *rate = &live[metric_index(METRIC_READ_RATE, 0)];
	int64_t *left_ns = &live[metric_index(METRIC_CATCH_UP, 0)];
	bool is_kept = keep(pace, &now);
	struct progress progress;

	measure(pace, &now, rate, left_ns);
	if (at_end)
		pace->at_end_ns = now_ns;
	if (now_ns - pace->at_end_ns < BEHIND_NS) {
		*left_ns = 0;
		if (at_end && pace->is_noted)
			note(store, NULL);
		pace->is_noted = pace->is_noted && !at_end;
		return;
	}
	if (!is_kept)
		return;
	progress = progress_of(live);
	note(store, &progress);
	pace->is_noted = true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Picks from the published picture what people look at first. Called on the
 * HTTP threads. */
#include "exporter/serve/api_summary.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "exporter/metrics/metrics.h"
#include "exporter/serve/published.h"

static int64_t
live(const struct picture *picture, enum metric metric, unsigned set)
{
	return picture->live[metric_index(metric, set)];
}

static void
append_oldest(const struct picture *picture, struct buffer *out)
{
	int64_t wall_ns = live(picture, METRIC_OLDEST_IN_FLIGHT, 0);
	char text[CLOCK_TEXT_SIZE];

	clock_format(wall_ns, text);
	if (wall_ns != 0)
		buffer_append_format(
		    out, ",\n\"oldest_in_flight\": \"%s\"", text);
	else
		buffer_append_string(out, ",\n\"oldest_in_flight\": null");
}

static void
append_detection(const struct picture *picture, struct buffer *out)
{
	for (unsigned i = 0; i < metric_sets(METRIC_LOSS_DETECTION); i++)
		if (live(picture, METRIC_LOSS_DETECTION, i) != 0)
			buffer_append_format(out,
			    ",\n\"loss_detection\": \"%s\"",
			    metric_label_value(METRIC_LOSS_DETECTION, i, 0));
}

static void
append_recipients(const struct picture *picture, struct buffer *out)
{
	buffer_append_string(out, ",\n\"recipients\": {");
	for (unsigned i = 0; i < metric_sets(METRIC_RECIPIENTS); i++)
		buffer_append_format(out, "%s\"%s\": %" PRId64,
		    i > 0 ? ", " : "",
		    metric_label_value(METRIC_RECIPIENTS, i, 0),
		    live(picture, METRIC_RECIPIENTS, i));
	buffer_append_string(out, "}");
}

static void
append_latencies(const struct picture *picture, struct buffer *out)
{
	buffer_append_string(out, ",\n\"latency_since_ever\": {");
	for (unsigned i = 0; i < metric_sets(METRIC_DELIVERY_LATENCY); i++) {
		const struct histogram *latency =
		    &picture
			 ->histograms[metric_index(METRIC_DELIVERY_LATENCY, i)]
			 .exponential;

		buffer_append_format(out,
		    "%s\"%s\": {\"count\": %" PRIu64 ", \"sum\": %.9g}",
		    i > 0 ? ", " : "",
		    metric_label_value(METRIC_DELIVERY_LATENCY, i, 0),
		    latency->count, (double)latency->sum_ns / 1e9);
	}
	buffer_append_string(out, "}");
}

static void
append_source(const struct picture *picture, unsigned source, bool *is_first,
    struct buffer *out)
{
	int64_t bytes = live(picture, METRIC_JOURNAL_BEHIND_BYTES, source);

	if (source == SOURCE_LOG)
		bytes += live(picture, METRIC_LOG_BEHIND_BYTES, 0);
	if (bytes == 0)
		return;
	buffer_append_format(out,
	    "%s\"%s\": {\"bytes\": %" PRId64 ", \"events\": %" PRId64 "}",
	    *is_first ? "" : ", ",
	    metric_label_value(METRIC_BEHIND_EVENTS, source, 0), bytes,
	    live(picture, METRIC_BEHIND_EVENTS, source));
	*is_first = false;
}

/* What is read within a moment is not told. */
static void
append_behind(const struct picture *picture, struct buffer *out)
{
	int64_t left_ns = live(picture, METRIC_CATCH_UP, 0);
	bool is_first = true;

	if (left_ns == 0) {
		buffer_append_string(out, ",\n\"behind\": null");
		return;
	}
	buffer_append_string(out, ",\n\"behind\": {\"sources\": {");
	for (unsigned i = 0; i < SOURCES; i++)
		append_source(picture, i, &is_first, out);
	buffer_append_format(out,
	    "}, \"events_per_second\": %" PRId64 ", \"seconds_left\": ",
	    live(picture, METRIC_READ_RATE, 0));
	if (left_ns > 0)
		buffer_append_format(out, "%.3f}", (double)left_ns / 1e9);
	else
		buffer_append_string(out, "null}");
}

void
api_summary(struct published *published, struct buffer *out)
{
	struct picture picture;

	picture_init(&picture);
	published_copy(published, &picture);
	buffer_append_format(out,
	    "{\"version\": \"%s\", \"ready\": %s,\n\"messages\": "
	    "{\"accepted\": %" PRIu64 ", \"in_flight\": %" PRId64 "}",
	    POSTLAG_VERSION,
	    picture.caught_up && *picture.trouble == '\0' ? "true" : "false",
	    picture.counters[metric_index(METRIC_MESSAGES_ACCEPTED, 0)],
	    live(&picture, METRIC_MESSAGES_IN_FLIGHT, 0));
	append_behind(&picture, out);
	append_oldest(&picture, out);
	append_detection(&picture, out);
	append_recipients(&picture, out);
	append_latencies(&picture, out);
	buffer_append_string(out, "}\n");
	picture_free(&picture);
}

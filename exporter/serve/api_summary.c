/* SPDX-License-Identifier: BSD-2-Clause */
/* Picks from the published picture what people look at first. Called on the
 * HTTP threads. */
#include "exporter/serve/api_summary.h"

#include <inttypes.h>

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
		const struct histogram_total *total =
		    &picture
			 ->histograms[metric_index(METRIC_DELIVERY_LATENCY, i)];

		buffer_append_format(out,
		    "%s\"%s\": {\"count\": %" PRIu64 ", \"sum\": %.9g}",
		    i > 0 ? ", " : "",
		    metric_label_value(METRIC_DELIVERY_LATENCY, i, 0),
		    total->count, (double)total->sum_ns / 1e9);
	}
	buffer_append_string(out, "}");
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
	append_oldest(&picture, out);
	append_detection(&picture, out);
	append_recipients(&picture, out);
	append_latencies(&picture, out);
	buffer_append_string(out, "}\n");
	picture_free(&picture);
}

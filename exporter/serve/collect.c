/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the table of metrics and hands each value to the format. Called on the
 * HTTP threads, on a copy that nobody else sees.
 */
#include "exporter/serve/collect.h"

#include "base/buffer.h"
#include "exporter/metrics/metrics.h"
#include "exporter/serve/exposition.h"
#include "exporter/serve/published.h"

static void
collect_set(const struct picture *picture,
    const struct exposition_format *format, struct buffer *out,
    enum metric metric, unsigned set)
{
	const struct sample sample = {metric_family(metric), set};
	unsigned index = metric_index(metric, set);

	switch (sample.family->origin) {
	case METRIC_STORED_COUNTER:
		format->value(out, &sample, (int64_t)picture->counters[index]);
		break;
	case METRIC_STORED_HISTOGRAM:
		format->histogram(out, &sample, &picture->histograms[index]);
		break;
	case METRIC_LIVE_COUNTER:
	case METRIC_GAUGE:
		format->value(out, &sample, picture->live[index]);
		break;
	}
}

void
collect(const struct picture *picture, const struct exposition_format *format,
    struct buffer *out)
{
	for (unsigned i = 0; i < METRICS; i++) {
		enum metric metric = (enum metric)i;
		size_t start = out->size;

		format->family(out, metric_family(metric));
		for (unsigned set = 0; set < metric_sets(metric); set++)
			collect_set(picture, format, out, metric, set);
		if (format->family_end != NULL)
			format->family_end(out, start);
	}
	if (format->end != NULL)
		format->end(out);
}

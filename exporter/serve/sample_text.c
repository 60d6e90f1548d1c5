/* SPDX-License-Identifier: BSD-2-Clause */
/* Called while a scrape is answered in a text format, on the HTTP threads. */
#include "exporter/serve/sample_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "exporter/serve/exposition.h"
#include "store/totals.h"

void
sample_text_seconds(struct buffer *out, int64_t ns)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t fraction = magnitude % CLOCK_NS_PER_SECOND;
	int digits = 9;

	buffer_append_format(out, "%s%" PRIu64, ns < 0 ? "-" : "",
	    magnitude / CLOCK_NS_PER_SECOND);
	if (fraction == 0)
		return;
	for (; fraction % 10 == 0; fraction /= 10)
		digits--;
	buffer_append_format(out, ".%0*" PRIu64, digits, fraction);
}

void
sample_text_number(struct buffer *out, enum metric_unit unit, int64_t value)
{
	if (unit == METRIC_SECONDS || unit == METRIC_RATIO)
		sample_text_seconds(out, value);
	else
		buffer_append_format(out, "%" PRId64, value);
}

void
sample_text_escaped(struct buffer *out, const char *text, const char *escaped)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n') {
			buffer_append_string(out, "\\n");
			continue;
		}
		if (*text == '\\' || strchr(escaped, *text) != NULL)
			buffer_append_string(out, "\\");
		buffer_append(out, text, 1);
	}
}

/* Writes `{name="value",...` without the closing brace. Returns whether there
 * was any label. */
static bool
append_labels(struct buffer *out, const struct sample *sample)
{
	const struct metric_label *labels = sample->family->labels;

	for (unsigned i = 0; i < METRIC_LABELS && labels[i].name != NULL; i++) {
		buffer_append_format(
		    out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
		sample_text_escaped(out,
		    metric_family_label(sample->family, sample->set, i), "\"");
		buffer_append_string(out, "\"");
	}
	return labels[0].name != NULL;
}

void
sample_text_line(struct buffer *out, const struct sample *sample,
    const char *suffix, enum metric_unit unit, int64_t value)
{
	buffer_append_format(out, "%s%s", sample->family->name, suffix);
	buffer_append_string(out, append_labels(out, sample) ? "} " : " ");
	sample_text_number(out, unit, value);
	buffer_append_string(out, "\n");
}

static void
append_bound(struct buffer *out, unsigned bucket)
{
	if (bucket == TOTALS_BUCKETS) {
		buffer_append_string(out, "+Inf");
		return;
	}
	sample_text_seconds(out, totals_bounds_ns[bucket]);
	if (totals_bounds_ns[bucket] % CLOCK_NS_PER_SECOND == 0)
		buffer_append_string(out, ".0");
}

void
sample_text_bucket(struct buffer *out, const struct sample *sample,
    unsigned bucket, uint64_t cumulative)
{
	buffer_append_format(out, "%s_bucket", sample->family->name);
	buffer_append_string(
	    out, append_labels(out, sample) ? ",le=\"" : "{le=\"");
	append_bound(out, bucket);
	buffer_append_format(out, "\"} %" PRIu64, cumulative);
}

void
sample_text_sum(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value)
{
	sample_text_line(out, sample, "_sum", sample->family->unit,
	    value->exponential.sum_ns);
	sample_text_line(out, sample, "_count", METRIC_PLAIN,
	    (int64_t)value->exponential.count);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text format 0.0.4. Called on the HTTP threads while a scrape is
 * answered.
 */
#include "exporter/serve/exposition.h"

#include "base/buffer.h"
#include "exporter/serve/sample_text.h"
#include "store/totals.h"

static void
text_family(struct buffer *out, const struct metric_family *family)
{
	buffer_append_format(out, "# HELP %s ", family->name);
	sample_text_escaped(out, family->help, "");
	buffer_append_format(out, "\n# TYPE %s %s\n", family->name,
	    metric_type_name(family->origin));
}

static void
text_value(struct buffer *out, const struct sample *sample, int64_t value)
{
	sample_text_line(out, sample, "", sample->family->unit, value);
}

static void
text_histogram(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value)
{
	uint64_t cumulative = 0;

	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++) {
		cumulative += value->buckets[i];
		sample_text_bucket(out, sample, i, cumulative);
		buffer_append_string(out, "\n");
	}
	sample_text_sum(out, sample, value);
}

const struct exposition_format exposition_text = {
    .content_type = "text/plain; version=0.0.4; charset=utf-8",
    .family = text_family,
    .value = text_value,
    .histogram = text_histogram,
};

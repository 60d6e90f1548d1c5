/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenMetrics 1.0. Called on the HTTP threads while a scrape is answered.
 *
 * A counter's family has no _total in its name, its samples have. No _created:
 * Prometheus would keep it as a series of its own for each label set.
 */
#include "exporter/serve/exposition.h"

#include <string.h>

#include "base/buffer.h"
#include "base/uuid.h"
#include "exporter/serve/sample_text.h"
#include "store/totals.h"

#define COUNTER_SUFFIX "_total"

static int
name_size(const struct metric_family *family)
{
	size_t size = strlen(family->name), suffix = strlen(COUNTER_SUFFIX);

	if (size > suffix &&
	    strcmp(family->name + size - suffix, COUNTER_SUFFIX) == 0)
		size -= suffix;
	return (int)size;
}

static void
openmetrics_family(struct buffer *out, const struct metric_family *family)
{
	const char *unit = metric_unit_name(family->unit);
	int size = name_size(family);

	buffer_append_format(out, "# TYPE %.*s %s\n", size, family->name,
	    metric_type_name(family->origin));
	if (unit != NULL)
		buffer_append_format(
		    out, "# UNIT %.*s %s\n", size, family->name, unit);
	buffer_append_format(out, "# HELP %.*s ", size, family->name);
	sample_text_escaped(out, family->help, "\"");
	buffer_append_string(out, "\n");
}

static void
openmetrics_value(
    struct buffer *out, const struct sample *sample, int64_t value)
{
	sample_text_line(out, sample, "", sample->family->unit, value);
}

static void
append_exemplar(struct buffer *out, const struct exemplar *exemplar)
{
	char id[UUID_TEXT_SIZE];

	if (!uuid_is_set(&exemplar->message))
		return;
	uuid_format(&exemplar->message, id);
	buffer_append_format(
	    out, " # {" EXPOSITION_EXEMPLAR_LABEL "=\"%s\"} ", id);
	sample_text_seconds(out, exemplar->value_ns);
	buffer_append_string(out, " ");
	sample_text_seconds(out, exemplar->wall_ns);
}

static void
openmetrics_histogram(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value)
{
	uint64_t cumulative = 0;

	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++) {
		cumulative += value->buckets[i];
		sample_text_bucket(out, sample, i, cumulative);
		append_exemplar(out, &value->exemplars[i]);
		buffer_append_string(out, "\n");
	}
	sample_text_sum(out, sample, value);
}

static void
openmetrics_end(struct buffer *out)
{
	buffer_append_string(out, "# EOF\n");
}

const struct exposition_format exposition_openmetrics = {
    .content_type =
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
    .family = openmetrics_family,
    .value = openmetrics_value,
    .histogram = openmetrics_histogram,
    .end = openmetrics_end,
};

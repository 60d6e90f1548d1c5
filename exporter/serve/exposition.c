/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text format 0.0.4. Called on the HTTP threads while a scrape is
 * answered. All arithmetic is on integers: nanoseconds become decimal seconds
 * without passing through floating point, so there is neither rounding nor NaN.
 */
#include "exporter/serve/exposition.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "store/totals.h"

/* Seconds in the shortest decimal form: 0.0025, 1, 432000. */
static void
append_seconds(struct buffer *out, int64_t ns)
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

/* Backslash, double quote and newline are escaped in label values. */
static void
append_label_value(struct buffer *out, const char *value)
{
	for (; *value != '\0'; value++) {
		if (*value == '\n') {
			buffer_append_string(out, "\\n");
			continue;
		}
		if (*value == '\\' || *value == '"')
			buffer_append_string(out, "\\");
		buffer_append(out, value, 1);
	}
}

/* Writes `{name="value",...` without the closing brace. Returns whether there
 * was any label. */
static bool
append_labels(struct buffer *out, enum metric metric, unsigned set)
{
	const struct metric_label *labels = metric_family(metric)->labels;

	for (unsigned i = 0; i < METRIC_LABELS && labels[i].name != NULL; i++) {
		buffer_append_format(
		    out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
		append_label_value(out, metric_label_value(metric, set, i));
		buffer_append_string(out, "\"");
	}
	return labels[0].name != NULL;
}

/* `name` or `name_suffix` with the labels and a space. */
static void
append_sample(
    struct buffer *out, enum metric metric, unsigned set, const char *suffix)
{
	buffer_append_format(out, "%s%s", metric_family(metric)->name, suffix);
	buffer_append_string(out, append_labels(out, metric, set) ? "} " : " ");
}

static void
text_family(struct buffer *out, enum metric metric)
{
	const struct metric_family *family = metric_family(metric);

	buffer_append_format(out, "# HELP %s %s\n# TYPE %s %s\n", family->name,
	    family->help, family->name, metric_type_name(family->origin));
}

static void
append_number(struct buffer *out, enum metric_unit unit, int64_t value)
{
	if (unit == METRIC_SECONDS || unit == METRIC_RATIO)
		append_seconds(out, value);
	else
		buffer_append_format(out, "%" PRId64, value);
	buffer_append_string(out, "\n");
}

static void
text_value(struct buffer *out, enum metric metric, unsigned set, int64_t value)
{
	append_sample(out, metric, set, "");
	append_number(out, metric_family(metric)->unit, value);
}

static void
append_bucket(struct buffer *out, enum metric metric, unsigned set, unsigned i)
{
	buffer_append_format(out, "%s_bucket", metric_family(metric)->name);
	buffer_append_string(
	    out, append_labels(out, metric, set) ? ",le=\"" : "{le=\"");
	if (i < TOTALS_BUCKETS)
		append_seconds(out, totals_bounds_ns[i]);
	else
		buffer_append_string(out, "+Inf");
	buffer_append_string(out, "\"} ");
}

static void
text_histogram(struct buffer *out, enum metric metric, unsigned set,
    const struct histogram_total *value)
{
	uint64_t cumulative = 0;

	for (unsigned i = 0; i <= TOTALS_BUCKETS; i++) {
		cumulative += value->buckets[i];
		append_bucket(out, metric, set, i);
		buffer_append_format(out, "%" PRIu64 "\n", cumulative);
	}
	append_sample(out, metric, set, "_sum");
	append_number(out, metric_family(metric)->unit, value->sum_ns);
	append_sample(out, metric, set, "_count");
	append_number(out, METRIC_PLAIN, (int64_t)value->count);
}

const struct exposition_format exposition_text = {
    .content_type = "text/plain; version=0.0.4; charset=utf-8",
    .family = text_family,
    .value = text_value,
    .histogram = text_histogram,
};

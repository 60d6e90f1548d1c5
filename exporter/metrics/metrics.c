/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers derived from the table of metrics. Used by the join, which counts by
 * metric and label set, by the collector, which shows all of them, and by
 * `postlag-exporter -m`.
 */
#include "exporter/metrics/metrics.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "exporter/metrics/metric_table.h"
#include "exporter/metrics/metric_words.h"
#include "proto/phase.h"
#include "store/totals.h"

const struct metric_family *
metric_family(enum metric metric)
{
	return &metric_families[metric];
}

unsigned
metric_family_sets(const struct metric_family *family)
{
	const struct metric_label *labels = family->labels;
	unsigned sets = 1;

	if (family->paired)
		return labels[0].count;
	for (unsigned i = 0; i < METRIC_LABELS && labels[i].name != NULL; i++)
		sets *= labels[i].count;
	return sets;
}

unsigned
metric_sets(enum metric metric)
{
	return metric_family_sets(&metric_families[metric]);
}

const char *
metric_family_label(
    const struct metric_family *family, unsigned set, unsigned label)
{
	const struct metric_label *labels = family->labels;

	if (family->paired)
		return labels[label].value(set);
	for (unsigned i = METRIC_LABELS - 1; i > label; i--)
		if (labels[i].name != NULL)
			set /= labels[i].count;
	return labels[label].value(set % labels[label].count);
}

const char *
metric_label_value(enum metric metric, unsigned set, unsigned label)
{
	return metric_family_label(&metric_families[metric], set, label);
}

static bool
is_live(enum metric_origin origin)
{
	return origin == METRIC_GAUGE || origin == METRIC_LIVE_COUNTER;
}

static bool
same_kind(enum metric_origin left, enum metric_origin right)
{
	return left == right || (is_live(left) && is_live(right));
}

unsigned
metric_index(enum metric metric, unsigned set)
{
	unsigned index = set;

	for (unsigned i = 0; i < metric; i++)
		if (same_kind(metric_families[i].origin,
			metric_families[metric].origin))
			index += metric_sets((enum metric)i);
	return index;
}

unsigned
metric_values(enum metric_origin origin)
{
	unsigned count = 0;

	for (unsigned i = 0; i < METRICS; i++)
		if (same_kind(metric_families[i].origin, origin))
			count += metric_sets((enum metric)i);
	return count;
}

enum metric_source
metric_source(const char *name)
{
	unsigned number = 0;

	while (
	    number < SOURCE_OTHER && strcmp(metric_sources[number], name) != 0)
		number++;
	return (enum metric_source)number;
}

static char *
stored_name(enum metric metric, unsigned set)
{
	const struct metric_family *family = &metric_families[metric];
	const struct metric_label *labels = family->labels;

	if (labels[0].name == NULL)
		return memory_string(family->name);
	if (labels[1].name == NULL)
		return memory_format("%s{%s=\"%s\"}", family->name,
		    labels[0].name, metric_family_label(family, set, 0));
	return memory_format("%s{%s=\"%s\",%s=\"%s\"}", family->name,
	    labels[0].name, metric_family_label(family, set, 0), labels[1].name,
	    metric_family_label(family, set, 1));
}

static const char *const *
stored_names(enum metric_origin origin, size_t *count_r)
{
	const char **names;

	*count_r = metric_values(origin);
	names = memory_zeroed(*count_r, sizeof(*names));
	for (unsigned i = 0; i < METRICS; i++) {
		enum metric metric = (enum metric)i;

		if (metric_families[i].origin != origin)
			continue;
		for (unsigned set = 0; set < metric_sets(metric); set++)
			names[metric_index(metric, set)] =
			    stored_name(metric, set);
	}
	return names;
}

const struct totals_names *
metrics_names(void)
{
	static struct totals_names names;

	if (names.counters == NULL) {
		names.counters =
		    stored_names(METRIC_STORED_COUNTER, &names.counter_count);
		names.histograms = stored_names(
		    METRIC_STORED_HISTOGRAM, &names.histogram_count);
	}
	return &names;
}

const char *
metric_type_name(enum metric_origin origin)
{
	switch (origin) {
	case METRIC_STORED_HISTOGRAM:
		return "histogram";
	case METRIC_GAUGE:
		return "gauge";
	default:
		return "counter";
	}
}

const char *
metric_unit_name(enum metric_unit unit)
{
	switch (unit) {
	case METRIC_SECONDS:
		return "seconds";
	case METRIC_BYTES:
		return "bytes";
	case METRIC_RATIO:
		return "ratio";
	case METRIC_PLAIN:
		break;
	}
	return NULL;
}

/* Labels that go together repeat their values. */
static bool
is_first(const struct metric_label *label, unsigned number)
{
	for (unsigned i = 0; i < number; i++)
		if (strcmp(label->value(i), label->value(number)) == 0)
			return false;
	return true;
}

static void
print_labels(FILE *out, const struct metric_label *labels)
{
	for (unsigned i = 0; i < METRIC_LABELS && labels[i].name != NULL; i++) {
		fprintf(out, "%s`%s`: ", i > 0 ? "; " : "", labels[i].name);
		for (unsigned j = 0; j < labels[i].count; j++)
			if (is_first(&labels[i], j))
				fprintf(out, "%s%s", j > 0 ? ", " : "",
				    labels[i].value(j));
	}
}

static void
print_evidence(FILE *out, unsigned evidence)
{
	static const char *const words[] = {"milter", "hook", "log",
	    "Dovecot's log", "queue", "operator", "exporter"};
	const char *before = "";

	if (evidence == FROM_ANY) {
		fputs("any", out);
		return;
	}
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((evidence & 1U << i) != 0) {
			fprintf(out, "%s%s", before, words[i]);
			before = ", ";
		}
}

static void
print_family(FILE *out, const struct metric_family *family)
{
	const char *unit = metric_unit_name(family->unit);

	fprintf(out, "| `%s` | %s | ", family->name,
	    metric_type_name(family->origin));
	print_labels(out, family->labels);
	fprintf(out, " | %s | ", unit != NULL ? unit : "");
	print_evidence(out, family->evidence);
	fprintf(out, " | %s |\n", family->help);
}

static void
print_phases(FILE *out)
{
	fputs("\n| phase | from | to | includes |\n|---|---|---|---|\n", out);
	for (unsigned i = 0; i < PHASES; i++) {
		const struct phase_description *phase =
		    phase_describe((enum phase)i);

		fprintf(out, "| `%s` | %s | %s | %s |\n", phase->name,
		    phase->from, phase->to, phase->includes);
	}
}

void
metrics_print_reference(FILE *out)
{
	fputs("| metric | type | labels | unit | from | meaning |\n"
	      "|---|---|---|---|---|---|\n",
	    out);
	for (unsigned i = 0; i < METRICS; i++)
		print_family(out, &metric_families[i]);
	print_phases(out);
}

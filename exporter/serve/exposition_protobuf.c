/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' protobuf format: each family with its length before it. Called on
 * the HTTP threads while a scrape is answered. The only file that includes the
 * generated metrics.pb-c.h.
 *
 * A message of protobuf may be written in parts, one behind the other: so a
 * family is its name first, then each of its metrics, and its length is put
 * before it at the end.
 */
#include "exporter/serve/exposition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "exporter/serve/native_spans.h"
#include "store/totals.h"

#include "exporter/serve/metrics.pb-c.h"

#define BUCKETS (TOTALS_BUCKETS + 1)
#define VARINT_BYTES_MAX 10

/* Where the zero bucket ends: what Prometheus' own libraries say. With it a
 * histogram is known as a native one even while it is empty. */
#define ZERO_THRESHOLD 0x1p-128

struct labels {
	Prometheus__LabelPair pairs[METRIC_LABELS];
	Prometheus__LabelPair *pointers[METRIC_LABELS];
	size_t count;
};

struct exemplar_parts {
	Prometheus__Exemplar exemplar;
	Prometheus__LabelPair label;
	Prometheus__LabelPair *labels[1];
	Prometheus__Timestamp timestamp;
	char id[UUID_TEXT_SIZE];
};

struct classic_parts {
	Prometheus__Bucket buckets[BUCKETS];
	Prometheus__Bucket *bucket_pointers[BUCKETS];
	struct exemplar_parts exemplars[BUCKETS];
	Prometheus__Exemplar *exemplar_pointers[BUCKETS];
	size_t exemplar_count;
};

struct native_parts {
	struct native_spans spans;
	Prometheus__BucketSpan parts[NATIVE_SPANS_MAX];
	Prometheus__BucketSpan *pointers[NATIVE_SPANS_MAX];
};

/* The generated structs are never written through. */
static char *
borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

static double
seconds(int64_t ns)
{
	return (double)ns / (double)CLOCK_NS_PER_SECOND;
}

static void
append_part(struct buffer *out, const Prometheus__MetricFamily *part)
{
	size_t size = prometheus__metric_family__get_packed_size(part);
	uint8_t *at = buffer_reserve(out, size);

	if (at != NULL)
		prometheus__metric_family__pack(part, at);
}

static Prometheus__MetricType
type_of(enum metric_origin origin)
{
	switch (origin) {
	case METRIC_STORED_HISTOGRAM:
		return PROMETHEUS__METRIC_TYPE__HISTOGRAM;
	case METRIC_GAUGE:
		return PROMETHEUS__METRIC_TYPE__GAUGE;
	default:
		return PROMETHEUS__METRIC_TYPE__COUNTER;
	}
}

static void
protobuf_family(struct buffer *out, const struct metric_family *family)
{
	Prometheus__MetricFamily part = PROMETHEUS__METRIC_FAMILY__INIT;

	part.name = borrow(family->name);
	part.help = borrow(family->help);
	part.has_type = true;
	part.type = type_of(family->origin);
	append_part(out, &part);
}

static void
fill_labels(struct labels *labels, const struct sample *sample)
{
	const struct metric_label *names = sample->family->labels;
	unsigned i;

	for (i = 0; i < METRIC_LABELS && names[i].name != NULL; i++) {
		prometheus__label_pair__init(&labels->pairs[i]);
		labels->pairs[i].name = borrow(names[i].name);
		labels->pairs[i].value =
		    borrow(metric_family_label(sample->family, sample->set, i));
		labels->pointers[i] = &labels->pairs[i];
	}
	labels->count = i;
}

/* Gives `metric` its labels. */
static void
append_metric(
    struct buffer *out, const struct sample *sample, Prometheus__Metric *metric)
{
	Prometheus__MetricFamily part = PROMETHEUS__METRIC_FAMILY__INIT;
	struct labels labels;

	fill_labels(&labels, sample);
	metric->n_label = labels.count;
	metric->label = labels.pointers;
	part.n_metric = 1;
	part.metric = &metric;
	append_part(out, &part);
}

static void
protobuf_value(struct buffer *out, const struct sample *sample, int64_t value)
{
	const struct metric_family *family = sample->family;
	Prometheus__Metric metric = PROMETHEUS__METRIC__INIT;
	Prometheus__Counter counter = PROMETHEUS__COUNTER__INIT;
	Prometheus__Gauge gauge = PROMETHEUS__GAUGE__INIT;

	counter.value =
	    family->unit == METRIC_SECONDS || family->unit == METRIC_RATIO
		? seconds(value)
		: (double)value;
	gauge.value = counter.value;
	if (family->origin == METRIC_GAUGE)
		metric.gauge = &gauge;
	else
		metric.counter = &counter;
	append_metric(out, sample, &metric);
}

static Prometheus__Exemplar *
fill_exemplar(struct exemplar_parts *parts, const struct exemplar *exemplar)
{
	prometheus__exemplar__init(&parts->exemplar);
	prometheus__label_pair__init(&parts->label);
	prometheus__timestamp__init(&parts->timestamp);
	uuid_format(&exemplar->message, parts->id);
	parts->label.name = borrow(EXPOSITION_EXEMPLAR_LABEL);
	parts->label.value = parts->id;
	parts->labels[0] = &parts->label;
	parts->timestamp.seconds = exemplar->wall_ns / CLOCK_NS_PER_SECOND;
	parts->timestamp.nanos =
	    (int32_t)(exemplar->wall_ns % CLOCK_NS_PER_SECOND);
	parts->exemplar.n_label = 1;
	parts->exemplar.label = parts->labels;
	parts->exemplar.value = seconds(exemplar->value_ns);
	parts->exemplar.timestamp = &parts->timestamp;
	return &parts->exemplar;
}

static int
by_time(const void *left, const void *right)
{
	const Prometheus__Timestamp
	    *a = (*(Prometheus__Exemplar *const *)left)->timestamp,
	    *b = (*(Prometheus__Exemplar *const *)right)->timestamp;

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->nanos > b->nanos) - (a->nanos < b->nanos);
}

/* Exemplars are in their buckets, for Prometheus before 2.51, and beside them
 * in the order of time, for later ones. */
static void
fill_classic(struct classic_parts *parts, const struct histogram_total *value,
    Prometheus__Histogram *histogram)
{
	uint64_t cumulative = 0;

	parts->exemplar_count = 0;
	for (unsigned i = 0; i < BUCKETS; i++) {
		Prometheus__Bucket *bucket = &parts->buckets[i];

		prometheus__bucket__init(bucket);
		cumulative += value->buckets[i];
		bucket->cumulative_count = cumulative;
		bucket->upper_bound = i < TOTALS_BUCKETS
					  ? seconds(totals_bounds_ns[i])
					  : INFINITY;
		parts->bucket_pointers[i] = bucket;
		if (!uuid_is_set(&value->exemplars[i].message))
			continue;
		bucket->exemplar =
		    fill_exemplar(&parts->exemplars[i], &value->exemplars[i]);
		parts->exemplar_pointers[parts->exemplar_count++] =
		    bucket->exemplar;
	}
	qsort(parts->exemplar_pointers, parts->exemplar_count,
	    sizeof(parts->exemplar_pointers[0]), by_time);
	histogram->n_bucket = BUCKETS;
	histogram->bucket = parts->bucket_pointers;
	histogram->n_exemplars = parts->exemplar_count;
	histogram->exemplars = parts->exemplar_pointers;
}

static void
fill_native(struct native_parts *parts, const struct histogram *value,
    Prometheus__Histogram *histogram)
{
	native_spans_fill(value, &parts->spans);
	for (size_t i = 0; i < parts->spans.span_count; i++) {
		prometheus__bucket_span__init(&parts->parts[i]);
		parts->parts[i].offset = parts->spans.spans[i].offset;
		parts->parts[i].length = parts->spans.spans[i].length;
		parts->pointers[i] = &parts->parts[i];
	}
	histogram->schema = HISTOGRAM_SCHEMA;
	histogram->zero_threshold = ZERO_THRESHOLD;
	histogram->zero_count = value->zero;
	histogram->n_positive_span = parts->spans.span_count;
	histogram->positive_span = parts->pointers;
	histogram->n_positive_delta = parts->spans.delta_count;
	histogram->positive_delta = parts->spans.deltas;
}

static void
protobuf_histogram(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value)
{
	Prometheus__Metric metric = PROMETHEUS__METRIC__INIT;
	Prometheus__Histogram histogram = PROMETHEUS__HISTOGRAM__INIT;
	struct classic_parts classic;
	struct native_parts native;

	histogram.sample_count = value->exponential.count;
	histogram.sample_sum = seconds(value->exponential.sum_ns);
	fill_classic(&classic, value, &histogram);
	fill_native(&native, &value->exponential, &histogram);
	metric.histogram = &histogram;
	append_metric(out, sample, &metric);
}

static void
protobuf_family_end(struct buffer *out, size_t start)
{
	size_t size = out->size - start, length = 0;
	uint8_t prefix[VARINT_BYTES_MAX];

	for (size_t left = size; length == 0 || left > 0; left >>= 7)
		prefix[length++] = (left & 0x7f) | (left > 0x7f ? 0x80 : 0);
	if (buffer_reserve(out, length) == NULL)
		return;
	memmove(out->data + start + length, out->data + start, size);
	memcpy(out->data + start, prefix, length);
}

const struct exposition_format exposition_protobuf = {
    .content_type = "application/vnd.google.protobuf; "
		    "proto=io.prometheus.client.MetricFamily; "
		    "encoding=delimited",
    .family = protobuf_family,
    .value = protobuf_value,
    .histogram = protobuf_histogram,
    .family_end = protobuf_family_end,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool_exposition FORMAT SEED: writes families with labels that are hard to
 * escape, then those of the exporter, all with random values, in a format:
 * "text", "openmetrics", "protobuf", or "truth", a line for each label set:
 *
 *     FAMILY LABEL=VALUE... : NUMBER
 *     FAMILY LABEL=VALUE... : SECONDS@TIME/MESSAGE...
 *
 * in which values of labels are in hexadecimal, all numbers integers (of
 * nanoseconds, where the unit is seconds), and a histogram has its observations
 * in their order.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "exporter/serve/collect.h"
#include "exporter/serve/exposition.h"
#include "exporter/serve/published.h"
#include "store/observation.h"
#include "store/totals_writer.h"

#define OBSERVATIONS_MAX 200
#define NOW_NS INT64_C(1796024862000000000)

static uint64_t state;

/* splitmix64 */
static uint64_t
draw(void)
{
	uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

static const char *const hard[] = {"", "plain", "\\", "\\n", "\n", "\"", "\\\"",
    "a\\", "a,b=\"c\"}", "{} 1\n# EOF\n", "gr\xc3\xbc\xc3\x9f", " ",
    "\\\\n\n\"\""};
#define HARD (sizeof(hard) / sizeof(hard[0]))

static const char *
hard_value(unsigned number)
{
	return hard[number];
}

static const struct metric_family families[] = {
    {.name = "test_hard_total",
	.origin = METRIC_STORED_COUNTER,
	.labels = {{"one", HARD, hard_value}, {"two", HARD, hard_value}},
	.help = "A \\ and a \\n,\na line and \"quotes\"."},
    {.name = "test_hard_seconds",
	.origin = METRIC_STORED_HISTOGRAM,
	.unit = METRIC_SECONDS,
	.labels = {{"one", HARD, hard_value}},
	.help = "Histograms."},
    {.name = "test_bare_ratio",
	.origin = METRIC_GAUGE,
	.unit = METRIC_RATIO,
	.labels = {{.name = NULL}},
	.help = "\\"},
};

/* "truth" is a format, too, but for histograms: their observations are written
 * while they are drawn. */
static void
truth_sample(struct buffer *out, const struct sample *sample)
{
	const struct metric_label *labels = sample->family->labels;

	buffer_append_string(out, sample->family->name);
	for (unsigned i = 0; i < METRIC_LABELS && labels[i].name != NULL; i++) {
		buffer_append_format(out, " %s=", labels[i].name);
		for (const char *at =
			 metric_family_label(sample->family, sample->set, i);
		     *at != '\0'; at++)
			buffer_append_format(out, "%02x", (unsigned char)*at);
	}
	buffer_append_string(out, " :");
}

static void
truth_family(struct buffer *out, const struct metric_family *family)
{
}

static void
truth_value(struct buffer *out, const struct sample *sample, int64_t value)
{
	truth_sample(out, sample);
	buffer_append_format(out, " %" PRId64 "\n", value);
}

static void
truth_histogram(struct buffer *out, const struct sample *sample,
    const struct histogram_total *value)
{
}

static const struct exposition_format truth = {
    .content_type = "truth",
    .family = truth_family,
    .value = truth_value,
    .histogram = truth_histogram,
};

static int64_t
draw_value(void)
{
	switch (draw() % 4) {
	case 0: /* on a bound, or beside it */
		return totals_bounds_ns[draw() % TOTALS_BUCKETS] +
		       (int64_t)(draw() % 3) - 1;
	case 1:
		return (int64_t)(draw() % 3);
	default:
		return (int64_t)(draw() >> (14 + draw() % 50));
	}
}

static void
draw_histogram(struct buffer *out, const struct exposition_format *format,
    const struct sample *sample, struct histogram_total *total)
{
	unsigned count = draw() % 4 == 0 ? 0 : draw() % OBSERVATIONS_MAX;
	int64_t wall_ns = NOW_NS;

	if (format == &truth)
		truth_sample(out, sample);
	while (count-- > 0) {
		struct uuid id = uuid_new(NOW_NS);
		char text[UUID_TEXT_SIZE];
		struct observation observation = {.value_ns = draw_value(),
		    .wall_ns = wall_ns += (int64_t)(draw() % 2000000000),
		    .message = &id};

		for (unsigned i = 0; i < UUID_BYTES; i++)
			id.bytes[i] = (uint8_t)draw();
		uuid_format(&id, text);
		if (format == &truth)
			buffer_append_format(out, " %" PRId64 "@%" PRId64 "/%s",
			    observation.value_ns, wall_ns, text);
		histogram_total_observe(total, &observation);
	}
	if (format == &truth)
		buffer_append_string(out, "\n");
}

static void
write_hard(struct buffer *out, const struct exposition_format *format,
    const struct metric_family *family)
{
	static struct histogram_total total;
	size_t start = out->size;

	format->family(out, family);
	for (unsigned set = 0; set < metric_family_sets(family); set++) {
		const struct sample sample = {family, set};

		if (family->origin != METRIC_STORED_HISTOGRAM) {
			format->value(out, &sample, (int64_t)(draw() >> 4));
			continue;
		}
		memset(&total, 0, sizeof(total));
		draw_histogram(out, format, &sample, &total);
		format->histogram(out, &sample, &total);
	}
	if (format->family_end != NULL)
		format->family_end(out, start);
}

static void
draw_picture(struct buffer *out, const struct exposition_format *format,
    struct picture *picture)
{
	for (unsigned i = 0; i < metric_values(METRIC_STORED_COUNTER); i++)
		picture->counters[i] = draw() >> (2 + draw() % 60);
	for (unsigned i = 0; i < metric_values(METRIC_GAUGE); i++)
		picture->live[i] = (int64_t)(draw() >> (2 + draw() % 60));
	for (unsigned i = 0; i < METRICS; i++) {
		enum metric metric = (enum metric)i;
		struct sample sample = {metric_family(metric), 0};

		if (sample.family->origin != METRIC_STORED_HISTOGRAM)
			continue;
		for (; sample.set < metric_sets(metric); sample.set++)
			draw_histogram(out, format, &sample,
			    &picture->histograms[metric_index(
				metric, sample.set)]);
	}
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		const struct exposition_format *format;
	} formats[] = {
	    {"text", &exposition_text},
	    {"openmetrics", &exposition_openmetrics},
	    {"protobuf", &exposition_protobuf},
	    {"truth", &truth},
	};
	const struct exposition_format *format = NULL;
	struct buffer out = {0};
	struct picture picture;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (argc == 3 && strcmp(argv[1], formats[i].name) == 0)
			format = formats[i].format;
	if (format == NULL)
		return 2;
	state = strtoull(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		write_hard(&out, format, &families[i]);
	picture_init(&picture);
	draw_picture(&out, format, &picture);
	collect(&picture, format, &out);
	picture_free(&picture);
	if (out.failed || fwrite(out.data, 1, out.size, stdout) != out.size)
		return 1;
	buffer_free(&out);
	return 0;
}

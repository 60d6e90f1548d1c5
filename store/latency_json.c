/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes answers about latencies. Called by the exporter's HTTP threads and by
 * the command line. */
#include "store/latency_json.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "store/query_latency.h"

static void
append_seconds(struct buffer *out, int64_t ns)
{
	buffer_append_format(out, "%.9g", (double)ns / 1e9);
}

static void
append_quantiles(const struct latency_point *point, struct buffer *out)
{
	for (int i = 0; i < LATENCY_QUANTILES; i++) {
		buffer_append_format(out, ", \"%s\": ",
		    latency_quantile_name((enum latency_quantile)i));
		if (point->count > 0)
			append_seconds(out, point->quantiles_ns[i]);
		else
			buffer_append_string(out, "null");
	}
}

static void
append_cells(const struct latency_point *point, struct buffer *out)
{
	buffer_append_string(out, ", \"cells\": [");
	for (size_t i = 0; i < point->cell_count; i++) {
		buffer_append_string(out, i > 0 ? ", [" : "[");
		append_seconds(out, point->cells[i].bound_ns);
		buffer_append_format(
		    out, ", %llu]", (unsigned long long)point->cells[i].count);
	}
	buffer_append_string(out, "]");
}

void
latency_point_json(const struct latency_point *point, struct buffer *out)
{
	char start[CLOCK_TEXT_SIZE];

	clock_format(point->start_wall_ns, start);
	buffer_append_format(out,
	    "{\"start\": \"%s\", \"count\": %llu, "
	    "\"sum\": ",
	    start, (unsigned long long)point->count);
	append_seconds(out, point->sum_ns);
	append_quantiles(point, out);
	if (point->cells != NULL)
		append_cells(point, out);
	buffer_append_string(out, "}");
}

void
latency_answer_json(
    const struct latency_answer *answer, int64_t step_ns, struct buffer *out)
{
	buffer_append_string(out, "{\"step\": ");
	append_seconds(out, step_ns);
	buffer_append_string(out, ", \"points\": [");
	for (size_t i = 0; i < answer->count; i++) {
		buffer_append_string(out, i > 0 ? ",\n" : "\n");
		latency_point_json(&answer->points[i], out);
	}
	buffer_append_string(out, "\n], \"whole\": ");
	latency_point_json(&answer->whole, out);
	if (answer->gap.is_there)
		buffer_append_string(out, ", \"incomplete\": true");
	buffer_append_string(out, "}\n");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called for each histogram of a scrape in protobuf, on the HTTP threads. */
#include "exporter/serve/native_spans.h"

static void
add_bucket(struct native_spans *spans, uint64_t *last, uint64_t count)
{
	spans->spans[spans->span_count - 1].length++;
	spans->deltas[spans->delta_count++] = (int64_t)(count - *last);
	*last = count;
}

/* Reaches the bucket that is `gap` behind the last one. */
static void
reach(struct native_spans *spans, uint64_t *last, int gap)
{
	if (spans->span_count == 0 || gap > NATIVE_SPANS_BRIDGED) {
		spans->spans[spans->span_count++] =
		    (struct native_span){.offset = gap};
		return;
	}
	while (gap-- > 0)
		add_bucket(spans, last, 0);
}

void
native_spans_fill(
    const struct histogram *histogram, struct native_spans *spans_r)
{
	uint64_t last = 0;
	int next = -HISTOGRAM_INDEX_MIN; /* where index 0 is */

	spans_r->span_count = spans_r->delta_count = 0;
	for (int i = histogram->low; i <= histogram->high; i++) {
		if (histogram->buckets[i] == 0)
			continue;
		reach(spans_r, &last, i - next);
		add_bucket(spans_r, &last, histogram->buckets[i]);
		next = i + 1;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds what a note says, and what is noted of that again: counters are the same
 * then. A histogram whose count is not that of its buckets is spread anew. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/totals.h"
#include "store/totals_note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const counters[] = {"a", "sent"};
static const char *const histograms[] = {"h", "latency"};
static const struct totals_names names = {
    .counters = counters,
    .counter_count = 2,
    .histograms = histograms,
    .histogram_count = 2,
};

struct counted {
	uint64_t counters[2];
	struct histogram_total histograms[2];
};

/* Replaces the note by that of what it says. */
static struct counted
note_again(struct buffer *note)
{
	struct totals *totals = totals_new(&names);
	struct counted counted;

	totals_note_add(totals, note);
	totals_note_write(totals, note);
	totals_snapshot(totals, counted.counters, counted.histograms);
	totals_free(&totals);
	return counted;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer note = {0};
	struct counted first, second;

	buffer_append(&note, data, size);
	first = note_again(&note);
	second = note_again(&note);
	assert(memcmp(first.counters, second.counters,
		   sizeof(first.counters)) == 0);
	for (int i = 0; i < 2; i++)
		assert(first.histograms[i].exponential.count ==
		       second.histograms[i].exponential.count);
	buffer_free(&note);
	return 0;
}

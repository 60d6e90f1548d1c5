/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte tells the size of the pieces; cut like that or not at all, the
 * rest gives the same headers. What is found is text within its bounds.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lmtp/end_of_data.h"
#include "lmtp/header_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct header_scan_names names = {"mx.test", "X-Perf-Sent"};

static size_t
scan_content(
    struct header_scan *scan, const char *text, size_t size, size_t step)
{
	struct end_of_data state;
	bool found = false;
	size_t at = 0;

	header_scan_begin(scan, &names);
	end_of_data_begin(&state);
	while (at < size && !found) {
		size_t piece = size - at < step ? size - at : step;

		piece = end_of_data_scan(&state, text + at, piece, &found);
		header_scan_feed(scan, text + at, piece);
		at += piece;
	}
	header_scan_end(scan);
	return at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct header_scan whole, cut;
	size_t step = size > 0 ? data[0] % 16 + 1u : 1;
	char *copy;

	if (size == 0)
		return 0;
	size--;
	copy = malloc(size > 0 ? size : 1);
	memcpy(copy, data + 1, size);
	assert(scan_content(&whole, copy, size, size + 1) ==
	       scan_content(&cut, copy, size, step));
	assert(whole.stamps_seen == cut.stamps_seen);
	assert(whole.stamp_found == cut.stamp_found);
	if (whole.stamp_found)
		assert(uuid_equal(&whole.stamp.id, &cut.stamp.id));
	assert(strcmp(whole.queue_id, cut.queue_id) == 0);
	assert(strcmp(whole.message_id, cut.message_id) == 0);
	assert(strcmp(whole.run, cut.run) == 0);
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes a histogram; what is accepted encodes to what decodes the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/histogram.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct histogram first, second;
	struct buffer buffer = {0};

	histogram_init(&first);
	histogram_init(&second);
	if (histogram_decode(&first, data, size) != 0)
		return 0;
	histogram_encode(&first, &buffer);
	assert(histogram_decode(&second, buffer.data, buffer.size) == 0);
	assert(memcmp(&first, &second, sizeof(first)) == 0);
	first.count = 1000;
	for (double q = 0; q <= 1; q += 0.125)
		assert(histogram_quantile_ns(&first, q) >= 0);
	buffer_free(&buffer);
	return 0;
}

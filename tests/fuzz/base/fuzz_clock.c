/* SPDX-License-Identifier: BSD-2-Clause */
/* Times as text: what is read is written back to the letter. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[CLOCK_TEXT_SIZE];
	int64_t wall_ns, again_ns;

	if (clock_parse((const char *)data, size, &wall_ns) == 0) {
		clock_format(wall_ns, text);
		assert(size == strlen(text) && memcmp(text, data, size) == 0);
	}
	if (size == sizeof(wall_ns)) {
		memcpy(&wall_ns, data, size);
		clock_format(wall_ns, text);
		if (clock_parse(text, strlen(text), &again_ns) == 0)
			assert(
			    wall_ns >= again_ns && wall_ns - again_ns < 1000);
		else /* the first second that nanoseconds reach is not read */
			assert(wall_ns < INT64_MIN + CLOCK_NS_PER_SECOND);
	}
	return 0;
}

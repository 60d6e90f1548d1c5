/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads progress, and what is written of it again: it is the same then. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct progress progress, again;
	struct buffer out = {0};

	if (progress_read(text, &progress) == 0) {
		progress_write(&progress, &out);
		buffer_append(&out, "", 1);
		assert(progress_read((const char *)out.data, &again) == 0);
		assert(again.count == progress.count);
		assert(again.left_ns == progress.left_ns);
		for (size_t i = 0; i < again.count; i++)
			assert(strcmp(again.sources[i].name,
				   progress.sources[i].name) == 0 &&
			       again.sources[i].bytes ==
				   progress.sources[i].bytes);
	}
	buffer_free(&out);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path never grows by decoding, never gets a NUL, and comes back when each of
 * its bytes is escaped.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/serve/http_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_escaped(const char *path)
{
	size_t size = strlen(path);
	char *escaped = malloc(3 * size + 1);

	assert(escaped != NULL);
	escaped[0] = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(escaped + 3 * i, 4, "%%%02X", (unsigned char)path[i]);
	assert(http_path_decode(escaped) == 0);
	assert(strcmp(escaped, path) == 0);
	free(escaped);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = malloc(size + 1);
	size_t before;

	assert(path != NULL);
	memcpy(path, data, size);
	path[size] = '\0';
	before = strlen(path);
	if (http_path_decode(path) == 0) {
		assert(strlen(path) <= before);
		assert(strlen(path) >= before / 3);
		check_escaped(path);
	}
	free(path);
	return 0;
}

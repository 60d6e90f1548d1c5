/* SPDX-License-Identifier: BSD-2-Clause */
/* Weights are thousandths, and what is put first counts. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/serve/http_accept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_first(const char *field)
{
	size_t size = strlen(field) + 40;
	char *longer = malloc(size);

	assert(longer != NULL);
	snprintf(longer, size, "gzip;q=0.250, %s", field);
	assert(http_accept_weight(longer, "gzip") == 250);
	snprintf(longer, size, "gzip;q=0, %s", field);
	assert(!http_accept_gzip(longer));
	free(longer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"gzip", "x-gzip", "identity", "*"};
	char *field = malloc(size + 1);

	assert(field != NULL);
	memcpy(field, data, size);
	field[size] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int weight = http_accept_weight(field, names[i]);

		assert(weight >= -1 && weight <= 1000);
	}
	http_accept_gzip(field);
	check_first(field);
	free(field);
	return 0;
}

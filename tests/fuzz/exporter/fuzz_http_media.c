/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever else is accepted: a type in front that says everything and has full
 * weight is the choice, and what is not offered changes nothing. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/serve/http_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_media offers[] = {
    {"text/plain", {{"version", "0.0.4", false}}},
    {"application/openmetrics-text", {{"version", "1.0.0", false}}},
    {"application/vnd.google.protobuf",
	{{"proto", "io.prometheus.client.MetricFamily", true},
	    {"encoding", "delimited", true}}},
};

#define OFFERS (sizeof(offers) / sizeof(offers[0]))

static size_t
choose_with(const char *before, const char *field, const char *after)
{
	size_t size = strlen(before) + strlen(field) + strlen(after) + 1;
	char *longer = malloc(size);
	size_t choice;

	assert(longer != NULL);
	snprintf(longer, size, "%s%s%s", before, field, after);
	choice = http_media_choose(longer, offers, OFFERS);
	free(longer);
	return choice;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *field = malloc(size + 1);
	size_t choice;

	assert(field != NULL);
	memcpy(field, data, size);
	field[size] = '\0';
	choice = http_media_choose(field, offers, OFFERS);
	assert(choice < OFFERS);
	assert(choose_with("application/vnd.google.protobuf;encoding=delimited;"
			   "proto=io.prometheus.client.MetricFamily,",
		   field, "") == 2);
	assert(choose_with("image/png;q=0.3, ", field, "") == choice);
	free(field);
	return 0;
}

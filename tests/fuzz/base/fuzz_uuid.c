/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids as text: what is read is written back, in lower case. */
#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/uuid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[UUID_TEXT_SIZE];
	struct uuid uuid, again;

	if (uuid_parse((const char *)data, size, &uuid) < 0)
		return 0;
	uuid_format(&uuid, text);
	assert(size == strlen(text));
	assert(strncasecmp(text, (const char *)data, size) == 0);
	assert(uuid_parse(text, size, &again) == 0);
	assert(uuid_equal(&uuid, &again));
	assert(uuid_wall_ns(&uuid) >= 0);
	return 0;
}

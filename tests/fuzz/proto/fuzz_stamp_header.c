/* SPDX-License-Identifier: BSD-2-Clause */
/* Stamp headers: what is read is written in the one form, and read again. */
#include <assert.h>
#include <string.h>

#include "proto/stamp_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stamp_header stamp, again;
	char value[STAMP_HEADER_VALUE_SIZE];

	if (stamp_header_parse((const char *)data, size, &stamp) != 0)
		return 0;
	stamp_header_format(&stamp, value);
	assert(stamp_header_parse(value, strlen(value), &again) == 0);
	assert(stamp.mail_wall_ns == again.mail_wall_ns);
	assert(uuid_equal(&stamp.id, &again.id));
	assert(strcmp(stamp.queue_id, again.queue_id) == 0);
	for (const char *line = value; line != NULL;) {
		const char *end = strchr(line, '\n');

		assert(
		    (end != NULL ? (size_t)(end - line) : strlen(line)) <= 78);
		line = end != NULL ? end + 1 : NULL;
	}
	return 0;
}

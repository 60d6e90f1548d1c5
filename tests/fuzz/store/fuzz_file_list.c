/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the files of a list that are gone, and counts them another way. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/file_list.h"
#include "store/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t archived[] = {20787, 20788};

static bool
is_archived(const char *name)
{
	int64_t day;

	return layout_parse(name, &day) == 1 &&
	       (day == archived[0] || day == archived[1]);
}

/* Up to the first zero byte. */
static uint64_t
count_gone(const char *names)
{
	uint64_t gone = 0;
	char name[1024];

	while (*names != '\0') {
		size_t length = strcspn(names, "\n");
		size_t kept = length < sizeof(name) ? length : sizeof(name) - 1;

		memcpy(name, names, kept);
		name[kept] = '\0';
		gone += length > 0 && !is_archived(name);
		names += length + (names[length] == '\n');
	}
	return gone;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer names = {.data = NULL}, copy = {.data = NULL};

	buffer_append(&names, data, size);
	buffer_append(&copy, data, size);
	buffer_append(&copy, "", 1);
	assert(file_list_tell(&names, "/nowhere", archived, 2) ==
	       count_gone((const char *)copy.data));
	buffer_free(&names);
	buffer_free(&copy);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads packed values as the bytes themselves say, and packs them again: what
 * was read without failure reads the same a second time.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_stamps(struct packed_reader *reader)
{
	struct stamp stamps[3], again[3];
	struct stamp *list[] = {&stamps[0], &stamps[1], &stamps[2]};
	struct stamp *again_list[] = {&again[0], &again[1], &again[2]};
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer, .last = reader->last};
	struct packed_reader second = {.last = reader->last};

	packed_stamps(reader, list, 3);
	packed_put_stamps(&writer, (const struct stamp *const *)list, 3);
	second.data = buffer.data;
	second.size = buffer.size;
	packed_stamps(&second, again_list, 3);
	assert(!second.failed && second.size == 0);
	for (int i = 0; i < 3; i++) {
		struct stamp cut = packed_cut(stamps[i]);

		assert(memcmp(&again[i], &cut, sizeof(cut)) == 0);
	}
	buffer_free(&buffer);
}

static void
check_number(struct packed_reader *reader)
{
	int64_t value = packed_signed(reader);
	struct buffer buffer = {0};
	struct packed_writer writer = {.out = &buffer};
	struct packed_reader second = {0};

	packed_put_signed(&writer, value);
	second.data = buffer.data;
	second.size = buffer.size;
	assert(packed_signed(&second) == value && !second.failed);
	buffer_free(&buffer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packed_reader reader = {.data = data, .size = size};
	const uint8_t *bytes;
	size_t count;

	while (reader.size > 0 && !reader.failed) {
		switch (packed_unsigned(&reader) % 4) {
		case 0:
			check_number(&reader);
			break;
		case 1:
			check_stamps(&reader);
			break;
		case 2:
			packed_rest(&reader, &(struct stamp){1, 1});
			break;
		default:
			bytes = packed_bytes(&reader, &count);
			assert(count == 0 ||
			       (bytes >= data && bytes + count <= data + size));
		}
	}
	return 0;
}

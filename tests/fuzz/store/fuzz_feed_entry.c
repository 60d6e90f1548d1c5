/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacks entries of a feed, and packs them again: they are the same then. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/feed_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(1 << 24);
	struct feed_entry *entries, *again;
	size_t count, count_again;
	struct buffer packed = {0};

	if (feed_entries_unpack(data, size, arena, &entries, &count) == 0) {
		feed_entries_pack(entries, count, &packed);
		assert(feed_entries_unpack(packed.data, packed.size, arena,
			   &again, &count_again) == 0);
		assert(count == count_again);
		assert(count == 0 ||
		       memcmp(entries, again, count * sizeof(*again)) == 0);
	}
	buffer_free(&packed);
	arena_free(&arena);
	return 0;
}

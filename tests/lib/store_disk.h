/* SPDX-License-Identifier: BSD-2-Clause */
/* store_disk: wait until the disk has all that was committed to a store. */
#ifndef TESTS_LIB_STORE_DISK_H
#define TESTS_LIB_STORE_DISK_H

#include "base/clock.h"
#include "store/store.h"

#include <poll.h>

/* As upkeep does it, on a clock of its own: the tests' may stand still. */
static inline void
store_disk_wait(struct store *store)
{
	static int64_t now_ns;

	while (store_sync_due(store) != 0) {
		now_ns += CLOCK_NS_PER_SECOND;
		if (store_follow_sync(store, now_ns) == STORE_SYNC_ENDED)
			store_raise_synced(store);
		poll(NULL, 0, 1);
	}
}

#endif

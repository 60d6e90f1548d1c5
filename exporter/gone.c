/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by upkeep. */
#include "exporter/gone.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/join/transition.h"
#include "store/store.h"

long
gone_settle(struct store *store, int64_t lost, struct reason *reason)
{
	struct day_file *file;
	int64_t kept, gone;

	if (lost <= 0)
		return 0;
	if (store_count_state(store, RECIPIENT_LOST, &kept, reason) != 0) {
		log_warn("reason=\"%s\"", reason->text);
		return 0;
	}
	if (kept >= lost)
		return 0;
	file = store_file(store, clock_stamp().wall_ns, reason);
	if (file == NULL)
		return -1;
	for (gone = 0; gone < lost - kept; gone++)
		transition_of_state(file, RECIPIENT_LOST, RECIPIENT_DELETED);
	return gone;
}

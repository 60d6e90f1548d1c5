/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines come before their message is committed. Pure. */
#include "exporter/read/log_record.h"

bool
log_record_is_preliminary(const struct log_record *record)
{
	static const bool preliminary[MAILLOG_KINDS] = {
	    [MAILLOG_CLIENT] = true,
	    [MAILLOG_PICKUP] = true,
	    [MAILLOG_MESSAGE_ID] = true,
	    [MAILLOG_RESENT_MESSAGE_ID] = true,
	    [MAILLOG_RESTRICTION] = true,
	    [MAILLOG_CONTENT] = true,
	    [MAILLOG_MILTER] = true,
	    [MAILLOG_MILTER_CONTENT] = true,
	    [MAILLOG_REFUSED] = true,
	};

	return record->record.queue_id.size == 0 ||
	       preliminary[record->record.kind];
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which part of the join a record is for. Called by ingest on its thread. */
#include "exporter/apply.h"

#include "exporter/join/join.h"
#include "exporter/privacy/privacy_filter.h"
#include "exporter/read/sources.h"

bool
apply_is_ready(void *context, const struct source_record *record)
{
	if (record->line == NULL)
		return join_is_ready(context, record->record);
	return record->line->owner == LOG_OF_DOVECOT ||
	       join_log_is_ready(context, record->line);
}

int
apply_record(const struct apply *apply, struct source_record *record,
    struct reason *reason)
{
	if (source_record_is_damaged(record) &&
	    join_damage(apply->join, record->source, record->damage_end,
		&record->damage, reason) != 0)
		return -1;
	if (privacy_filter_apply(apply->filter, record, reason) != 0)
		return -1;
	if (record->line != NULL && record->line->owner == LOG_OF_DOVECOT)
		return join_apply_dovecot(apply->join, record->source,
		    record->line, apply->now_ns, reason);
	if (record->line != NULL)
		return join_apply_log(apply->join, record->source, record->line,
		    apply->now_ns, reason);
	if (record->record == NULL)
		return 0;
	return join_apply(
	    apply->join, record->source, record->record, apply->now_ns, reason);
}

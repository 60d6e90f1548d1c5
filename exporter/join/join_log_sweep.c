/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the log about everything that is open. Called by join_log.c, on the
 * ingest thread.
 */
#include <string.h>

#include "exporter/join/join_log_state.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/effect.h"

void
join_log_note_removed(struct join *join, const struct log_input *input)
{
	const struct log_record *record = input->record;

	if (record->record.program != MAILLOG_PROGRAM_POSTSUPER)
		return;
	if (join->postsuper_pid != record->line.pid)
		join->postsuper_removed = 0;
	join->postsuper_pid = record->line.pid;
	join->postsuper_removed++;
}

/* Evidence about everything that is open. */
struct sweep {
	struct join *join;
	const char *instance; /* NULL: all */
	int64_t before_wall_ns;
	uint32_t evidence;
	struct reason *reason;
};

static int
sweep_one(void *context, struct tracked *tracked)
{
	const struct sweep *sweep = context;
	const struct open_message *message = tracked_message(tracked);

	if (message->mail_at.wall_ns > sweep->before_wall_ns ||
	    (sweep->instance != NULL &&
		strcmp(message->instance, sweep->instance) != 0))
		return 0;
	return join_log_evidence(
	    sweep->join, tracked, sweep->evidence, 0, sweep->reason);
}

static int
sweep_open(struct join *join, const struct log_input *input, uint32_t evidence,
    struct reason *reason)
{
	struct sweep sweep = {join, input->instance,
	    input->wall_ns + input->precision_ns, evidence, reason};

	return open_messages_each(join->messages, sweep_one, &sweep);
}

/* postsuper -d ALL names nobody. */
int
join_log_summary(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	const struct maillog_record *record = &input->record->record;
	uint64_t named = join->postsuper_pid == input->record->line.pid
			     ? join->postsuper_removed
			     : 0;
	int64_t count;

	join->postsuper_removed = 0;
	if (record->action != MAILLOG_DELETE ||
	    maillog_view_number(record->fields[MAILLOG_COUNT], &count) != 0 ||
	    (uint64_t)count <= named)
		return 0;
	return sweep_open(join, input, MESSAGE_BULK_DELETED, reason);
}

int
join_log_lost(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct log_input all = *input;

	all.instance = NULL;
	return sweep_open(join, &all, MESSAGE_LOG_GAP, reason);
}

/* Also between a copy and a truncation: on a busy log logrotate's copytruncate
 * loses lines nearly every time. */
int
join_log_gap(
    struct join *join, const struct log_input *input, struct reason *reason)
{
	struct day_file *file = store_file(join->store, input->wall_ns, reason);

	if (file == NULL)
		return -1;
	if (!day_file_has(file, input->source, input->position))
		effect_count(file, METRIC_LOG_GAPS, input->record->gap - 1, 1);
	return join_log_lost(join, input, reason);
}

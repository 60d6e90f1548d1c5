/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of labels' values. Named in the table of metrics only. */
#include "exporter/metrics/metric_words.h"

#include "exporter/maillog/log_gap.h"
#include "exporter/maillog/log_limit.h"
#include "exporter/metrics/metric_labels.h"
#include "exporter/metrics/revision.h"
#include "exporter/queue/queue_find.h"
#include "proto/event.h"
#include "proto/phase.h"
#include "store/record.h"
#include "store/route.h"

const char *const metric_sources[SOURCES] = {
    "milter", "lmtp", "operator", "log", "other"};

const char *
metric_source_word(unsigned number)
{
	return metric_sources[number];
}

const char *
metric_added_word(unsigned number)
{
	static const char *const values[ADDITIONS] = {
	    "expanded", "aborted", "unjoined", "unstamped"};

	return values[number];
}

const char *
metric_outcome_word(unsigned number)
{
	return recipient_state_name(outcome_state(number));
}

const char *
metric_state_word(unsigned number)
{
	return recipient_state_name(number < OPEN_STATES
					? open_state(number)
					: outcome_state(number - OPEN_STATES));
}

const char *
metric_revised_from_word(unsigned number)
{
	return recipient_state_name(revision_from(number));
}

const char *
metric_revised_to_word(unsigned number)
{
	return recipient_state_name(revision_to(number));
}

const char *
metric_route_word(unsigned number)
{
	return route_name((enum route)number);
}

const char *
metric_phase_word(unsigned number)
{
	return phase_describe((enum phase)number)->name;
}

const char *
metric_result_word(unsigned number)
{
	static const char *const values[RESULTS] = {
	    "delivered", "deferred", "bounced", "unanswered"};

	return values[number];
}

const char *
metric_deferral_word(unsigned number)
{
	static const char *const values[DEFERRALS] = {"other", "address",
	    "mailbox", "system", "network", "protocol", "content", "policy"};

	return values[number];
}

const char *
metric_reject_phase_word(unsigned number)
{
	static const char *const values[REJECT_PHASES] = {"connect", "helo",
	    "mail", "rcpt", "data", "content", "eom", "other"};

	return values[number];
}

const char *
metric_class_word(unsigned number)
{
	static const char *const values[REJECTS] = {"4", "5"};

	return values[number];
}

const char *
metric_abort_word(unsigned number)
{
	return message_phase_name(MESSAGE_PHASE_CONNECT + number);
}

const char *
metric_unstamped_word(unsigned number)
{
	static const char *const values[UNSTAMPED_REASONS] = {
	    "no_stamp", "no_message", "foreign", "internal"};

	return values[number];
}

const char *
metric_milter_unstamped_word(unsigned number)
{
	static const char *const values[MILTER_UNSTAMPED_REASONS] = {
	    "stopped", "dropped", "refused"};

	return values[number];
}

const char *
metric_dropped_word(unsigned number)
{
	static const char *const values[DROPPED_REASONS] = {
	    "limit", "error", "memory"};

	return values[number];
}

const char *
metric_detection_word(unsigned number)
{
	static const char *const values[LOSS_DETECTIONS] = {
	    "off", "blind", "on"};

	return values[number];
}

const char *
metric_place_word(unsigned number)
{
	return queue_place_name((enum queue_place)number);
}

const char *
metric_log_line_word(unsigned number)
{
	static const char *const values[LOG_LINE_KINDS] = {
	    "known", "unknown", "foreign"};

	return values[number];
}

const char *
metric_log_gap_word(unsigned number)
{
	return log_gap_name((enum log_gap)(number + 1));
}

const char *
metric_log_limit_word(unsigned number)
{
	return log_limit_name((enum log_limit_kind)number);
}

const char *
metric_filing_word(unsigned number)
{
	return filing_action_name((enum filing_action)number);
}

const char *
metric_disk_word(unsigned number)
{
	static const char *const values[DISKS] = {"journal", "store"};

	return values[number];
}

const char *
metric_version_word(unsigned number)
{
	return POSTLAG_VERSION;
}

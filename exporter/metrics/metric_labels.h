/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metric_labels: the numbers of label values, by which label sets are counted.
 *
 * The words that belong to them are in metric_words.h; outcomes and revisions
 * are in revision.h.
 */
#ifndef EXPORTER_METRICS_METRIC_LABELS_H
#define EXPORTER_METRICS_METRIC_LABELS_H

enum metric_source {
	SOURCE_MILTER,
	SOURCE_LMTP,
	SOURCE_OPERATOR,
	SOURCE_LOG,
	SOURCE_OTHER,
	SOURCES
};

enum metric_added {
	ADDED_EXPANDED,
	ADDED_ABORTED,
	ADDED_UNJOINED,
	ADDED_UNSTAMPED,
	ADDITIONS
};

enum metric_result {
	RESULT_DELIVERED,
	RESULT_DEFERRED,
	RESULT_BOUNCED,
	RESULT_UNANSWERED,
	RESULTS
};

/* Numbered as the subjects of enhanced status codes are. */
enum metric_deferral {
	DEFERRAL_OTHER,
	DEFERRAL_ADDRESS,
	DEFERRAL_MAILBOX,
	DEFERRAL_SYSTEM,
	DEFERRAL_NETWORK,
	DEFERRAL_PROTOCOL,
	DEFERRAL_CONTENT,
	DEFERRAL_POLICY,
	DEFERRALS
};

enum metric_reject_phase {
	REJECT_CONNECT,
	REJECT_HELO,
	REJECT_MAIL,
	REJECT_RCPT,
	REJECT_DATA,
	REJECT_CONTENT,
	REJECT_EOM,
	REJECT_OTHER,
	REJECT_PHASES
};

enum metric_reject_class { REJECT_TEMPORARY, REJECT_PERMANENT, REJECTS };

enum metric_unstamped {
	UNSTAMPED_NO_STAMP,
	UNSTAMPED_NO_MESSAGE,
	UNSTAMPED_FOREIGN,
	UNSTAMPED_INTERNAL,
	UNSTAMPED_REASONS
};

enum metric_milter_unstamped {
	MILTER_UNSTAMPED_STOPPED,
	MILTER_UNSTAMPED_DROPPED,
	MILTER_UNSTAMPED_REFUSED,
	MILTER_UNSTAMPED_REASONS
};

enum metric_log_line {
	LOG_LINE_KNOWN,
	LOG_LINE_UNKNOWN,
	LOG_LINE_FOREIGN,
	LOG_LINE_KINDS
};

enum metric_dropped {
	DROPPED_LIMIT,
	DROPPED_ERROR,
	DROPPED_MEMORY,
	DROPPED_REASONS
};

enum metric_disk { DISK_JOURNAL, DISK_STORE, DISKS };

enum loss_detection { LOSS_OFF, LOSS_BLIND, LOSS_ON, LOSS_DETECTIONS };

#endif

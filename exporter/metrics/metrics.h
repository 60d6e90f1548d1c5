/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics: which metrics exist.
 *
 * One table says of each family its name, type, unit, labels with all values
 * they can take, what it is told from, and what it means. From it come the
 * counters and histograms that the store keeps, what /metrics shows, and the
 * reference in the documentation. Label values form a closed set: no address,
 * queue id or host ever becomes one. No state; any thread.
 */
#ifndef EXPORTER_METRICS_METRICS_H
#define EXPORTER_METRICS_METRICS_H

#include "exporter/metrics/metric_labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct totals_names;

/* Where a family's values come from. */
enum metric_origin {
	METRIC_STORED_COUNTER,   /* the sum over all day files */
	METRIC_STORED_HISTOGRAM, /* likewise */
	METRIC_LIVE_COUNTER,     /* this process, from its start */
	METRIC_GAUGE             /* this moment */
};

/* Values are integers everywhere: of nanoseconds where the unit is seconds, of
 * billionths where it is a ratio. */
enum metric_unit { METRIC_PLAIN, METRIC_SECONDS, METRIC_BYTES, METRIC_RATIO };

/* What a family is told from, or'ed: as long as none of it is read, all its
 * values stay 0. */
enum metric_evidence {
	FROM_MILTER = 1 << 0,   /* its journal */
	FROM_HOOK = 1 << 1,     /* likewise */
	FROM_LOG = 1 << 2,      /* Postfix's */
	FROM_DOVECOT = 1 << 3,  /* its log */
	FROM_QUEUE = 1 << 4,    /* looks into Postfix's queue */
	FROM_OPERATOR = 1 << 5, /* postlag ack and forget */
	FROM_EXPORTER = 1 << 6, /* what it knows of itself */
	FROM_ANY = FROM_EXPORTER - 1
};

#define METRIC_LABELS 2

struct metric_label {
	const char *name; /* NULL: the family has no such label */
	unsigned count;
	const char *(*value)(unsigned number);
};

struct metric_family {
	const char *name;
	enum metric_origin origin;
	enum metric_unit unit;
	unsigned evidence;
	struct metric_label labels[METRIC_LABELS];
	const char *help;
	/* The labels' values go together, one by one; otherwise each value of
	 * one goes with each of the other. */
	bool paired;
};

enum metric {
	METRIC_MESSAGES_ACCEPTED,
	METRIC_RECIPIENTS_ACCEPTED,
	METRIC_RECIPIENTS_ADDED,
	METRIC_RECIPIENTS_RECOGNIZED,
	METRIC_RECIPIENT_OUTCOMES,
	METRIC_OUTCOME_REVISIONS,
	METRIC_FILINGS,
	METRIC_RECIPIENTS,
	METRIC_RECIPIENTS_LOST,
	METRIC_RECIPIENTS_RECOVERED,
	METRIC_MESSAGES_GHOST,
	METRIC_LOSS_DETECTION,
	METRIC_QUEUE_LOOKUPS,
	METRIC_MESSAGES_IN_FLIGHT,
	METRIC_OLDEST_IN_FLIGHT,
	METRIC_DELIVERY_LATENCY,
	METRIC_PHASE,
	METRIC_DELIVERY_ATTEMPTS,
	METRIC_DEFERRALS,
	METRIC_DUPLICATES,
	METRIC_SMTP_REJECTS,
	METRIC_SMTP_ABORTS,
	METRIC_RECIPIENTS_OMITTED,
	METRIC_UNSTAMPED,
	METRIC_MILTER_UNSTAMPED,
	METRIC_FORGED_STAMPS,
	METRIC_DELIVERIES_WAITING,
	METRIC_FILINGS_WAITING,
	METRIC_CLOCK_SKEW,
	METRIC_ODD_MESSAGES,
	METRIC_SESSIONS,
	METRIC_JOURNAL_EVENTS_APPENDED,
	METRIC_JOURNAL_EVENTS_DROPPED,
	METRIC_JOURNAL_BYTES_APPENDED,
	METRIC_JOURNAL_DAMAGED_RECORDS,
	METRIC_JOURNAL_DAMAGED_BYTES,
	METRIC_JOURNAL_TORN_RECORDS,
	METRIC_JOURNAL_UNREADABLE_SEGMENTS,
	METRIC_JOURNAL_BEHIND_BYTES,
	METRIC_LOG_LINES,
	METRIC_LOG_GAPS,
	METRIC_LOG_RATE_LIMIT_USED,
	METRIC_LOG_BEHIND_BYTES,
	METRIC_SOURCE_LAST_EVENT,
	METRIC_SOURCE_EVENTS,
	METRIC_BEHIND_EVENTS,
	METRIC_READ_RATE,
	METRIC_CATCH_UP,
	METRIC_DISK_AVAILABLE_BYTES,
	METRIC_STORE_FILES,
	METRIC_STORE_BYTES,
	METRIC_STORE_OLDEST_DAY,
	METRIC_STORE_PURGES,
	METRIC_STORE_DAMAGED_FILES,
	METRIC_STORE_REPLACED_FILES,
	METRIC_STORE_COMMITS,
	METRIC_STORE_ERRORS,
	METRIC_STORE_LONGEST_COMMIT,
	METRIC_STORE_LONGEST_PAUSE,
	METRIC_BUILD_INFO,
	METRICS
};

const struct metric_family *metric_family(enum metric metric);

/* "counter", "gauge" or "histogram". */
const char *metric_type_name(enum metric_origin origin);

/* The unit's name; NULL for METRIC_PLAIN. */
const char *metric_unit_name(enum metric_unit unit);

/* How many label sets a family has; they are numbered, the last label's value
 * changing fastest. A family without labels has one, number 0. */
unsigned metric_family_sets(const struct metric_family *family);
unsigned metric_sets(enum metric metric);

/* The value of label `label` in set `set`. */
const char *metric_family_label(
    const struct metric_family *family, unsigned set, unsigned label);
const char *metric_label_value(
    enum metric metric, unsigned set, unsigned label);

/* The index of one label set among all of the same kind: stored counters,
 * stored histograms, or live values (gauges and live counters together). */
unsigned metric_index(enum metric metric, unsigned set);

/* How many values of the kind of `origin` there are. */
unsigned metric_values(enum metric_origin origin);

/* The label value for a journal's name. */
enum metric_source metric_source(const char *name);

/* The names under which the store keeps counters and histograms, in the order
 * of metric_index(): the sample's name with its labels. The same storage at
 * every call; to be called once before threads start. */
const struct totals_names *metrics_names(void);

/* Writes the reference: two Markdown tables, metrics and phases. */
void metrics_print_reference(FILE *out);

#endif

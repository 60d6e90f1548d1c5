/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * series: the names under which histograms are kept.
 *
 * A histogram's own name is that of the metric. The durations of one host, and
 * of one relay or provider, are kept under names that say so behind it; relays
 * and providers by the hour only. Any thread.
 */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include "proto/phase.h"
#include "store/route.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* postlag_delivery_latency_seconds of a route. */
const char *series_of_route(enum route route);

/* postlag_phase_seconds of a phase. */
const char *series_of_phase(enum phase phase);

/* Whose durations; NULL: anybody's. */
struct series_labels {
	const char *host;     /* the instance that took the mail */
	const char *relay;    /* the host or server that took it over */
	const char *provider; /* the recipient's domain */
};

/* What does not fit into a file any more is kept under this label. */
#define SERIES_OTHER "other"

/* As labels are kept: in lower case; of name[address]:port the name, or without
 * one the address. What is no name becomes SERIES_OTHER. */
#define SERIES_LABEL_SIZE 128
void series_label(const char *text, char label_r[SERIES_LABEL_SIZE]);

/* Appends the name of the histogram `base` for these labels, each as
 * series_label() has it; at most one of relay and provider is set. */
void series_name(const char *base, const struct series_labels *labels,
    struct buffer *out);

enum series_kind { SERIES_HOST, SERIES_RELAY, SERIES_PROVIDER, SERIES_KINDS };

/* "host", "relay", "provider". */
const char *series_kind_name(enum series_kind kind);

/* The label of a kind in a name, which ends where the next begins; NULL: it has
 * none. */
const char *series_find_label(
    const char *name, enum series_kind kind, size_t *size_r);

/* Whether the name is one that `labels` ask for, of the histogram `base`. All
 * names that fit the same labels together have every duration once. */
bool series_fits(
    const char *name, const char *base, const struct series_labels *labels);

#endif

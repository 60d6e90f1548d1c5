/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privacy_event: events as privacy allows them. Not thread-safe.
 */
#ifndef EXPORTER_PRIVACY_PRIVACY_EVENT_H
#define EXPORTER_PRIVACY_PRIVACY_EVENT_H

#include "proto/event.h"

struct arena;
struct buffer;
struct privacy;

/* Where what is written goes. */
struct privacy_place {
	const struct privacy *privacy;
	struct arena *arena;
	struct buffer *text; /* used meanwhile */
};

/* Replaces strings, and arrays with strings, by copies in the arena. */
void privacy_event(const struct privacy_place *place, struct event *event);

#endif

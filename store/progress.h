/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress: how far the exporter is behind what it reads, as it notes it for
 * readers of the store. Pure; any thread.
 */
#ifndef STORE_PROGRESS_H
#define STORE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

/* The note under which it does: empty while it keeps up. */
#define NOTE_PROGRESS "progress"

#define PROGRESS_SOURCES_MAX 8
#define PROGRESS_NAME_SIZE 16

struct progress_source {
	char name[PROGRESS_NAME_SIZE]; /* of the metrics' label `source` */
	int64_t bytes;                 /* not read yet */
	int64_t events;                /* likewise, about */
};

struct progress {
	int64_t wall_ns; /* when it was so */
	int64_t events_per_second;
	int64_t left_ns; /* until all is read; negative: not known */
	struct progress_source sources[PROGRESS_SOURCES_MAX];
	size_t count; /* of those that have something to read */
};

/* Appends it as text. */
void progress_write(const struct progress *progress, struct buffer *out);

/* Returns 0, or -1 for what is none, as "". */
int progress_read(const char *text, struct progress *progress_r);

#endif

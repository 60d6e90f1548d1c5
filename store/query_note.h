/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_note: what the exporter has noted of itself, for readers.
 *
 * Part of query.h, whose rules hold.
 */
#ifndef STORE_QUERY_NOTE_H
#define STORE_QUERY_NOTE_H

struct arena;
struct reason;
struct store_reader;

/* The note under which the exporter says whether it looks for losses: "off",
 * "blind" or "on", as the metric postlag_loss_detection. */
#define NOTE_LOSS_DETECTION "loss_detection"

/* A note as text in `arena`. Returns 1, 0 when there is none, or -1 with a
 * reason. */
int store_note(struct store_reader *reader, const char *name,
    struct arena *arena, const char **text_r, struct reason *reason);

#endif

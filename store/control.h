/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control: control.db, the lower bounds of positions, and notes.
 *
 * Bounds may lag behind the day files or vanish: then more is read again than
 * need be, and found to be applied already. Never may they be ahead: so there
 * are others, which lag further, for a start after a power cut, which took of
 * the day files what was not synced. Ingest thread only.
 */
#ifndef STORE_CONTROL_H
#define STORE_CONTROL_H

#include "proto/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct control;
struct positions;
struct reason;
struct source_position;

/* Opens or creates it; a damaged one is replaced by an empty one. What others
 * do to the file later is told, and it is made anew. If the machine was started
 * since it was written the bounds are the synced ones. Returns NULL with a
 * reason. */
struct control *control_open(const char *directory, struct reason *reason);

/* Whether it was. */
bool control_is_of_other_boot(const struct control *control);

struct journal_position control_bound(
    const struct control *control, const char *source);

const struct positions *control_bounds(const struct control *control);

/* Raises the bounds, in memory and then on disk; what cannot be written is
 * told once, and tried again each time. */
void control_raise(struct control *control,
    const struct source_position *positions, size_t count);

/* Likewise those up to which the disk has all of the day files. */
void control_raise_synced(
    struct control *control, const struct positions *synced);

struct journal_position control_synced_bound(
    const struct control *control, const char *source);

/* Sets a note that is written when bounds are raised next, and may lag behind
 * as they do; or sooner, by control_write(). */
void control_note_keep(
    struct control *control, const char *name, const struct buffer *value);
void control_write(struct control *control);

/* See store_note_write() and store_note_read(). */
int control_note_write(struct control *control, const char *name,
    const struct buffer *value, struct reason *reason);
bool control_note_read(
    const struct control *control, const char *name, struct buffer *value_r);

/* How often the file was set aside, and found replaced by others. */
uint64_t control_figures(const struct control *control, uint64_t *replaced_r);

/* Begins its log anew if it has grown large. Returns whether it had. */
bool control_shorten_log(struct control *control);

/* Copies its log and empties it, so that what notes held is nowhere. Returns 0,
 * or -1 when readers are in the way. */
int control_empty_log(struct control *control);

/* Closes the file until it is written next. */
void control_leave(struct control *control);

void control_close(struct control **control);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * positions_note: a list of positions as bytes. Pure; any thread.
 */
#ifndef STORE_POSITIONS_NOTE_H
#define STORE_POSITIONS_NOTE_H

struct buffer;
struct positions;

/* Fills `note_r`. */
void positions_note_write(
    const struct positions *positions, struct buffer *note_r);

/* Raises `positions` to those of a note. Of one that makes no sense nothing is
 * taken: who has no positions reads more again than need be. */
void positions_note_read(
    struct positions *positions, const struct buffer *note);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * totals_note: the sums, noted beside the files that they are of.
 *
 * What was shown must not sink when somebody removes a file, or when one is
 * damaged: what was counted in it is still in the note, and carried from then
 * on. For one thread that has the totals to itself.
 */
#ifndef STORE_TOTALS_NOTE_H
#define STORE_TOTALS_NOTE_H

#include <stdbool.h>

struct buffer;
struct totals;

/* Fills `note_r` with the sums as they are now. */
void totals_note_write(struct totals *totals, struct buffer *note_r);

/* Adds what stands in a note. */
void totals_note_add(struct totals *totals, const struct buffer *note);

/* By how much `noted` is more than the sums is added to both the sums and
 * `carried`. Returns whether it was any. */
bool totals_carry(
    struct totals *sums, struct totals *carried, struct totals *noted);

#endif

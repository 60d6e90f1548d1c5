/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checkpoint: copy write-ahead logs into their files without holding up ingest.
 *
 * A thread of its own copies a log that has grown large, and empties the logs
 * of files that nothing is written to any more. It sleeps while there is
 * nothing to do. The functions belong to the ingest thread.
 */
#ifndef STORE_CHECKPOINT_H
#define STORE_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

struct checkpoint;
struct reason;

/* For the store in `directory`. Returns NULL with a reason when there can be no
 * thread. */
struct checkpoint *checkpoint_start(
    const char *directory, struct reason *reason);

/* Says that a commit left `pages` in the log of the file at `path`. Returns
 * true when the thread has copied nearly all of them: the ingest thread should
 * then begin the log anew before it writes more, say how many pages it has now,
 * and call checkpoint_finished(). Meanwhile new readers may have to wait. */
bool checkpoint_note(
    struct checkpoint *checkpoint, const char *path, int pages);

void checkpoint_finished(struct checkpoint *checkpoint);

/* How many events a batch should have at most, at least 1: few while the thread
 * copies what is left of a large log, for the less there is written meanwhile,
 * the less is left for the ingest thread. */
int64_t checkpoint_most_events(struct checkpoint *checkpoint);

/* Has the thread copy the log of the file at `path`, however small. Returns
 * whether it has, since it was asked; else to be asked again. */
bool checkpoint_copy(struct checkpoint *checkpoint, const char *path);

/* Ends the thread, after what it is doing. */
void checkpoint_stop(struct checkpoint **checkpoint);

#endif

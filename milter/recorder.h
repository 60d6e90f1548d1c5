/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorder: where the milter's events go: into the journal, or into a count.
 *
 * One for the process. Any thread; no function waits for more than one
 * write(2).
 */
#ifndef MILTER_RECORDER_H
#define MILTER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

struct journal_writer_settings;
struct message_event;
struct reason;

/* Of the transactions without an accepted recipient, `aborts_per_second` are
 * recorded, and `aborts_burst` at once after a quiet time. */
int recorder_open(const struct journal_writer_settings *journal,
    int64_t aborts_per_second, int64_t aborts_burst, struct reason *reason);

/* Records a message that we are about to let pass. Returns whether its event is
 * in the journal now; only then may it be stamped. */
bool recorder_accepted(const struct message_event *event);

/* Records a transaction that ended early. Without an accepted recipient only
 * within the limits, else counted by the phase it reached. */
void recorder_ended(const struct message_event *event, bool has_recipient);

/* A session that ended without any MAIL FROM. */
void recorder_empty_session(bool said_helo);

/* For a process that is about to _exit(2): later events are dropped. */
void recorder_abandon(void);

#endif

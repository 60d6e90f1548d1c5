/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refusal: count what Postfix refused in SMTP, each refusal once.
 *
 * A refused RCPT TO is in the milter's event and in the log. Where a log is
 * read its lines count, and they alone: they tell of every phase, of sessions
 * without the milter, and of transactions that the milter did not record
 * because there were too many. Without a log the milter's recipients count; see
 * log_boundary.h. For the ingest thread.
 */
#ifndef EXPORTER_JOIN_REFUSAL_H
#define EXPORTER_JOIN_REFUSAL_H

struct day_file;
struct join;
struct log_input;
struct message_recipient;
struct reason;

/* Counts a recipient that the milter saw refused, if the log does not. */
void refusal_of_recipient(const struct join *join, struct day_file *file,
    const struct message_recipient *recipient);

/* Counts a line of the log if it is a refusal and its day has it not yet. To be
 * called before the line is joined. Returns 0, or -1. */
int refusal_in_line(
    struct join *join, const struct log_input *input, struct reason *reason);

#endif

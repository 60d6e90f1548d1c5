/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_follower_move: which file of a log is read: where to begin, and what
 * comes after the end of a file. Only for log_follower.h.
 */
#ifndef EXPORTER_READ_LOG_FOLLOWER_MOVE_H
#define EXPORTER_READ_LOG_FOLLOWER_MOVE_H

struct log_follower;
struct reason;

/* There is no file: looks for it. Returns 1 when there is one now; 0; -1. */
int log_follower_find(struct log_follower *follower, struct reason *reason);

/* The present file was read to its end: goes on to where more is to be read
 * now. Returns 1; 0 when there is nothing; -1. */
int log_follower_move(struct log_follower *follower, struct reason *reason);

#endif

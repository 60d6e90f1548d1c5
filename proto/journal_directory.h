/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_directory: the directory of one source, its lock and its size.
 *
 * The lock is an open file description lock (fcntl(2), F_OFD_SETLK) on the file
 * `lock`: it ends with the writer's process however that ends, and a reader can
 * ask for it without ever taking it, with no more than the right to read.
 */
#ifndef PROTO_JOURNAL_DIRECTORY_H
#define PROTO_JOURNAL_DIRECTORY_H

#include <stdint.h>

struct reason;

/* Opens the directory `source` below `directory`, created with mode 2770 if it
 * is missing. Returns the descriptor, or -1. */
int journal_directory_make(
    const char *directory, const char *source, struct reason *reason);

/* Takes the writer's lock. Returns the descriptor that holds it until it is
 * closed, or -1, also when another process has it. */
int journal_lock_take(int directory_fd, struct reason *reason);

/* Returns 1 when no writer lives, 0 when one does or it cannot be told. */
int journal_lock_is_free(int directory_fd);

/* The bytes of all segments together, or -1. */
int64_t journal_directory_bytes(int directory_fd);

#endif

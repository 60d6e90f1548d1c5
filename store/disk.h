/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk: whether the store's disk takes writes.
 *
 * A file system that has found an error becomes read-only under the programs
 * that use it. What SQLite's connections share of a log is mapped memory, and
 * to write there is then a SIGBUS. So nothing may be open as it was: neither to
 * write, nor to read, which is noted there, too. One answer for the process;
 * any thread.
 */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include <stdbool.h>

struct reason;

/* Writes to the lock file of the store's directory. Returns 0, also when the
 * disk is only full, or -1 with a reason. */
int disk_probe(const char *directory, struct reason *reason);

/* What the last probe found. */
bool disk_is_read_only(void);

/* What to call a file, which is a URI for SQLite on such a disk, so that it is
 * read without a trace. To be freed. */
char *disk_reading_name(const char *path);

#endif

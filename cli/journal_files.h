/* SPDX-License-Identifier: BSD-2-Clause */
/* journal_files: from paths on a command line to segments, in order. */
#ifndef CLI_JOURNAL_FILES_H
#define CLI_JOURNAL_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct reason;

struct journal_file {
	const char *path;
	uint64_t number; /* 0 when the name is not a segment's */
	bool complete;   /* no writer adds to it any more */
	int fd;          /* to be closed by who is called */
};

typedef void journal_file_visit(void *context, const struct journal_file *file);

/* Calls `visit` for a file, for each segment of a source's directory, or for
 * those of all sources in a directory of journals. Returns 0, or -1 with a
 * reason for the first that cannot be used; the others are visited. */
int journal_files_each(const char *path, journal_file_visit *visit,
    void *context, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_status: what the command line's exit status says. */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

enum {
	EXIT_OK = 0,      /* found, or sound; nothing lost */
	EXIT_MISSING = 1, /* not found, or damaged; something lost */
	EXIT_UNUSABLE = 2 /* wrong usage, or files that cannot be read */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* search: `postlag search`. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

/* argv[0] is the subcommand's name. Returns the exit status. */
int search_command(int argc, char **argv);

#endif

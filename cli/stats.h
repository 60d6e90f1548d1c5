/* SPDX-License-Identifier: BSD-2-Clause */
/* stats: `postlag stats`. */
#ifndef CLI_STATS_H
#define CLI_STATS_H

/* argv[0] is the subcommand's name. Returns the exit status. */
int stats_command(int argc, char **argv);

#endif

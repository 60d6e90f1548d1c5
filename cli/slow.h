/* SPDX-License-Identifier: BSD-2-Clause */
/* slow: `postlag slow`. */
#ifndef CLI_SLOW_H
#define CLI_SLOW_H

/* argv[0] is the subcommand's name. Returns the exit status. */
int slow_command(int argc, char **argv);

#endif

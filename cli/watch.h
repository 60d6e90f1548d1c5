/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: the subcommand that shows what happens as it does. Returns the exit
 * status. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

int watch_command(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue: `postlag queue` and `postlag lost`, the messages that are not done.
 *
 * Read the store directly and read-only, as `postlag show` does.
 */
#ifndef CLI_QUEUE_H
#define CLI_QUEUE_H

/* argv[0] is the subcommand's name. Each returns the exit status,
 * exit_status.h; EXIT_MISSING of lost_command() says that there are losses. */
int queue_command(int argc, char **argv);
int lost_command(int argc, char **argv);

#endif

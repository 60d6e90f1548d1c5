/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show: `postlag show`, the timeline of a message.
 *
 * Reads the store directly and read-only, so that it works for every member of
 * the group that may read the store, whatever the exporter is doing.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

/* argv[0] is the subcommand's name. Returns the exit status, exit_status.h. */
int show_command(int argc, char **argv);

#endif

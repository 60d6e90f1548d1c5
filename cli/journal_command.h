/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_command: `postlag journal`, what is in the journals.
 *
 *     postlag journal dump [--json] FILE|DIRECTORY...
 *     postlag journal verify FILE|DIRECTORY...
 *
 * A directory is one source's or that of all sources. Reads only.
 */
#ifndef CLI_JOURNAL_COMMAND_H
#define CLI_JOURNAL_COMMAND_H

/* argv[0] is "journal". Returns the exit status: 0, 1 when there is damage, 2
 * when the arguments or a file cannot be used. */
int journal_command(int argc, char **argv);

#endif

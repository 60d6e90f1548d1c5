/* SPDX-License-Identifier: BSD-2-Clause */
/* selfcheck: `postlag selfcheck`, whether a message is seen by all of us. */
#ifndef CLI_SELFCHECK_H
#define CLI_SELFCHECK_H

/* Returns the exit status. */
int selfcheck_command(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* forget: `postlag forget`, which has the store forget addresses. */
#ifndef CLI_FORGET_H
#define CLI_FORGET_H

/* Returns an exit status of exit_status.h. */
int forget_command(int argc, char **argv);

#endif

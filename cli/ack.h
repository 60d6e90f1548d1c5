/* SPDX-License-Identifier: BSD-2-Clause */
/* ack: `postlag ack`, which accounts for what is lost or unknown. */
#ifndef CLI_ACK_H
#define CLI_ACK_H

/* Returns an exit status of exit_status.h. */
int ack_command(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* daemon_process: what the files behind daemon.h share. Main thread. */
#ifndef BASE_DAEMON_PROCESS_H
#define BASE_DAEMON_PROCESS_H

struct daemon_program;

/* What main() was asked to run. */
struct daemon_process {
	const struct daemon_program *program;
	const char *config_path;
};

extern struct daemon_process daemon_process;

/* Blocks the signals that daemon_wait() and daemon_signal_read() take, in this
 * thread and those it will start, and ignores those that a failed write(2)
 * brings: SIGPIPE, and SIGXFSZ for a file size limit. */
void daemon_signals_block(void);

#endif

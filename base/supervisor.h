/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * supervisor: talking to who started us, if it speaks systemd's protocols
 * (sd_notify(3), sd_listen_fds(3)). Main thread.
 */
#ifndef BASE_SUPERVISOR_H
#define BASE_SUPERVISOR_H

/* Connects to NOTIFY_SOCKET, while we still have the rights to. Without that
 * variable there is nobody to tell, and nothing happens. */
void supervisor_connect(void);

/* Tells it `state`, for example "READY=1". Trouble is logged, no more. */
void supervisor_notify(const char *state);

#endif

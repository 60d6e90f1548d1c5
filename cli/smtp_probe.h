/* SPDX-License-Identifier: BSD-2-Clause */
/* smtp_probe: hand one small message to Postfix, as any client would. */
#ifndef CLI_SMTP_PROBE_H
#define CLI_SMTP_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct endpoint;
struct reason;

struct smtp_message {
	const char *from, *to;  /* without <> */
	const char *message_id; /* the same */
};

/* Whether an address can stand in an SMTP command as it is. */
bool smtp_probe_is_address(const char *address);

/* RFC 5321. Returns 0 when the server took the message, with the queue id by
 * which Postfix's reply names it, cut to `size`, or "". -1 with a reason, which
 * quotes the reply that was no 2xx or 3xx. */
int smtp_probe_send(const struct endpoint *server,
    const struct smtp_message *message, char *queue_id_r, size_t size,
    struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * received: the queue id in a Received: header that our own Postfix wrote.
 *
 *     from HELO (...) (...) by HOST (Postfix) with ESMTP id QUEUEID ...; date
 *     by HOST (Postfix, from userid 0) id QUEUEID; date
 *
 * The name in the first comment behind the host depends on mail_name, so that
 * only its being there counts; a sender's own header has another host, and so
 * does another server's.
 */
#ifndef LMTP_RECEIVED_H
#define LMTP_RECEIVED_H

#include <stddef.h>

#define RECEIVED_QUEUE_ID_SIZE 33

/* Returns 1 with the queue id when the value is such a header of `host_name`
 * (in either case); else 0. `value` may be folded in any way. */
int received_queue_id(const char *value, size_t size, const char *host_name,
    char queue_id_r[RECEIVED_QUEUE_ID_SIZE]);

#endif

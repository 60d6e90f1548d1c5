/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * envelope: the arguments of MAIL FROM and RCPT TO as a milter gets them: the
 * address first, then the ESMTP parameters (RFC 5321, 4.1.2), then NULL.
 */
#ifndef MILTER_ENVELOPE_H
#define MILTER_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The macros {rcpt_mailer}, {rcpt_host} and {rcpt_addr}; each may be NULL. */
struct envelope_verdict {
	const char *mailer;
	const char *host;
	const char *address;
};

/* The address without < and >, which mail by sendmail(1) has not. Points into
 * the argument, *size_r bytes; "" when there is no argument. */
const char *envelope_address(char *const *arguments, size_t *size_r);

/* The message size announced with SIZE= (RFC 1870); 0 when there is none, or
 * no number of at most 20 digits. */
uint64_t envelope_declared_bytes(char *const *arguments);

/* Whether Postfix refuses this recipient: the macros are then "error", the
 * enhanced status code and the reply's text (smtpd_milter_eval() in Postfix's
 * smtpd_milter.c). A recipient accepted for the transport error(8) has its own
 * address in the last. */
bool envelope_is_rejected(
    char *const *arguments, const struct envelope_verdict *verdict);

#endif

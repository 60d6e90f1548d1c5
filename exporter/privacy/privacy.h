/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privacy: what may be kept of mail addresses, and of texts that name them.
 *
 * The domain stays. In place of the local part stands, with `hash`, ~ and a
 * pseudonym, by which the address is found again and compared as before. With
 * `domain` it is *; for recipients, whom the sources must be able to tell
 * apart, * and a short pseudonym that no search asks for. Pure, but for the
 * key; any thread.
 */
#ifndef EXPORTER_PRIVACY_PRIVACY_H
#define EXPORTER_PRIVACY_PRIVACY_H

#include "exporter/maillog/maillog_view.h"
#include "store/settings.h"

#include <stddef.h>

struct buffer;
struct pseudonym_key;

struct privacy {
	enum privacy_mode mode;
	const struct pseudonym_key *key;
};

/* Whose address it is. */
enum privacy_role { PRIVACY_OTHERS, PRIVACY_RECIPIENT };

/* Appends what is kept of an address, or of a login that may be one. */
void privacy_address(const struct privacy *privacy, enum privacy_role role,
    struct maillog_view address, struct buffer *out);

/* Recipients of whom a text tells: that it may name without their domain. */
struct privacy_names {
	struct maillog_view addresses[2]; /* empty: none */
};

/* Appends what is kept of a text. Every address in it becomes what
 * privacy_address() makes of it, as a recipient's if it is one of `names`. */
void privacy_text(const struct privacy *privacy, struct maillog_view text,
    const struct privacy_names *names, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares addresses. Called by the join on the ingest thread. */
#include "exporter/join/address.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum likeness
address_likeness(const char *left, const char *right)
{
	const char *left_domain = strrchr(left, '@');
	const char *right_domain = strrchr(right, '@');
	size_t local =
	    left_domain != NULL ? (size_t)(left_domain - left) : strlen(left);

	if (strcasecmp(left, right) != 0)
		return LIKE_NOT;
	if ((left_domain == NULL) != (right_domain == NULL))
		return LIKE_NOT;
	return memcmp(left, right, local) == 0 ? LIKE_EXACTLY : LIKE_FOLDED;
}

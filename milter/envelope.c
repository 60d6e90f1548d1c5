/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads envelope arguments. Pure. */
#include "milter/envelope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *
envelope_address(char *const *arguments, size_t *size_r)
{
	const char *address = arguments[0] != NULL ? arguments[0] : "";
	size_t size = strlen(address);

	if (size >= 2 && address[0] == '<' && address[size - 1] == '>') {
		address++;
		size -= 2;
	}
	*size_r = size;
	return address;
}

static uint64_t
number_parse(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value;

	if (digits == 0 || digits > 20 || text[digits] != '\0')
		return 0;
	errno = 0;
	value = strtoull(text, NULL, 10);
	return errno == 0 ? value : 0;
}

uint64_t
envelope_declared_bytes(char *const *arguments)
{
	static const char name[] = "SIZE=";

	if (arguments[0] == NULL)
		return 0;
	for (size_t i = 1; arguments[i] != NULL; i++)
		if (strncasecmp(arguments[i], name, sizeof(name) - 1) == 0)
			return number_parse(arguments[i] + sizeof(name) - 1);
	return 0;
}

bool
envelope_is_rejected(
    char *const *arguments, const struct envelope_verdict *verdict)
{
	size_t size;
	const char *address = envelope_address(arguments, &size);

	if (verdict->mailer == NULL || strcmp(verdict->mailer, "error") != 0)
		return false;
	return verdict->address == NULL || strlen(verdict->address) != size ||
	       memcmp(verdict->address, address, size) != 0;
}

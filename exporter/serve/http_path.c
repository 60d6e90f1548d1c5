/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes paths for http.c, on the HTTP threads. */
#include "exporter/serve/http_path.h"

static int
digit_value(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

int
http_path_decode(char *path)
{
	char *to = path;

	for (const char *from = path; *from != '\0'; from++) {
		int high, low;

		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		high = digit_value(from[1]);
		low = high >= 0 ? digit_value(from[2]) : -1;
		if (low < 0 || high + low == 0)
			return -1;
		*to++ = (char)(high * 16 + low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

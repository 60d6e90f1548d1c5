/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes paths for http.c, on the HTTP threads. */
#include "exporter/serve/http_path.h"

#include "base/text.h"

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
		high = text_hex_value(from[1]);
		low = high >= 0 ? text_hex_value(from[2]) : -1;
		if (low < 0 || high + low == 0)
			return -1;
		*to++ = (char)(high * 16 + low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

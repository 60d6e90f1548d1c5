/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads lists with weights for http.c, on the HTTP threads. */
#include "exporter/serve/http_accept.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MAX 3 /* behind the point */

static const char *
skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

int
http_accept_number(const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	int weight, digit = HTTP_ACCEPT_WEIGHT_MAX / 10;

	if (at == end || (*at != '0' && *at != '1'))
		return 0;
	weight = (*at++ - '0') * HTTP_ACCEPT_WEIGHT_MAX;
	if (at < end && *at == '.')
		at++;
	for (int i = 0;
	     i < DIGITS_MAX && at < end && isdigit((unsigned char)*at); i++) {
		weight += (*at++ - '0') * digit;
		digit /= 10;
	}
	return at == end && weight <= HTTP_ACCEPT_WEIGHT_MAX ? weight : 0;
}

/* The number must end the element. */
static int
read_weight(const char *at)
{
	size_t size = strcspn(at, " \t,");
	const char *behind = skip_blanks(at + size);

	if (*behind != '\0' && *behind != ',')
		return 0;
	return http_accept_number(at, size);
}

/* Behind the name: nothing, or a weight. */
static int
weight_at(const char *at)
{
	at = skip_blanks(at);
	if (*at == '\0' || *at == ',')
		return HTTP_ACCEPT_WEIGHT_MAX;
	if (*at != ';')
		return 0;
	at = skip_blanks(at + 1);
	if (strncasecmp(at, "q=", 2) != 0)
		return 0;
	return read_weight(at + 2);
}

int
http_accept_weight(const char *field, const char *name)
{
	size_t size = strlen(name);
	int weight = -1;

	for (const char *at = field; at != NULL && weight < 0;) {
		at = skip_blanks(at);
		if (strcspn(at, " \t,;") == size &&
		    strncasecmp(at, name, size) == 0)
			weight = weight_at(at + size);
		at = strchr(at, ',');
		if (at != NULL)
			at++;
	}
	return weight;
}

bool
http_accept_gzip(const char *field)
{
	int gzip;

	if (field == NULL)
		return false;
	gzip = http_accept_weight(field, "gzip");
	if (gzip < 0)
		gzip = http_accept_weight(field, "x-gzip");
	if (gzip < 0)
		gzip = http_accept_weight(field, "*");
	return gzip > 0 && gzip >= http_accept_weight(field, "identity");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_media: which of several media types a client would rather have (RFC
 * 9110, 12.5.1).
 *
 * Pure; any thread.
 */
#ifndef EXPORTER_SERVE_HTTP_MEDIA_H
#define EXPORTER_SERVE_HTTP_MEDIA_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_MEDIA_PARAMETERS 2

struct http_media_parameter {
	const char *name; /* NULL: there is no such parameter */
	const char *value;
	/* Nobody gets the type who does not name this parameter. */
	bool must_be_asked_for;
};

struct http_media {
	const char *type; /* "text/plain" */
	struct http_media_parameter parameters[HTTP_MEDIA_PARAMETERS];
};

/* The number of the offer that an Accept (NULL: there is none) gives the most
 * weight to; among equals the one named first, then the one offered first. 0
 * when it accepts none. The most specific range that fits an offer decides its
 * weight: one that says more of its parameters, then one of its type, of its
 * kind of type, of all. A parameter that an offer does not have does not
 * count. */
size_t http_media_choose(
    const char *accept, const struct http_media *offers, size_t count);

#endif

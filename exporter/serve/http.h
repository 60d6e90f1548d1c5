/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http: serve GET and HEAD of a table of paths.
 *
 * A small pool of threads, a limit of connections and an idle timeout bound
 * what clients can take. Whatever is not a GET or HEAD of a path in the table
 * gets the status that HTTP has for it: 400, 404, 405, 413, 414. Answers are
 * compressed by gzip for clients that ask for it.
 */
#ifndef EXPORTER_SERVE_HTTP_H
#define EXPORTER_SERVE_HTTP_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct http_server;
struct reason;

struct http_response {
	unsigned status;          /* 200 unless changed */
	const char *content_type; /* static text */
	struct buffer body;       /* for the handler to fill; not to free */
	/* There is nobody's address in it, so clients may keep it, and ask
	 * whether it still is the answer: it gets an ETag. Others are not kept:
	 * they have addresses, or change all the time. */
	bool may_be_kept;
	bool varies_by_accept; /* Accept decided what it is */
	bool is_gzip;          /* the body is compressed already */
	const char *policy;    /* Content-Security-Policy; static; NULL: none */
};

/* What is asked for; good until the handler returns. */
struct http_request {
	/* What follows the route's path, percent-decoded; "" for whole paths.
	 */
	const char *rest;
	const void *connection; /* http.c's own */
};

/* The argument `name` behind the path's `?`, decoded, with + as a blank.
 * Returns 1, 0 when there is none, or -1 when it does not fit, or its escapes
 * are broken. */
int http_argument(const struct http_request *request, const char *name,
    char *value_r, size_t size);

/* The first field of that name; NULL: there is none. Good until the handler
 * returns. */
const char *http_header(const struct http_request *request, const char *name);

/* Called on any of the pool's threads. A body whose buffer failed becomes a
 * 503. */
typedef void http_handler(void *context, const struct http_request *request,
    struct http_response *response);

struct http_route {
	const char *path;
	bool prefix; /* `path` is followed by something more */
	http_handler *handle;
};

struct http_settings {
	int listen_fd;         /* stays the caller's */
	unsigned idle_seconds; /* after which a connection is closed */
	const struct http_route *routes;
	size_t route_count;
	void *context; /* for the handlers */
};

/* The threads of the pool: as many handlers run at the same time. */
#define HTTP_THREADS 2

/* The settings are copied, routes and context borrowed. NULL with a reason. */
struct http_server *http_start(
    const struct http_settings *settings, struct reason *reason);

/* Ends the threads, dropping open connections. */
void http_stop(struct http_server **server);

#endif

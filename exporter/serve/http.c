/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmicrohttpd's side: accepting, parsing and limits are the library's, on its
 * own threads; here a request is judged and its path looked up in the table.
 * The only file that includes microhttpd.h.
 */
#include "exporter/serve/http.h"

#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/priority.h"
#include "base/reason.h"
#include "exporter/serve/http_accept.h"
#include "exporter/serve/http_gzip.h"
#include "exporter/serve/http_path.h"
#include "store/hash.h"

#define CONNECTIONS 256
#define CONNECTION_BYTES (16 << 10)
#define PATH_MAX_BYTES 2048
#define BODY_MAX_BYTES (64 << 10)

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_settings settings;
};

/* The library shall hand us the path as it came. */
static size_t
leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static const struct http_route *
route_find(const struct http_settings *settings, const char *path)
{
	for (size_t i = 0; i < settings->route_count; i++) {
		const struct http_route *route = &settings->routes[i];
		size_t size = strlen(route->path);

		if (route->prefix ? strncmp(path, route->path, size) == 0 &&
					path[size] != '\0'
				  : strcmp(path, route->path) == 0)
			return route;
	}
	return NULL;
}

/* What a client is told about what it gets. */
struct sending {
	bool is_gzip;
	char etag[24]; /* empty: none */
};

static void
add_headers(struct MHD_Response *answer, const struct http_response *response,
    const struct sending *sending)
{
	MHD_add_response_header(
	    answer, MHD_HTTP_HEADER_CONTENT_TYPE, response->content_type);
	MHD_add_response_header(answer, MHD_HTTP_HEADER_CACHE_CONTROL,
	    response->may_be_kept ? "private, no-cache" : "no-store");
	MHD_add_response_header(answer, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(answer, MHD_HTTP_HEADER_VARY,
	    response->varies_by_accept ? "Accept, Accept-Encoding"
				       : MHD_HTTP_HEADER_ACCEPT_ENCODING);
	if (sending->is_gzip)
		MHD_add_response_header(
		    answer, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (*sending->etag != '\0')
		MHD_add_response_header(
		    answer, MHD_HTTP_HEADER_ETAG, sending->etag);
	if (response->policy != NULL)
		MHD_add_response_header(
		    answer, "Content-Security-Policy", response->policy);
	if (response->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(
		    answer, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

static enum MHD_Result
send_response(struct MHD_Connection *connection,
    const struct http_response *response, const struct sending *sending)
{
	struct MHD_Response *answer;
	enum MHD_Result result;

	answer = MHD_create_response_from_buffer(
	    response->body.size, response->body.data, MHD_RESPMEM_MUST_FREE);
	if (answer == NULL) {
		free(response->body.data);
		return MHD_NO;
	}
	add_headers(answer, response, sending);
	result = MHD_queue_response(connection, response->status, answer);
	MHD_destroy_response(answer);
	return result;
}

/* Whether the client has it already. What it has is in quotes, and nothing else
 * in the field looks like a hash. */
static bool
is_known(struct MHD_Connection *connection, const char *etag)
{
	const char *known = MHD_lookup_connection_value(
	    connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);

	return known != NULL && strstr(known, strchr(etag, '"')) != NULL;
}

/* Makes the body what the client takes. Returns whether it is compressed. */
static bool
choose_encoding(
    struct MHD_Connection *connection, struct http_response *response)
{
	if (!http_accept_gzip(MHD_lookup_connection_value(connection,
		MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING))) {
		if (response->is_gzip)
			http_gunzip(&response->body);
		if (response->body.failed)
			response->status = MHD_HTTP_SERVICE_UNAVAILABLE;
		return false;
	}
	return response->is_gzip || http_gzip(&response->body) == 1;
}

/* The tag is a weak one: the same whether it is compressed or not. */
static enum MHD_Result
send_answer(struct MHD_Connection *connection, struct http_response *response)
{
	struct sending sending = {.is_gzip = false};
	struct buffer *body = &response->body;

	response->may_be_kept &= response->status == MHD_HTTP_OK;
	if (response->may_be_kept) {
		snprintf(sending.etag, sizeof(sending.etag),
		    "W/\"%016" PRIx64 "\"",
		    (uint64_t)hash_for_key((char *)body->data, body->size));
		if (is_known(connection, sending.etag)) {
			response->status = MHD_HTTP_NOT_MODIFIED;
			buffer_free(body);
		}
	}
	sending.is_gzip = choose_encoding(connection, response);
	return send_response(connection, response, &sending);
}

static enum MHD_Result
send_status(struct MHD_Connection *connection, unsigned status)
{
	struct http_response response = {
	    .status = status,
	    .content_type = "text/plain; charset=utf-8",
	};

	buffer_append_format(&response.body, "%u %s\n", status,
	    MHD_get_reason_phrase_for(status));
	return send_response(
	    connection, &response, &(struct sending){.is_gzip = false});
}

/* Whether the headers announce more of a body than is worth reading. */
static bool
body_is_too_large(struct MHD_Connection *connection)
{
	const char *size = MHD_lookup_connection_value(
	    connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
		MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL)
		return true;
	return size != NULL && strtoull(size, NULL, 10) > BODY_MAX_BYTES;
}

/* What is wrong with a request by its line and headers; 0: nothing so far. */
static unsigned
request_judge(const struct http_settings *settings,
    struct MHD_Connection *connection, const char *url, const char *method)
{
	char path[PATH_MAX_BYTES + 1];

	if (strlen(url) > PATH_MAX_BYTES)
		return MHD_HTTP_URI_TOO_LONG;
	strcpy(path, url);
	if (http_path_decode(path) != 0)
		return MHD_HTTP_BAD_REQUEST;
	if (route_find(settings, path) == NULL)
		return MHD_HTTP_NOT_FOUND;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	if (body_is_too_large(connection))
		return MHD_HTTP_CONTENT_TOO_LARGE;
	return 0;
}

/* The library looks arguments up in a connection that it may change. */
static struct MHD_Connection *
connection_of(const struct http_request *request)
{
	return (struct MHD_Connection *)(uintptr_t)request->connection;
}

int
http_argument(const struct http_request *request, const char *name,
    char *value_r, size_t size)
{
	const char *value = MHD_lookup_connection_value(
	    connection_of(request), MHD_GET_ARGUMENT_KIND, name);

	if (value == NULL)
		return 0;
	if (strlen(value) >= size)
		return -1;
	strcpy(value_r, value);
	for (char *at = value_r; *at != '\0'; at++)
		if (*at == '+')
			*at = ' ';
	return http_path_decode(value_r) == 0 ? 1 : -1;
}

const char *
http_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(
	    connection_of(request), MHD_HEADER_KIND, name);
}

static enum MHD_Result
request_serve(const struct http_settings *settings,
    struct MHD_Connection *connection, const char *url)
{
	struct http_response response = {.status = MHD_HTTP_OK};
	struct http_request request = {.connection = connection};
	const struct http_route *route;
	char path[PATH_MAX_BYTES + 1];

	strcpy(path, url);
	http_path_decode(path);
	route = route_find(settings, path);
	request.rest = path + strlen(route->path);
	route->handle(settings->context, &request, &response);
	if (!response.body.failed)
		return send_answer(connection, &response);
	buffer_free(&response.body);
	return send_status(connection, MHD_HTTP_SERVICE_UNAVAILABLE);
}

/* Called first when the headers are there, then for each piece of the body,
 * then at its end; *state tells the first call from the others. */
static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *body,
    size_t *body_size, void **state)
{
	const struct http_settings *settings = context;
	static char seen;

	if (*state == NULL) {
		unsigned wrong =
		    request_judge(settings, connection, url, method);

		priority_give_way();
		*state = &seen;
		return wrong == 0 ? MHD_YES : send_status(connection, wrong);
	}
	if (*body_size > 0) {
		*body_size = 0;
		return MHD_YES;
	}
	return request_serve(settings, connection, url);
}

static void __attribute__((format(printf, 2, 0)))
write_log(void *context, const char *format, va_list arguments)
{
	char line[256];

	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\r\n")] = '\0';
	log_debug("http=\"%s\"", line);
}

static struct MHD_Daemon *
start_daemon(struct http_settings *settings, int listen_fd)
{
	return MHD_start_daemon(
	    MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0,
	    NULL, NULL, on_request, settings, MHD_OPTION_EXTERNAL_LOGGER,
	    write_log, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
	    MHD_OPTION_THREAD_POOL_SIZE, HTTP_THREADS,
	    MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
	    MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
	    MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
}

/* The library closes what it listens on, and so gets a descriptor of its own.
 * (MHD_quiesce_daemon() would keep it from that, but then two threads may
 * forget the socket at the same time, and the library ends the process.) */
struct http_server *
http_start(const struct http_settings *settings, struct reason *reason)
{
	struct http_server *server = memory_zeroed(1, sizeof(*server));
	int listen_fd = fcntl(settings->listen_fd, F_DUPFD_CLOEXEC, 0);

	server->settings = *settings;
	if (listen_fd >= 0)
		server->daemon = start_daemon(&server->settings, listen_fd);
	if (server->daemon != NULL)
		return server;
	reason_set_errno(reason, "cannot serve HTTP");
	free(server);
	return NULL;
}

void
http_stop(struct http_server **server)
{
	if (*server == NULL)
		return;
	MHD_stop_daemon((*server)->daemon);
	free(*server);
	*server = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of paths and their small handlers. Called on the HTTP threads; the
 * handlers look at the published picture and, for messages, at the store
 * through api.h.
 */
#include "exporter/serve/routes.h"

#include <stdbool.h>

#include "exporter/serve/api.h"
#include "exporter/serve/api_labels.h"
#include "exporter/serve/api_latency.h"
#include "exporter/serve/api_outcomes.h"
#include "exporter/serve/api_summary.h"
#include "exporter/serve/collect.h"
#include "exporter/serve/exposition.h"
#include "exporter/serve/page.h"
#include "exporter/serve/published.h"

#define PLAIN_TEXT "text/plain; charset=utf-8"

static void
serve_metrics(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	const struct exposition_format *format =
	    exposition_choose(http_header(request, "Accept"));
	struct picture picture;

	picture_init(&picture);
	published_copy(routes_context->published, &picture);
	response->content_type = format->content_type;
	response->varies_by_accept = true;
	collect(&picture, format, &response->body);
	picture_free(&picture);
}

static void
serve_messages(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;

	response->content_type = "application/json";
	response->status =
	    api_messages(routes_context->api, request->rest, &response->body);
}

/* Into *value_r, which has API_ARGUMENT_SIZE. */
static bool
take(const struct http_request *request, const char *name, char *value_r)
{
	*value_r = '\0';
	return http_argument(request, name, value_r, API_ARGUMENT_SIZE) >= 0;
}

static unsigned
refuse_arguments(struct http_response *response)
{
	return api_error(&response->body, 414,
	    "an argument is too long, or wrongly escaped");
}

/* Terms in `q`, the page's size in `limit`, and in `before` where the page
 * before ended. */
static void
serve_search(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	struct api_search search;

	response->content_type = "application/json";
	if (take(request, "q", search.text) &&
	    take(request, "limit", search.limit) &&
	    take(request, "before", search.cursor))
		response->status =
		    api_search(routes_context->api, &search, &response->body);
	else
		response->status = refuse_arguments(response);
}

static bool
take_period(const struct http_request *request, struct api_period *asked)
{
	return take(request, "since", asked->since) &&
	       take(request, "until", asked->until) &&
	       take(request, "step", asked->step);
}

static void
serve_outcomes(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	struct api_period asked;

	response->may_be_kept = true;
	response->content_type = "application/json";
	if (take_period(request, &asked))
		response->status =
		    api_outcomes(routes_context->api, &asked, &response->body);
	else
		response->status = refuse_arguments(response);
}

static void
serve_latency(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	struct api_latency asked;

	response->may_be_kept = true;
	response->content_type = "application/json";
	if (take(request, "phase", asked.phase) &&
	    take(request, "route", asked.route) &&
	    take(request, "host", asked.host) &&
	    take(request, "relay", asked.relay) &&
	    take(request, "provider", asked.provider) &&
	    take(request, "cells", asked.cells) &&
	    take_period(request, &asked.period))
		response->status =
		    api_latency(routes_context->api, &asked, &response->body);
	else
		response->status = refuse_arguments(response);
}

static void
serve_labels(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	char by[API_ARGUMENT_SIZE];

	response->may_be_kept = true;
	response->content_type = "application/json";
	if (take(request, "by", by))
		response->status =
		    api_labels(routes_context->api, by, &response->body);
	else
		response->status = refuse_arguments(response);
}

static void
serve_pseudonym(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	char local[API_ARGUMENT_SIZE];

	response->content_type = "application/json";
	if (take(request, "local", local))
		response->status =
		    api_pseudonym(routes_context->api, local, &response->body);
	else
		response->status = refuse_arguments(response);
}

static void
serve_summary(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;

	response->content_type = "application/json";
	api_summary(routes_context->published, &response->body);
}

static void
serve_healthy(void *context, const struct http_request *request,
    struct http_response *response)
{
	response->content_type = PLAIN_TEXT;
	buffer_append_string(&response->body, "healthy\n");
}

static void
serve_ready(void *context, const struct http_request *request,
    struct http_response *response)
{
	struct routes_context *routes_context = context;
	char trouble[PICTURE_TROUBLE_SIZE];

	response->content_type = PLAIN_TEXT;
	if (published_ready(routes_context->published, trouble)) {
		buffer_append_string(&response->body, "ready\n");
		return;
	}
	response->status = 503;
	buffer_append_format(&response->body, "not ready: %s\n", trouble);
}

const struct http_route routes[] = {
    {"/", false, serve_page},
    {"/assets/", true, serve_page},
    {"/metrics", false, serve_metrics},
    {"/api/v1/messages", false, serve_search},
    {"/api/v1/messages/", true, serve_messages},
    {"/api/v1/latency", false, serve_latency},
    {"/api/v1/labels", false, serve_labels},
    {"/api/v1/outcomes", false, serve_outcomes},
    {"/api/v1/pseudonym", false, serve_pseudonym},
    {"/api/v1/summary", false, serve_summary},
    {"/-/healthy", false, serve_healthy},
    {"/-/ready", false, serve_ready},
};

const size_t route_count = sizeof(routes) / sizeof(routes[0]);

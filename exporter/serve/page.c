/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks files up in the table that is built into the program. Called on the
 * HTTP threads. */
#include "exporter/serve/page.h"

#include <string.h>

#include "base/buffer.h"
#include "exporter/web/assets.h"

/* Pictures as data: are those of the style sheet. */
#define POLICY                                                                 \
	"default-src 'none'; script-src 'self'; style-src 'self'; "            \
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; "          \
	"form-action 'none'; frame-ancestors 'none'"

static const char without_page[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<title>Postlag</title>\n"
    "<h1>Postlag " POSTLAG_VERSION "</h1>\n"
    "<p>This program was built without the page. There are:\n<ul>\n"
    "<li><a href=\"/metrics\">/metrics</a>\n"
    "<li><a href=\"/api/v1/summary\">/api/v1/summary</a>\n"
    "<li><a href=\"/api/v1/messages\">/api/v1/messages</a>\n"
    "<li><a href=\"/api/v1/latency\">/api/v1/latency</a>\n"
    "<li><a href=\"/api/v1/outcomes\">/api/v1/outcomes</a>\n</ul>\n</html>\n";

static const struct web_asset *
asset_find(const char *name)
{
	for (size_t i = 0; i < web_asset_count; i++)
		if (strcmp(web_assets[i].path, name) == 0)
			return &web_assets[i];
	return NULL;
}

static void
serve_nothing(const char *name, struct http_response *response)
{
	if (*name == '\0') {
		response->content_type = "text/html; charset=utf-8";
		buffer_append_string(&response->body, without_page);
		return;
	}
	response->status = 404;
	response->content_type = "text/plain; charset=utf-8";
	buffer_append_string(&response->body, "404 Not Found\n");
}

void
serve_page(void *context, const struct http_request *request,
    struct http_response *response)
{
	const struct web_asset *asset = asset_find(request->rest);

	response->policy = POLICY;
	response->may_be_kept = true;
	if (asset == NULL) {
		serve_nothing(request->rest, response);
		return;
	}
	response->content_type = asset->content_type;
	response->is_gzip = true;
	buffer_append(&response->body, asset->data, asset->size);
}

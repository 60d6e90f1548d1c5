/* SPDX-License-Identifier: BSD-2-Clause */
/* routes: which paths the exporter serves, and what answers them. */
#ifndef EXPORTER_SERVE_ROUTES_H
#define EXPORTER_SERVE_ROUTES_H

#include "exporter/serve/http.h"

#include <stddef.h>

struct api;
struct published;

/* What the handlers look at; the `context` of http_settings. */
struct routes_context {
	struct published *published;
	struct api *api;
};

extern const struct http_route routes[];
extern const size_t route_count;

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* page: serve the files of the page that people look at. Any thread. */
#ifndef EXPORTER_SERVE_PAGE_H
#define EXPORTER_SERVE_PAGE_H

#include "exporter/serve/http.h"

/* Of / and of what lies below /assets/: the file, which may load from this
 * server and nowhere else, or 404. */
http_handler serve_page;

#endif

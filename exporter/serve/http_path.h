/* SPDX-License-Identifier: BSD-2-Clause */
/* http_path: what a request's path means. Pure; any thread. */
#ifndef EXPORTER_SERVE_HTTP_PATH_H
#define EXPORTER_SERVE_HTTP_PATH_H

/* Percent-decodes in place (RFC 3986, 2.1). Returns 0, or -1 for a broken
 * escape or an encoded NUL. */
int http_path_decode(char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* http_gzip: compress an answer. Any thread. */
#ifndef EXPORTER_SERVE_HTTP_GZIP_H
#define EXPORTER_SERVE_HTTP_GZIP_H

struct buffer;

/* Replaces what is in the buffer by what gzip makes of it, if that is smaller.
 * Returns 1, or 0: it is as it was. Takes 256 KiB meanwhile. */
int http_gzip(struct buffer *body);

#endif

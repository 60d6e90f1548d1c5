/* SPDX-License-Identifier: BSD-2-Clause */
/* http_gzip: compress an answer, or not. Any thread. */
#ifndef EXPORTER_SERVE_HTTP_GZIP_H
#define EXPORTER_SERVE_HTTP_GZIP_H

struct buffer;

/* Replaces what is in the buffer by what gzip makes of it, if that is smaller.
 * Returns 1, or 0: it is as it was. Takes 256 KiB meanwhile. */
int http_gzip(struct buffer *body);

/* The reverse, of what gzip(1) or http_gzip() made; nothing stays nothing. The
 * buffer fails when it is anything else. */
void http_gunzip(struct buffer *body);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Compresses for http.c, on the HTTP threads. */
#include "exporter/serve/http_gzip.h"

#include <limits.h>
#include <zlib.h>

#include "base/buffer.h"

/* Fast: clients are near, and there are few threads. */
#define LEVEL Z_BEST_SPEED
/* Bits of the window, and the format of gzip(1) rather than zlib's. */
#define WINDOW_GZIP (15 + 16)
#define MEMORY_LEVEL 8

/* Below that nothing is won. */
#define WORTH_BYTES 1024

int
http_gzip(struct buffer *body)
{
	struct buffer packed = {0};
	z_stream stream = {.zalloc = Z_NULL};
	unsigned char *out;
	int result = Z_BUF_ERROR;

	if (body->failed || body->size < WORTH_BYTES || body->size > UINT_MAX ||
	    deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL,
		Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	out = buffer_reserve(&packed, body->size);
	stream.next_in = body->data;
	stream.avail_in = (uInt)body->size;
	stream.next_out = out;
	stream.avail_out = (uInt)body->size;
	if (out != NULL)
		result = deflate(&stream, Z_FINISH);
	packed.size = stream.total_out;
	deflateEnd(&stream);
	if (result != Z_STREAM_END) {
		buffer_free(&packed);
		return 0;
	}
	buffer_free(body);
	*body = packed;
	return 1;
}

/* As many bytes as gzip noted down at its end (RFC 1952, 2.3.1). */
static size_t
plain_size(const struct buffer *packed)
{
	const unsigned char *end = packed->data + packed->size;

	return end[-4] | end[-3] << 8 | end[-2] << 16 | (size_t)end[-1] << 24;
}

void
http_gunzip(struct buffer *body)
{
	struct buffer plain = {0};
	z_stream stream = {.next_in = body->data, .avail_in = (uInt)body->size};
	int result = Z_BUF_ERROR;

	if (body->size < 4)
		return;
	stream.avail_out = (uInt)plain_size(body);
	stream.next_out = buffer_reserve(&plain, stream.avail_out);
	if (stream.next_out != NULL &&
	    inflateInit2(&stream, WINDOW_GZIP) == Z_OK) {
		result = inflate(&stream, Z_FINISH);
		inflateEnd(&stream);
	}
	plain.size = stream.total_out;
	plain.failed |= result != Z_STREAM_END;
	buffer_free(body);
	*body = plain;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies, given first whole and then byte by byte: both ways the same replies
 * are found, they cover the bytes without gaps, and each can be described and
 * rewritten as LHLO's.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "lmtp/capabilities.h"
#include "lmtp/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_reply(const struct reply *reply)
{
	struct reply_description description;
	struct buffer out = {.limit = 0};
	bool pipelining;

	assert(reply->size >= 4 && reply->size <= REPLY_SIZE_MAX);
	assert(reply->data[reply->size - 1] == '\n');
	assert(reply->code <= 999);
	reply_describe(reply, &description);
	assert(description.code == reply->code);
	assert(
	    memchr(description.text, '\0', sizeof(description.text)) != NULL);
	capabilities_rewrite(reply, &out, &pipelining);
	assert(!out.failed && out.size > 17);
	assert(
	    memcmp(out.data + out.size - 17, " XFORWARD IDENT\r\n", 17) == 0);
	buffer_free(&out);
}

/* The size of the next reply, found byte by byte; 0: none. */
static size_t
take_slowly(const char *bytes, size_t size)
{
	struct reply_scan scan = {0};
	struct reply reply;

	for (size_t given = 1; given <= size; given++)
		if (reply_take(&scan, bytes, given, &reply) == REPLY_WHOLE)
			return reply.size;
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size > 0 ? size : 1);
	struct reply_scan scan = {0};
	struct reply reply;
	size_t at = 0;

	memcpy(copy, data, size);
	while (at < size &&
	       reply_take(&scan, copy + at, size - at, &reply) == REPLY_WHOLE) {
		assert(reply.data == copy + at);
		assert(take_slowly(copy + at, size - at) == reply.size);
		check_reply(&reply);
		at += reply.size;
	}
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header_scan: read four headers out of a message as it streams by.
 *
 * Content comes as LMTP carries it (dot-stuffed), in pieces cut anywhere. The
 * scan ends with the header block: at an empty line, or at a line that is
 * neither a header nor the continuation of one. Whatever the block's size, the
 * memory is this struct.
 */
#ifndef LMTP_HEADER_SCAN_H
#define LMTP_HEADER_SCAN_H

#include "lmtp/received.h"
#include "proto/header_value.h"
#include "proto/stamp_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_SCAN_NAME_BYTES 64
#define HEADER_SCAN_VALUE_BYTES 8192

enum header_scan_state {
	HEADER_SCAN_LINE_START,
	HEADER_SCAN_EMPTY_LINE, /* CR at the start of a line */
	HEADER_SCAN_NAME,
	HEADER_SCAN_VALUE,
	HEADER_SCAN_DONE
};

/* What to look for. The strings are kept. */
struct header_scan_names {
	const char *host;  /* of our Postfix, as its Received: gives it */
	const char *stamp; /* the header that carries the milter's stamp */
};

struct header_scan {
	const struct header_scan_names *names;
	enum header_scan_state state;
	bool dot_skipped; /* at the start of this line */

	/* The header being read. */
	const struct header_scan_interest *interest; /* NULL: skipped */
	size_t name_size;
	size_t value_size; /* kept of it */
	bool value_cut;
	char name[HEADER_SCAN_NAME_BYTES];
	char value[HEADER_SCAN_VALUE_BYTES];

	/* What was found; empty or 0 when it was not. */
	uint32_t stamps_seen;
	bool stamp_found;
	struct stamp_header stamp; /* the topmost well-formed one */
	char queue_id[RECEIVED_QUEUE_ID_SIZE];
	char message_id[MESSAGE_ID_SIZE];
	char run[RUN_SIZE];
};

void header_scan_begin(
    struct header_scan *scan, const struct header_scan_names *names);

/* Once header_scan_done(), further content is ignored. */
void header_scan_feed(struct header_scan *scan, const void *data, size_t size);

bool header_scan_done(const struct header_scan *scan);

/* The content has ended, perhaps in the middle of the header block. */
void header_scan_end(struct header_scan *scan);

#endif

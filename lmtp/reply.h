/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply: find and read the replies of an LMTP server.
 *
 * What ends a reply is Postfix's rule (smtp_chat_resp() in its smtp client): a
 * line of exactly three digits followed by a blank or nothing. Lines with a
 * dash after the digits go on, and so do lines that are no reply lines at all:
 * Postfix skips them, so they belong to the reply that they stand in, and the
 * hook must not give up where Postfix would not.
 */
#ifndef LMTP_REPLY_H
#define LMTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line;

/* A reply may take this many bytes, all its lines together. */
#define REPLY_SIZE_MAX ((size_t)64 << 10)

/* Where looking goes on when more bytes have come. Zeroed: at the beginning. */
struct reply_scan {
	size_t scanned;
};

struct reply {
	const char *data; /* all its lines, as received */
	size_t size;
	uint32_t code; /* of its last line */
};

enum reply_state { REPLY_WHOLE, REPLY_PARTIAL, REPLY_TOO_LONG };

/* Looks for the end of the reply that begins the `size` bytes. The same bytes
 * with more behind them are to be given next time; after REPLY_WHOLE the scan
 * stands at the beginning of the next reply. */
enum reply_state reply_take(struct reply_scan *scan, const void *data,
    size_t size, struct reply *reply_r);

/* Whether the digit before the other two says success, 2yz. */
bool reply_is_positive(const struct reply *reply);

/* How a line of a reply is made up. */
struct reply_line {
	uint32_t code;    /* 0: not a reply line */
	bool last;        /* no dash behind the digits */
	const char *text; /* behind digits and blank or dash */
	size_t size;
};

void reply_line_parse(const struct line *line, struct reply_line *line_r);

#define REPLY_TEXT_SIZE 512
#define REPLY_ENHANCED_SIZE sizeof("5.999.999")

/* A reply as it is recorded. */
struct reply_description {
	uint32_t code;
	char enhanced[REPLY_ENHANCED_SIZE]; /* "" when it has none */
	/* Behind code and enhanced code; lines joined by LF; cut to size. */
	char text[REPLY_TEXT_SIZE];
};

void reply_describe(
    const struct reply *reply, struct reply_description *description_r);

#endif

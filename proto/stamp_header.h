/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stamp_header: the one header that a stamped message carries.
 *
 *     X-Perf-Sent: 2026-11-30T07:47:42.123456Z;
 *     	id=<uuid>; q=<queue id>
 *
 * ASCII, no line longer than 78 columns, folded with LF and one tab (libmilter
 * wants no CR). The time is MAIL FROM's. Pure text; what is believed of a
 * parsed stamp is the join's decision.
 */
#ifndef PROTO_STAMP_HEADER_H
#define PROTO_STAMP_HEADER_H

#include "base/uuid.h"

#include <stddef.h>
#include <stdint.h>

struct reason;

#define STAMP_HEADER_NAME "X-Perf-Sent"
#define RUN_HEADER_NAME "X-Perf-Run"

/* Of a configured name: "NAME: 2026-11-30T07:47:42.123456Z;" then fits into 78
 * columns. */
#define STAMP_HEADER_NAME_MAX 48

#define STAMP_QUEUE_ID_MAX 32
#define STAMP_HEADER_VALUE_SIZE 128

struct stamp_header {
	int64_t mail_wall_ns; /* microsecond resolution */
	struct uuid id;
	char queue_id[STAMP_QUEUE_ID_MAX + 1]; /* "" when it has none */
};

/* Whether the header may have this name. Returns 0, or -1. */
int stamp_header_name_check(const char *name, struct reason *reason);

/* Writes the value (without the name). A queue id that is longer or not
 * alphanumeric is left out. */
void stamp_header_format(
    const struct stamp_header *stamp, char value_r[STAMP_HEADER_VALUE_SIZE]);

/* Reads a value, folded with any white space (CR and LF included) between its
 * three parts; white space around it does not matter. Returns 0, or -1 for
 * anything that stamp_header_format() would not write: a wrong date, a foreign
 * UUID version, further text. */
int stamp_header_parse(
    const char *value, size_t size, struct stamp_header *stamp_r);

#endif

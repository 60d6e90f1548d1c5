/* SPDX-License-Identifier: BSD-2-Clause */
/* collect: a picture of now, written in a format: what /metrics answers. */
#ifndef EXPORTER_SERVE_COLLECT_H
#define EXPORTER_SERVE_COLLECT_H

struct buffer;
struct exposition_format;
struct picture;

/* Appends every family with every label set. */
void collect(const struct picture *picture,
    const struct exposition_format *format, struct buffer *out);

#endif

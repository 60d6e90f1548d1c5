/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_accept: what a client would rather have (RFC 9110, 12.4.2 and 12.5.3).
 *
 * Pure; any thread.
 */
#ifndef EXPORTER_SERVE_HTTP_ACCEPT_H
#define EXPORTER_SERVE_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ACCEPT_WEIGHT_MAX 1000

/* A weight as written, in thousandths: "0.8" is 800. What is none counts as 0.
 */
int http_accept_number(const char *text, size_t size);

/* The weight, in thousandths, that a list like Accept-Encoding's gives to
 * `name`; -1: it does not name it. A weight that is none counts as 0. */
int http_accept_weight(const char *field, const char *name);

/* Whether an Accept-Encoding (NULL: there is none) asks for gzip, and no less
 * than for what is not compressed. */
bool http_accept_gzip(const char *field);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header_value: what producers keep of a header that they record, so that the
 * milter's and the hook's copy of it are the same.
 */
#ifndef PROTO_HEADER_VALUE_H
#define PROTO_HEADER_VALUE_H

#include <stddef.h>

#define MESSAGE_ID_SIZE 999 /* with the NUL; RFC 5322, 2.1.1 */
#define RUN_SIZE 129

/* Writes the value without white space at its ends, each run of white space
 * (folding included) as one space and a NUL byte as '?', cut to `text_size`
 * with its NUL. Returns the length. */
size_t header_value_unfold(
    const char *value, size_t size, char *text_r, size_t text_size);

#endif

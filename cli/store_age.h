/* SPDX-License-Identifier: BSD-2-Clause */
/* store_age: whether the exporter seems to be at the store. */
#ifndef CLI_STORE_AGE_H
#define CLI_STORE_AGE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it was written lately, or is empty. Heartbeats make a running
 * exporter write at least each minute. */
bool store_age_is_small(const char *directory, int64_t now_wall_ns);

/* The same; says so when it was not. */
bool store_age_warn(const char *directory, int64_t now_wall_ns);

#endif

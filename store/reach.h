/* SPDX-License-Identifier: BSD-2-Clause */
/* reach: since when a store reaches, told from its files' names and times. */
#ifndef STORE_REACH_H
#define STORE_REACH_H

#include <stdint.h>

struct reason;

struct store_reach {
	int64_t first_wall_ns; /* beginning of its first day; 0: it has none */
	int64_t written_wall_ns; /* when any of its files last changed */
};

/* Returns 0, or -1 when the directory cannot be read. */
int store_reach(
    const char *directory, struct store_reach *reach_r, struct reason *reason);

#endif

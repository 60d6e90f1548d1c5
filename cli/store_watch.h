/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_watch: sleep until somebody writes the store.
 *
 * inotify(7) on its directory, also once it is made or made again. Where there
 * is none to be had, it looks each second.
 */
#ifndef CLI_STORE_WATCH_H
#define CLI_STORE_WATCH_H

#include <stdint.h>

struct store_watch;

/* `directory` must outlive it and need not exist. */
struct store_watch *store_watch_new(const char *directory);
void store_watch_free(struct store_watch **watch);

/* Sleeps until something is written, no longer than this. Returns 0, or -1 when
 * nobody can read standard output any more. */
int store_watch_wait(struct store_watch *watch, int64_t longest_ns);

#endif

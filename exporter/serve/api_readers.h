/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_readers: readers of the store for whoever asks, kept for the next one.
 *
 * As many are kept as handlers run at the same time. Any thread.
 */
#ifndef EXPORTER_SERVE_API_READERS_H
#define EXPORTER_SERVE_API_READERS_H

#include <stdbool.h>

struct api_readers;
struct reason;
struct store_reader;

/* `store_directory` is copied. */
struct api_readers *api_readers_new(const char *store_directory);
void api_readers_free(struct api_readers **readers);

/* NULL with a reason when the store cannot be read. */
struct store_reader *api_readers_take(
    struct api_readers *readers, struct reason *reason);
void api_readers_return(
    struct api_readers *readers, struct store_reader *reader);

/* See store_reader_close_gone(): now, or when those that are in use return,
 * which is waited for if `waits`. */
void api_readers_close_gone(struct api_readers *readers, bool waits);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch: be told when a journal grows, so that nobody has to look.
 *
 * inotify(7) on the directory of all journals, on each journal in it, and on
 * whatever else is asked for. One thread.
 */
#ifndef EXPORTER_READ_WATCH_H
#define EXPORTER_READ_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct reason;
struct watch;

/* Watches for journals that appear in `directory` (copied). NULL with a reason
 * when it does not exist or the system's limit is reached. */
struct watch *watch_open(const char *directory, struct reason *reason);

/* Watches the journal `name` in it; again and again is fine. Returns 0, or -1.
 */
int watch_add(struct watch *watch, const char *name, struct reason *reason);

/* Watches any path for these events of inotify(7), besides those for which it
 * is watched already. Returns a number, the same while the file that bears the
 * path is the same, or -1. */
int watch_add_path(struct watch *watch, const char *path, uint32_t events,
    struct reason *reason);

/* Watches a descriptor too, until it is closed: that it is readable is
 * something that happened, until whoever owns it has read. Returns 0, or -1. */
int watch_add_fd(struct watch *watch, int fd, struct reason *reason);

/* Readable when something happened. */
int watch_fd(const struct watch *watch);

/* Forgets what happened so far. Returns whether journals may have appeared. */
bool watch_drain(struct watch *watch);

void watch_free(struct watch **watch);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_trust: of which time Postfix's log tells everything.
 *
 * That the log says nothing means something only where it is complete. Here is
 * kept since when it is followed, and of which intervals something is missing:
 * files that were rotated away unread, lines dropped by a rate limit, a logger
 * that was down, a reboot. A log that has silently stopped is noticed by mail
 * of which it should have told. All times are wall clock. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_TRUST_H
#define EXPORTER_READ_LOG_TRUST_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct log_trust;

struct log_trust *log_trust_new(void);
void log_trust_free(struct log_trust **trust);

/* A line of `instance`, written at `wall_ns`, was read. NULL: of nobody. */
void log_trust_line(
    struct log_trust *trust, const char *instance, int64_t wall_ns);

/* Whether what is logged now can be read at all. True at first. */
void log_trust_see(struct log_trust *trust, bool is_seen);

/* What was logged in between cannot be read. */
void log_trust_gap(struct log_trust *trust, int64_t from_ns, int64_t to_ns);

/* Nothing is logged from then until the next line. */
void log_trust_pause(struct log_trust *trust, int64_t from_ns);

/* Mail was accepted at `wall_ns`, of which `instance` logs in a moment. */
void log_trust_expect(
    struct log_trust *trust, const char *instance, int64_t wall_ns);

/* With the line that was told last, Postfix itself said that it ends. */
void log_trust_stop(struct log_trust *trust, const char *instance);

/* The system runs since `boot_wall_ns` under this boot id. When it is not the
 * one that was kept, the end of the log before may not have reached the disk,
 * or the logger may have ended before Postfix. That is a gap for who does not
 * turn out, by its lines up to the first one after that, to have ended itself
 * before. */
void log_trust_boot(struct log_trust *trust,
    const uint8_t boot_id[CLOCK_BOOT_ID_BYTES], int64_t boot_wall_ns);

/* Whether the log tells of now, `now_ns`: of every instance that it told of. */
bool log_trust_is_alive(const struct log_trust *trust, int64_t now_ns);

/* Whether part of what was logged since then is known to be missing. */
bool log_trust_misses(const struct log_trust *trust, int64_t from_ns);

/* Whether of `instance` nothing is missing between then and now. The log must
 * have been read to its end. */
bool log_trust_covers(const struct log_trust *trust, const char *instance,
    int64_t from_ns, int64_t now_ns);

/* Whether what has to be kept differs from what was written last: at once for
 * gaps, after a minute for the rest. */
bool log_trust_is_unsaved(const struct log_trust *trust);

/* Forgets intervals that ended before `before_ns`. */
void log_trust_forget(struct log_trust *trust, int64_t before_ns);

/* The form in which it is kept: some lines of text. */
void log_trust_write(struct log_trust *trust, struct buffer *out);

/* Reads what log_trust_write() wrote into a new one. What is anything else is
 * passed over: then less is trusted. */
void log_trust_read(struct log_trust *trust, const void *data, size_t size);

#endif

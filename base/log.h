/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: one line a fact, `key=value`, the id of what it is about first.
 *
 *     log_warn("id=%s queue_id=%s reason=%s", ...);
 *
 * Text that came from outside is made harmless here: control characters and
 * bytes that are not UTF-8 are written as `?`, and a line never exceeds 1,000
 * bytes; `...` at its end says that it was cut. Each call site may write 20
 * lines in 10 s; what it wants beyond that is counted and told as
 * `suppressed=N` in front of its next line. Debug lines have no such limit,
 * somebody asked for them. No call waits for stderr's reader: a line that
 * cannot be written at once is lost and told as `lost=N` in front of the next
 * one. (Syslog is as patient here as it is for Postfix.) Any thread. errno is
 * kept.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

struct reason;

enum log_level {
	LOG_LEVEL_ERROR, /* something is lost or refused */
	LOG_LEVEL_WARN,  /* wrong, but served */
	LOG_LEVEL_INFO,  /* start, stop, reload */
	LOG_LEVEL_DEBUG  /* each transaction */
};

/* One call site's share; zero-initialised, kept by the log_ macros. */
struct log_site {
	int64_t window_start_ns;
	uint32_t lines;
	uint32_t suppressed;
};

/* Starts logging as `program` (kept, not copied) to `target`: "stderr",
 * "syslog" (facility mail), or "auto": stderr with systemd's priority prefix
 * when JOURNAL_STREAM says that stderr is the journal, plain stderr otherwise.
 * Before this call lines go to stderr. Returns 0, or -1 for an unknown target.
 */
int log_open(const char *program, const char *target, enum log_level level,
    struct reason *reason);

/* The highest level that is written; may be changed at any time. */
void log_set_level(enum log_level level);

void log_write(struct log_site *site, enum log_level level, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

#define LOG_AT(level, ...)                                                     \
	do {                                                                   \
		static struct log_site log_site_;                              \
		log_write(&log_site_, (level), __VA_ARGS__);                   \
	} while (0)

#define log_error(...) LOG_AT(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes lines about facts to stderr, the journal or syslog. Called by all
 * programs on any thread: one lock covers the shares of call sites, one the
 * descriptor. Each line is one write(2), so that lines of several processes do
 * not mix either.
 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/reason.h"
#include "base/text.h"

#define LINE_BYTES 1000
#define WINDOW_NS (10 * CLOCK_NS_PER_SECOND)
#define WINDOW_LINES 20

static const struct {
	const char *word;
	int priority;
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", LOG_ERR},
    [LOG_LEVEL_WARN] = {"warning", LOG_WARNING},
    [LOG_LEVEL_INFO] = {"info", LOG_INFO},
    [LOG_LEVEL_DEBUG] = {"debug", LOG_DEBUG},
};

enum target { TARGET_STDERR, TARGET_JOURNAL, TARGET_SYSLOG };

static const char *log_program = "postlag";
static atomic_int log_level = LOG_LEVEL_INFO;
static enum target log_target = TARGET_STDERR;
static pthread_mutex_t site_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stderr_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint lost_lines;

/* systemd.exec(5): JOURNAL_STREAM holds the device and inode of the journal's
 * stream; a redirected stderr has others. */
static bool
stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream != NULL &&
	       sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

int
log_open(const char *program, const char *target, enum log_level level,
    struct reason *reason)
{
	enum target chosen;

	if (strcmp(target, "stderr") == 0)
		chosen = TARGET_STDERR;
	else if (strcmp(target, "syslog") == 0)
		chosen = TARGET_SYSLOG;
	else if (strcmp(target, "auto") == 0)
		chosen = stderr_is_journal() ? TARGET_JOURNAL : TARGET_STDERR;
	else
		return reason_set(reason,
		    "log target \"%s\" is not stderr, syslog or auto", target);
	log_program = program;
	log_target = chosen;
	log_set_level(level);
	if (chosen == TARGET_SYSLOG)
		openlog(program, LOG_PID | LOG_NDELAY, LOG_MAIL);
	return 0;
}

void
log_set_level(enum log_level level)
{
	atomic_store(&log_level, (int)level);
}

/* Whether the site may write a line now; if so, how many it could not before.
 */
static bool
site_may_write(struct log_site *site, uint32_t *suppressed_r)
{
	int64_t now_ns = clock_stamp().monotonic_ns;
	bool may;

	pthread_mutex_lock(&site_lock);
	if (site->lines == 0 || now_ns < site->window_start_ns ||
	    now_ns - site->window_start_ns >= WINDOW_NS) {
		site->window_start_ns = now_ns;
		site->lines = 0;
	}
	may = site->lines < WINDOW_LINES;
	if (may) {
		site->lines++;
		*suppressed_r = site->suppressed;
		site->suppressed = 0;
	} else {
		site->suppressed++;
	}
	pthread_mutex_unlock(&site_lock);
	return may;
}

/* The two parts of a line are built in place; `used` never reaches `room`,
 * which leaves the last byte for the newline. */
struct line {
	char text[LINE_BYTES];
	size_t used;
	bool cut;
	unsigned lost_before; /* lines that this one tells of */
};

static void __attribute__((format(printf, 2, 0)))
line_append(struct line *line, const char *format, va_list arguments)
{
	size_t room = sizeof(line->text) - line->used;
	int size;

	size = vsnprintf(line->text + line->used, room, format, arguments);
	if (size < 0)
		return;
	line->cut = (size_t)size >= room;
	line->used += line->cut ? room - 1 : (size_t)size;
}

static void __attribute__((format(printf, 2, 3)))
line_add(struct line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line_append(line, format, arguments);
	va_end(arguments);
}

static void
line_begin(struct line *line, enum log_level level, uint32_t suppressed)
{
	const char *word = levels[level].word;
	unsigned lost = atomic_exchange(&lost_lines, 0);

	line->used = 0;
	line->cut = false;
	if (log_target == TARGET_STDERR)
		line_add(line, "%s: %s: ", log_program, word);
	else if (log_target == TARGET_JOURNAL)
		line_add(line, "<%d>%s: ", levels[level].priority, word);
	else
		line_add(line, "%s: ", word);
	if (suppressed > 0)
		line_add(line, "suppressed=%lu ", (unsigned long)suppressed);
	if (lost > 0)
		line_add(line, "lost=%u ", lost);
	line->lost_before = lost;
}

/* Makes the text harmless and marks it where it was cut. */
static void
line_end(struct line *line)
{
	static const char mark[] = "...";

	if (line->cut)
		line->used = text_cut(
		    line->text, line->used, sizeof(line->text) - sizeof(mark));
	text_sanitize(line->text, line->used);
	if (line->cut) {
		memcpy(line->text + line->used, mark, sizeof(mark) - 1);
		line->used += sizeof(mark) - 1;
	}
}

/* A pipe or socket that polls as writable has room for more than a line; under
 * the lock nobody else of this process takes it. */
static bool
stderr_write(const char *text, size_t size)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
	bool written;

	pthread_mutex_lock(&stderr_lock);
	written = poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 &&
		  write(STDERR_FILENO, text, size) == (ssize_t)size;
	pthread_mutex_unlock(&stderr_lock);
	return written;
}

static void
line_send(struct line *line, enum log_level level)
{
	if (log_target == TARGET_SYSLOG) {
		syslog(levels[level].priority, "%.*s", (int)line->used,
		    line->text);
		return;
	}
	line->text[line->used++] = '\n';
	if (!stderr_write(line->text, line->used))
		atomic_fetch_add(&lost_lines, 1 + line->lost_before);
}

void
log_write(struct log_site *site, enum log_level level, const char *format, ...)
{
	int saved_errno = errno;
	uint32_t suppressed = 0;
	struct line line;
	va_list arguments;

	if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
		return;
	if (level != LOG_LEVEL_DEBUG && !site_may_write(site, &suppressed))
		goto out;
	line_begin(&line, level, suppressed);
	va_start(arguments, format);
	line_append(&line, format, arguments);
	va_end(arguments);
	line_end(&line);
	line_send(&line, level);
out:
	errno = saved_errno;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds and reads the files; what stands in them is journald_conf.c's and
 * rsyslog_conf.c's. Called by log_source.c at start, on the ingest thread.
 */
#include "exporter/read/logger_conf.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "exporter/read/journald_conf.h"
#include "exporter/read/rsyslog_conf.h"

#define FILE_BYTES_MAX (1u << 20)
#define INCLUDES_MAX 200
#define JOURNALD_FILE "/etc/systemd/journald.conf"
#define RSYSLOG_FILE "/etc/rsyslog.conf"

/* rsyslogd's own defaults: a socket is not limited. */
#define SOCKET_BURST 200
#define IMJOURNAL_SECONDS 600
#define IMJOURNAL_BURST 20000

/* The system's journal; any other was written elsewhere. */
static const char journal_log[] = "journal";

/* Empty when it cannot be read. The buffer is to be freed. */
static struct maillog_view
read_file(const char *path, struct buffer *content)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char piece[4096];
	ssize_t size;

	while (fd >= 0 && content->size < FILE_BYTES_MAX &&
	       (size = read(fd, piece, sizeof(piece))) > 0)
		buffer_append(content, piece, (size_t)size);
	if (fd >= 0)
		close(fd);
	return (struct maillog_view){
	    (const char *)content->data, content->size};
}

static void
set_file(struct logger_limit *limit, const char *path, const char *setting)
{
	snprintf(limit->file, sizeof(limit->file), "%s", path);
	limit->setting = setting;
}

static void
read_journald(const char *path, struct logger_limit *limit)
{
	struct buffer content = {.data = NULL};

	if (journald_conf_read(read_file(path, &content), &limit->limit))
		set_file(limit, path, "RateLimitBurst");
	buffer_free(&content);
}

/* What the last part of a path is, for sorting. */
static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int
compare_names(const void *left, const void *right)
{
	return strcmp(
	    base_name(*(char *const *)left), base_name(*(char *const *)right));
}

/* Whether a later directory, which weighs more, has a file of this name. */
static bool
is_hidden(const glob_t *found, size_t number)
{
	for (size_t i = number + 1; i < found->gl_pathc; i++)
		if (strcmp(base_name(found->gl_pathv[i]),
			base_name(found->gl_pathv[number])) == 0)
			return true;
	return false;
}

/* Drop-ins are sorted by name, whatever directory they are in. */
static void
read_drop_ins(const char *root, struct logger_limit *limit)
{
	static const char *const directories[] = {
	    "/usr/lib/systemd", "/run/systemd", "/etc/systemd"};
	glob_t found = {.gl_pathc = 0};
	char **paths;
	size_t count = 0;

	for (size_t i = 0; i < 3; i++) {
		char *pattern = memory_format(
		    "%s%s/journald.conf.d/*.conf", root, directories[i]);

		glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found);
		free(pattern);
	}
	paths = memory_zeroed(found.gl_pathc + 1, sizeof(*paths));
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!is_hidden(&found, i))
			paths[count++] = found.gl_pathv[i];
	qsort(paths, count, sizeof(*paths), compare_names);
	for (size_t i = 0; i < count; i++)
		read_journald(paths[i], limit);
	free(paths);
	globfree(&found);
}

static void
find_journald(const char *root, struct logger_limit *limit)
{
	char *path = memory_format("%s%s", root, JOURNALD_FILE);

	limit->limit = journald_conf_default;
	set_file(limit, path, "RateLimitBurst");
	read_journald(path, limit);
	read_drop_ins(root, limit);
	free(path);
}

/* What all files of rsyslogd together say. */
struct rsyslog {
	const char *root;
	struct maillog_view log;
	struct logger_limit *socket, *journal;
	bool loads_journal;
	bool writes_log;
	unsigned files;
};

static void
apply(struct rsyslog *rsyslog, const struct rsyslog_setting *setting,
    const char *path)
{
	static const struct maillog_view imjournal =
	    MAILLOG_LITERAL("imjournal");
	int64_t interval_ns = setting->number < INT32_MAX
				  ? setting->number * CLOCK_NS_PER_SECOND
				  : INT64_MAX;

	switch (setting->kind) {
	case RSYSLOG_LOADS:
		rsyslog->loads_journal |=
		    maillog_view_equal(setting->value, imjournal);
		return;
	case RSYSLOG_INCLUDES:
		return;
	case RSYSLOG_SOCKET_INTERVAL:
		rsyslog->socket->limit.interval_ns = interval_ns;
		break;
	case RSYSLOG_SOCKET_BURST:
		rsyslog->socket->limit.burst = setting->number;
		break;
	case RSYSLOG_JOURNAL_INTERVAL:
		rsyslog->journal->limit.interval_ns = interval_ns;
		break;
	case RSYSLOG_JOURNAL_BURST:
		rsyslog->journal->limit.burst = setting->number;
		break;
	}
	if (setting->kind == RSYSLOG_SOCKET_INTERVAL ||
	    setting->kind == RSYSLOG_SOCKET_BURST)
		set_file(rsyslog->socket, path, "SysSock.RateLimit.Burst");
	else
		set_file(rsyslog->journal, path, "RateLimit.Burst");
}

static void read_rsyslog(struct rsyslog *rsyslog, const char *path);

static void
include(struct rsyslog *rsyslog, struct maillog_view name)
{
	char *pattern =
	    memory_format("%s%.*s", rsyslog->root, (int)name.size, name.at);
	glob_t found;

	if (name.size > 0 && *name.at == '/' &&
	    glob(pattern, GLOB_MARK, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			read_rsyslog(rsyslog, found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

/* Files that include each other end at INCLUDES_MAX. */
static void
read_rsyslog(struct rsyslog *rsyslog, const char *path)
{
	struct buffer content = {.data = NULL};
	struct rsyslog_setting setting;
	struct rsyslog_conf conf = {.in_object = false};

	if (++rsyslog->files > INCLUDES_MAX)
		return;
	conf.text = read_file(path, &content);
	rsyslog->writes_log |= rsyslog_conf_names(conf.text, rsyslog->log);
	while (rsyslog_conf_next(&conf, &setting))
		if (setting.kind == RSYSLOG_INCLUDES)
			include(rsyslog, setting.value);
		else
			apply(rsyslog, &setting, path);
	buffer_free(&content);
}

static void
find_rsyslog(const char *root, const char *log, struct logger_limits *limits_r)
{
	char *path = memory_format("%s%s", root, RSYSLOG_FILE);
	struct rsyslog rsyslog = {
	    .root = root,
	    .log = {log, strlen(log)},
	    .socket = &limits_r->items[LOG_LIMIT_IMUXSOCK],
	    .journal = &limits_r->items[LOG_LIMIT_IMJOURNAL],
	};

	rsyslog.socket->limit.burst = SOCKET_BURST;
	rsyslog.journal->limit = (struct log_limit){
	    IMJOURNAL_SECONDS * CLOCK_NS_PER_SECOND, IMJOURNAL_BURST};
	set_file(rsyslog.socket, path, "SysSock.RateLimit.Burst");
	set_file(rsyslog.journal, path, "RateLimit.Burst");
	read_rsyslog(&rsyslog, path);
	if (!rsyslog.writes_log)
		*limits_r = (struct logger_limits){{{.setting = NULL}}};
	else if (!rsyslog.loads_journal)
		rsyslog.journal->limit.interval_ns = 0;
	else
		find_journald(root, &limits_r->items[LOG_LIMIT_JOURNALD]);
	free(path);
}

void
logger_conf_find(
    const char *root, const char *log, struct logger_limits *limits_r)
{
	char *own = memory_string(strcmp(root, "/") == 0 ? "" : root);

	*limits_r = (struct logger_limits){{{.setting = NULL}}};
	if (strcmp(log, journal_log) == 0)
		find_journald(own, &limits_r->items[LOG_LIMIT_JOURNALD]);
	else if (*log == '/')
		find_rsyslog(own, log, limits_r);
	free(own);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens logs at start and closes them at the end. Called by ingest. */
#include "exporter/logs.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exporter/join/join.h"
#include "exporter/join/log_boundary.h"
#include "exporter/maillog/log_instances.h"
#include "exporter/read/log_reader.h"
#include "exporter/read/log_trust.h"
#include "exporter/read/log_trust_note.h"
#include "exporter/read/sources.h"
#include "proto/journal_settings.h"

#define SEPARATORS ", \t"

typedef int path_taker(void *context, const char *path, struct reason *reason);

static int
for_each_path(
    const char *list, path_taker *take, void *context, struct reason *reason)
{
	char *paths = memory_string(list), *rest = NULL;
	int result = 0;

	for (char *path = strtok_r(paths, SEPARATORS, &rest);
	     path != NULL && result == 0;
	     path = strtok_r(NULL, SEPARATORS, &rest))
		result = take(context, path, reason);
	free(paths);
	return result;
}

static int
check_path(void *context, const char *path, struct reason *reason)
{
	return log_reader_check(path, reason);
}

int
logs_check(const struct logs_settings *settings, struct reason *reason)
{
	struct log_instances *instances = log_instances_new(
	    settings->instances, journal_default_instance(), reason);

	if (instances == NULL)
		return -1;
	log_instances_free(&instances);
	if (for_each_path(settings->paths, check_path, NULL, reason) != 0)
		return -1;
	return for_each_path(settings->dovecot_paths, check_path, NULL, reason);
}

struct adding {
	struct sources *sources;
	const char *limit_root;
};

static int
add_postfix(void *context, const char *path, struct reason *reason)
{
	const struct adding *adding = context;

	return sources_add_log(
	    adding->sources, path, adding->limit_root, reason);
}

static int
add_dovecot(void *context, const char *path, struct reason *reason)
{
	return sources_add_dovecot_log(context, path, reason);
}

static int
open_postfix(const struct logs_settings *settings, struct store *store,
    struct sources *sources, struct join *join, struct logs *logs_r,
    struct reason *reason)
{
	bool reads_log =
	    settings->paths[strspn(settings->paths, SEPARATORS)] != '\0';
	struct adding adding = {sources, settings->limit_root};
	int64_t counted_wall_ns;

	if (log_boundary_find(store, reads_log, clock_stamp().wall_ns,
		&counted_wall_ns, reason) != 0)
		return -1;
	if (!reads_log)
		return 0;
	logs_r->instances = log_instances_new(
	    settings->instances, journal_default_instance(), reason);
	if (logs_r->instances == NULL)
		return -1;
	logs_r->trust = log_trust_new();
	log_trust_load(logs_r->trust, store);
	join_read_logs(join, logs_r->instances, counted_wall_ns);
	join_trust_logs(join, logs_r->trust);
	return for_each_path(settings->paths, add_postfix, &adding, reason);
}

int
logs_open(const struct logs_settings *settings, struct store *store,
    struct sources *sources, struct join *join, struct logs *logs_r,
    struct reason *reason)
{
	if (open_postfix(settings, store, sources, join, logs_r, reason) != 0)
		return -1;
	if (*settings->dovecot_paths != '\0')
		join_read_dovecot(join);
	return for_each_path(
	    settings->dovecot_paths, add_dovecot, sources, reason);
}

int
logs_save(struct logs *logs, struct store *store, struct reason *reason)
{
	return logs->trust != NULL ? log_trust_save(logs->trust, store, reason)
				   : 0;
}

void
logs_close(struct logs *logs)
{
	log_trust_free(&logs->trust);
	log_instances_free(&logs->instances);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens logs at start and closes them at the end. Called by ingest. */
#include "exporter/logs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exporter/join.h"
#include "exporter/log_instances.h"
#include "exporter/log_trust.h"
#include "exporter/log_trust_note.h"
#include "exporter/sources.h"
#include "proto/journal_settings.h"

#define SEPARATORS ", \t"

static int
add_paths(struct sources *sources, const char *list, struct reason *reason)
{
	char *paths = memory_string(list), *rest = NULL;
	int result = 0;

	for (char *path = strtok_r(paths, SEPARATORS, &rest);
	     path != NULL && result == 0;
	     path = strtok_r(NULL, SEPARATORS, &rest))
		result = sources_add_log(sources, path, reason);
	free(paths);
	return result;
}

int
logs_open(const struct logs_settings *settings, struct store *store,
    struct sources *sources, struct join *join, struct logs *logs_r,
    struct reason *reason)
{
	if (settings->paths[strspn(settings->paths, SEPARATORS)] == '\0')
		return 0;
	logs_r->instances = log_instances_new(
	    settings->instances, journal_default_instance(), reason);
	if (logs_r->instances == NULL)
		return -1;
	logs_r->trust = log_trust_new();
	if (log_trust_load(logs_r->trust, store, reason) != 0)
		return -1;
	join_read_logs(join, logs_r->instances);
	join_trust_logs(join, logs_r->trust);
	return add_paths(sources, settings->paths, reason);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns a producer's journal options into what the writer takes. Called at
 * start, by the main thread.
 */
#include "proto/journal_settings.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"

int
journal_settings_check(
    const struct journal_settings *settings, struct reason *reason)
{
	const char *source = settings->source;

	if (*source == '\0' || *source == '.' || strchr(source, '/') != NULL ||
	    strlen(source) > NAME_MAX)
		return reason_set(
		    reason, "source: \"%s\" is no name of a directory", source);
	if (settings->limit_bytes < settings->segment_bytes)
		return reason_set(
		    reason, "journal_limit is smaller than segment_size");
	return 0;
}

const char *
journal_default_instance(void)
{
	static char name[HOST_NAME_MAX + 1];

	if (gethostname(name, sizeof(name) - 1) != 0)
		return "localhost";
	return name;
}

struct journal_writer_settings
journal_settings_for_writer(
    const struct journal_settings *settings, const char *program)
{
	return (struct journal_writer_settings){
	    .directory = settings->directory,
	    .source = settings->source,
	    .instance = *settings->instance != '\0'
			    ? settings->instance
			    : journal_default_instance(),
	    .program = program,
	    .segment_bytes = settings->segment_bytes,
	    .segment_age_ns = settings->segment_age_ns,
	    .limit_bytes = settings->limit_bytes,
	    .sync_interval_ns = settings->sync_interval_ns,
	    .heartbeat_interval_ns = settings->heartbeat_interval_ns,
	};
}

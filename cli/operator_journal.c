/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends operations to journal/operator. Called by the subcommands that have
 * something to say.
 *
 * Whoever may write that directory is an operator. It must be there: made by
 * us, it would be one that the exporter may not read.
 */
#include "cli/operator_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"
#include "cli/store_options.h"
#include "proto/event.h"
#include "proto/journal_directory.h"
#include "proto/journal_settings.h"
#include "proto/journal_writer.h"

#define SOURCE "operator"
#define SEGMENT_BYTES (INT64_C(16) << 20)
#define LIMIT_BYTES (INT64_C(1) << 30)
/* We are gone before anything is due. */
#define NEVER_NS (3600 * CLOCK_NS_PER_SECOND)

#define PAUSE_NS (CLOCK_NS_PER_SECOND / 20)
#define PAUSES_MAX 200 /* of waiting for another writer */
#define FREE_TIMES_MAX 5

/* clang-format off */
const struct config_item operator_config_items[] = {
	{"journal", CONFIG_STRING, offsetof(struct operator_settings, journal),
	    "/var/lib/postlag/journal", 0, 0, NULL,
	    "Directory of all journals; postlag ack and forget write to "
	    "operator in it, which must exist."},
	{"exporter", CONFIG_STRING,
	    offsetof(struct operator_settings, exporter),
	    "inet:127.0.0.1:9154", 0, 0, NULL,
	    "Where the exporter listens on this machine; postlag asks it for "
	    "pseudonyms of addresses (privacy) that it may not make itself."},
};
/* clang-format on */

const size_t operator_config_item_count =
    sizeof(operator_config_items) / sizeof(operator_config_items[0]);

char *
operator_journal_directory(
    const struct store_options *options, struct reason *reason)
{
	struct operator_settings settings = {0};
	struct config_section section = {"operator", operator_config_items,
	    operator_config_item_count, &settings};

	char *directory = NULL;

	if (options->journal != NULL)
		return memory_string(options->journal);
	if (store_options_load(options, &section, reason) == 0) {
		directory = settings.journal;
		settings.journal = NULL;
	}
	config_free(&section, 1);
	return directory;
}

/* Returns a descriptor of the directory, or -1. */
static int
open_directory(const char *directory, struct reason *reason)
{
	char *path = memory_format("%s/" SOURCE, directory);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		goto out;
	if (errno == ENOENT)
		reason_set(reason,
		    "%s is missing; systemd-tmpfiles --create makes it", path);
	else
		reason_set_errno(reason, "%s%s", path,
		    errno == EACCES ? " (for root and group postlag-admin)"
				    : "");
	if (fd >= 0)
		close(fd);
	fd = -1;
out:
	free(path);
	return fd;
}

/* Waits as long as somebody else has the lock, who may take or leave it just
 * when it is looked at: what fails again and again while it is free has another
 * reason. */
static struct journal_writer *
open_writer(const char *directory, int directory_fd, struct reason *reason)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const struct journal_writer_settings settings = {
	    .directory = directory,
	    .source = SOURCE,
	    .instance = journal_default_instance(),
	    .program = "postlag " POSTLAG_VERSION,
	    .segment_bytes = SEGMENT_BYTES,
	    .segment_age_ns = NEVER_NS,
	    .limit_bytes = LIMIT_BYTES,
	    .sync_interval_ns = NEVER_NS,
	    .heartbeat_interval_ns = NEVER_NS,
	};
	struct journal_writer *writer = NULL;
	int free_times = 0;

	for (int i = 0; i < PAUSES_MAX && free_times < FREE_TIMES_MAX; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		writer = journal_writer_open(&settings, reason);
		if (writer != NULL)
			break;
		free_times += journal_lock_is_free(directory_fd);
	}
	return writer;
}

static int
append_all(struct journal_writer *writer,
    const struct operation_event *operations, size_t count,
    struct reason *reason)
{
	for (size_t i = 0; i < count; i++) {
		const struct event event = {
		    .type = EVENT_OPERATION, .operation = operations[i]};

		if (journal_writer_append(writer, &event, JOURNAL_SHARE_ALL) !=
		    1)
			return reason_set(reason,
			    "the journal takes no more after %zu of %zu", i,
			    count);
	}
	if (journal_writer_sync(writer) != 0)
		return reason_set(reason, "the journal cannot be synced");
	return 0;
}

int
operator_journal_write(const char *directory,
    const struct operation_event *operations, size_t count,
    struct reason *reason)
{
	int directory_fd = open_directory(directory, reason);
	struct journal_writer *writer;
	int result = -1;

	if (directory_fd < 0)
		return -1;
	writer = open_writer(directory, directory_fd, reason);
	if (writer != NULL)
		result = append_all(writer, operations, count, reason);
	journal_writer_close(&writer);
	close(directory_fd);
	return result;
}

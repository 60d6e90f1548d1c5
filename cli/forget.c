/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag forget`: options, how much there is of an address, and what is said
 * to the exporter. Called by main.c. What it writes is the exporter's to do.
 */
#include "cli/forget.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/operator_journal.h"
#include "cli/operator_name.h"
#include "cli/store_command.h"
#include "proto/event.h"
#include "store/query.h"
#include "store/query_forget.h"
#include "store/settings.h"

/* How long the exporter is waited for. */
#define PAUSE_NS (CLOCK_NS_PER_SECOND / 20)
#define PAUSES_MAX 200

#define ADDRESS_BYTES_MAX 1000

/* clang-format off */
static const struct store_options_help help = {NULL,
    STORE_OPTION_FORGET, false,
    "usage: postlag forget [-c FILE] [--store DIR] [--journal DIR]\n"
    "                      [--dry-run | --yes] ADDRESS...\n\n"
    "Has the exporter overwrite the local part of an address wherever it is\n"
    "stored, in all days: envelopes, logins, replies, log lines. Messages,\n"
    "what became of them, and all counts stay. It cannot be undone. Mail of\n"
    "that address that comes later is stored again, and Postfix's own log is\n"
    "not touched. Without --yes it is only said how many messages have it.\n\n"
    STORE_OPTIONS_TEXT
    "  --journal DIR\n"
    "               the journals, instead of those configured in [operator]\n"
    "  --dry-run    only say how many messages have it\n"
    "  --yes        do it\n\n"
    "Exit status: 0 forgotten or shown; 1 no message has an address (others\n"
    "are forgotten); 2 wrong usage, or files that cannot be read or "
    "written.\n"};
/* clang-format on */

struct forget {
	const struct store_options *options;
	const char *directory; /* of the store */
	struct store_reader *reader;
	int status;
};

static int
count(struct forget *forget, const char *address, struct address_count *count_r)
{
	struct reason reason;

	if (store_count_address(forget->reader, address, count_r, &reason) == 0)
		return 0;
	forget->status = store_options_unreadable(forget->directory, &reason);
	return -1;
}

/* Who has not the key sees nothing of pseudonyms. */
static void
show(struct forget *forget, const char *address,
    const struct address_count *counted)
{
	bool may_miss = !counted->has_key &&
			store_options_privacy(forget->options) != PRIVACY_FULL;

	printf("%s: in %" PRIu64 " message%s%s\n", address, counted->messages,
	    counted->messages == 1 ? "" : "s",
	    may_miss ? ", as far as can be seen without the key of pseudonyms"
		     : "");
	if (counted->messages == 0 && !may_miss && forget->status == EXIT_OK)
		forget->status = EXIT_MISSING;
}

/* The second file of the journal is only there so that the exporter removes the
 * first, which has the addresses. */
static int
write_operations(
    const char *directory, char *const *addresses, struct reason *reason)
{
	char *name = operator_name();
	struct operation_event end = {
	    .kind = OPERATION_FORGET, .at = clock_stamp(), .who = name};
	struct operation_event *operations = NULL;
	size_t number = 0;
	int result;

	for (; addresses[number] != NULL; number++) {
		operations =
		    memory_resize(operations, number + 1, sizeof(*operations));
		operations[number] = end;
		operations[number].address = addresses[number];
	}
	result = operator_journal_write(directory, operations, number, reason);
	if (result == 0)
		result = operator_journal_write(directory, &end, 1, reason);
	free(operations);
	free(name);
	return result;
}

static bool
is_forgotten(struct forget *forget, const char *address)
{
	struct address_count counted;

	return count(forget, address, &counted) == 0 && counted.messages == 0;
}

static bool
wait_for_exporter(struct forget *forget)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	char *const *address = forget->options->keys;

	for (int i = 0; i < PAUSES_MAX && forget->status != EXIT_UNUSABLE;
	     i++) {
		while (*address != NULL && is_forgotten(forget, *address))
			address++;
		if (*address == NULL)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void
forget_all(struct forget *forget)
{
	struct reason reason;
	char *directory = operator_journal_directory(forget->options, &reason);

	if (directory == NULL ||
	    write_operations(directory, forget->options->keys, &reason) != 0)
		forget->status = store_options_unusable(&reason);
	free(directory);
	if (forget->status == EXIT_UNUSABLE)
		return;
	fflush(stdout);
	if (wait_for_exporter(forget))
		printf("\nforgotten\n");
	else if (forget->status != EXIT_UNUSABLE)
		store_options_say(
		    "it is recorded, and done as soon as "
		    "postlag-exporter gets to it: is it running?");
}

static void
forget_or_tell(struct forget *forget)
{
	const struct store_options *options = forget->options;
	struct address_count counted;

	for (char *const *address = options->keys; *address != NULL;
	     address++) {
		if (count(forget, *address, &counted) != 0)
			return;
		show(forget, *address, &counted);
	}
	if (options->yes && !options->dry_run)
		forget_all(forget);
	else
		printf("\nnot forgotten%s\n",
		    options->dry_run ? "" : "; --yes does it");
}

/* An address without a domain is one that Postfix has not completed. */
static bool
is_address(const char *word)
{
	size_t size = strlen(word);

	for (const char *at = word; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	return size > 0 && size <= ADDRESS_BYTES_MAX && word[0] != '@';
}

static int
check(const struct store_options *options)
{
	if (options->keys[0] == NULL)
		return store_options_misused("forget", "an address is needed");
	for (char *const *word = options->keys; *word != NULL; word++)
		if (!is_address(*word))
			return store_options_misused(
			    "forget", "that is not an address");
	return 0;
}

static int
run(const struct store_options *options, const char *directory)
{
	struct forget forget = {.options = options, .directory = directory};
	struct reason reason;

	forget.reader = store_reader_open(directory, &reason);
	if (forget.reader != NULL)
		forget_or_tell(&forget);
	else
		forget.status = store_options_unreadable(directory, &reason);
	store_reader_free(&forget.reader);
	return forget.status;
}

int
forget_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .check = check, .run = run};

	return store_command(argc, argv, &command);
}

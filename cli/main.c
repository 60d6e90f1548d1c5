/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postlag: the command line. Finds the subcommand and hands the arguments on;
 * what each one does is in its own file.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "cli/ack.h"
#include "cli/forget.h"
#include "cli/exit_status.h"
#include "cli/journal_command.h"
#include "cli/operator_journal.h"
#include "cli/queue.h"
#include "cli/search.h"
#include "cli/selfcheck.h"
#include "cli/show.h"
#include "cli/slow.h"
#include "cli/stats.h"
#include "cli/watch.h"
#include "base/suggest.h"

struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	bool reads_configuration; /* takes -c FILE */
	const char *help;
};

static const struct subcommand subcommands[] = {
    {"show", show_command, true, "the timeline of a message"},
    {"search", search_command, true, "messages by address, status, time, ..."},
    {"watch", watch_command, true, "what happens, as it does"},
    {"slow", slow_command, true, "the slowest messages"},
    {"stats", stats_command, true, "how long deliveries and phases took"},
    {"queue", queue_command, true, "messages that are still in the queue"},
    {"lost", lost_command, true, "messages that are lost, or unknown"},
    {"ack", ack_command, true, "account for lost ones: you know what happened"},
    {"forget", forget_command, true, "overwrite what is stored of an address"},
    {"selfcheck", selfcheck_command, true,
	"send one message, and see who sees it"},
    {"journal", journal_command, false, "read or check the journals' files"},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static void
usage(FILE *out)
{
	fputs("usage: postlag [-c FILE] SUBCOMMAND [ARGUMENT...]\n"
	      "       postlag help [SUBCOMMAND]\n"
	      "       postlag -R | -V | -h\n\n",
	    out);
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		fprintf(out, "  %-10s %s\n", subcommands[i].name,
		    subcommands[i].help);
	fputs("\nEach takes -h. Exit status: 0 found or sound, 1 not found,"
	      " damaged or lost,\n2 wrong usage, or the files could not be"
	      " read.\n",
	    out);
}

static const struct subcommand *
find(const char *name)
{
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(subcommands[i].name, name) == 0)
			return &subcommands[i];
	}
	return NULL;
}

static int
unknown(const char *name)
{
	const char *names[SUBCOMMANDS + 1] = {"help"};
	const char *meant;

	for (size_t i = 0; i < SUBCOMMANDS; i++)
		names[i + 1] = subcommands[i].name;
	meant = suggest(name, names, SUBCOMMANDS + 1);
	fprintf(stderr, "postlag: there is no subcommand \"%s\"%s%s%s\n", name,
	    meant != NULL ? "; did you mean \"" : "",
	    meant != NULL ? meant : "", meant != NULL ? "\"?" : "");
	fputs("Try postlag -h.\n", stderr);
	return EXIT_UNUSABLE;
}

/* Runs a subcommand with `before`, the options in front of its name, moved
 * behind it. */
static int
run(const struct subcommand *subcommand, char **before, int argc, char **argv)
{
	int leading =
	    subcommand->reads_configuration ? (int)(argv - before) : 0;
	char **all =
	    memory_zeroed((size_t)(argc + leading + 1), sizeof(all[0]));
	int status;

	all[0] = argv[0];
	memcpy(all + 1, before, (size_t)leading * sizeof(all[0]));
	memcpy(
	    all + 1 + leading, argv + 1, (size_t)(argc - 1) * sizeof(all[0]));
	status = subcommand->run(argc + leading, all);
	free(all);
	return status;
}

/* As that of the daemons. */
static void
print_reference(void)
{
	const struct config_section section = {"operator",
	    operator_config_items, operator_config_item_count, NULL};

	config_print_reference(stdout, &section);
}

/* `postlag help SUBCOMMAND` is `postlag SUBCOMMAND -h`. */
static int
help(int argc, char **argv)
{
	char option[] = "-h";
	char *asked[] = {argc > 1 ? argv[1] : NULL, option, NULL};

	if (argc < 2) {
		usage(stdout);
		return EXIT_OK;
	}
	if (find(argv[1]) == NULL)
		return unknown(argv[1]);
	return find(argv[1])->run(2, asked);
}

/* The options in front of the subcommand; returns how many words they are, or
 * -1 with the exit status. */
static int
leading_options(int argc, char **argv, int *status_r)
{
	int at = 1;

	while (at < argc && argv[at][0] == '-') {
		const char *option = argv[at];

		*status_r = EXIT_OK;
		if (strcmp(option, "-V") == 0 ||
		    strcmp(option, "--version") == 0) {
			puts("postlag " POSTLAG_VERSION);
			return -1;
		}
		if (strcmp(option, "-R") == 0) {
			print_reference();
			return -1;
		}
		if (strcmp(option, "-h") == 0 ||
		    strcmp(option, "--help") == 0) {
			usage(stdout);
			return -1;
		}
		if (strncmp(option, "-c", 2) != 0 || at + 1 >= argc) {
			usage(stderr);
			*status_r = EXIT_UNUSABLE;
			return -1;
		}
		at += option[2] == '\0' ? 2 : 1;
	}
	return at - 1;
}

int
main(int argc, char **argv)
{
	const struct subcommand *subcommand;
	int status, leading;

	leading = leading_options(argc, argv, &status);
	if (leading < 0)
		return status;
	if (leading + 1 >= argc) {
		usage(stderr);
		return EXIT_UNUSABLE;
	}
	argc -= leading + 1;
	argv += leading + 1;
	if (strcmp(argv[0], "help") == 0)
		return help(argc, argv);
	subcommand = find(argv[0]);
	if (subcommand == NULL)
		return unknown(argv[0]);
	return run(subcommand, argv - leading, argc, argv);
}

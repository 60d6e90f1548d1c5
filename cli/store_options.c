/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by each subcommand that reads the store, before it does. */
#include "cli/store_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "store/settings.h"

static int
misused(const char *name, const char *what)
{
	fprintf(
	    stderr, "postlag %s: %s\nTry postlag %s -h.\n", name, what, name);
	return -1;
}

static int
read_limit(const char *name, const char *text, long *limit_r)
{
	char *end;

	errno = 0;
	*limit_r = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *limit_r < 1 ||
	    *limit_r > INT_MAX)
		return misused(name, "--limit takes a number from 1");
	return 0;
}

static int
read_operand(int argc, char **argv, const struct store_options_help *help,
    struct store_options *options)
{
	char *needed;

	if (help->operand == NULL)
		return optind == argc ? 1
				      : misused(argv[0], "too many arguments");
	if (argc - optind == 1 && argv[optind][0] != '\0') {
		options->key = argv[optind];
		return 1;
	}
	needed = memory_format("%s is needed", help->operand);
	misused(argv[0], needed);
	free(needed);
	return -1;
}

int
store_options_read(int argc, char **argv, const struct store_options_help *help,
    struct store_options *options)
{
	static const struct option names[] = {
	    {"store", required_argument, NULL, 's'},
	    {"json", no_argument, NULL, 'j'},
	    {"limit", required_argument, NULL, 'l'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	int option;

	options->config = CONFIG_DEFAULT_PATH;
	optind = 1;
	opterr = 0; /* misused() tells */
	while ((option = getopt_long(argc, argv, "c:h", names, NULL)) != -1) {
		if (option == 'c')
			options->config = optarg;
		else if (option == 's')
			options->directory = optarg;
		else if (option == 'j')
			options->json = true;
		else if (option == 'h')
			return fputs(help->text, stdout) < 0 ? -1 : 0;
		else if (option != 'l')
			return misused(
			    argv[0], "unknown option or missing argument");
		else if (read_limit(argv[0], optarg, &options->limit) < 0)
			return -1;
	}
	return read_operand(argc, argv, help, options);
}

char *
store_options_directory(const struct store_options *options,
    int64_t *queue_lifetime_ns_r, struct reason *reason)
{
	struct store_settings settings = {0};
	struct config_section section = {
	    "store", store_config_items, store_config_item_count, &settings};
	char *directory = NULL;
	bool absent = strcmp(options->config, CONFIG_DEFAULT_PATH) == 0 &&
		      access(options->config, F_OK) < 0 && errno == ENOENT;
	int loaded;

	if (options->directory != NULL && queue_lifetime_ns_r == NULL)
		return memory_string(options->directory);
	if (absent)
		loaded = config_parse("defaults", "", &section, 1, reason);
	else
		loaded = config_load(options->config, &section, 1, reason);
	if (loaded == 0) {
		directory = memory_string(options->directory != NULL
					      ? options->directory
					      : settings.directory);
		if (queue_lifetime_ns_r != NULL)
			*queue_lifetime_ns_r = settings.queue_lifetime_ns;
	}
	config_free(&section, 1);
	return directory;
}

int
store_options_unusable(const struct reason *reason)
{
	fprintf(stderr, "postlag: %s\n", reason->text);
	return EXIT_UNUSABLE;
}

int
store_options_unreadable(const char *directory, const struct reason *reason)
{
	store_options_unusable(reason);
	if (access(directory, R_OK | X_OK) < 0 && errno == EACCES)
		fputs("Members of the store's group, postlag, may read it.\n",
		    stderr);
	return EXIT_UNUSABLE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by each subcommand that reads the store, before it does. */
#include "cli/store_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/config_value.h"
#include "base/memory.h"
#include "base/reason.h"
#include "base/text.h"
#include "cli/exit_status.h"
#include "store/query_open.h"
#include "store/settings.h"

enum { COMMENT_BYTES_MAX = 1000 };

int
store_options_misused(const char *name, const char *what)
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
		return store_options_misused(
		    name, "--limit takes a number from 1");
	return 0;
}

static int
read_age(const char *name, const char *option, const char *text, int64_t *age_r)
{
	static const struct config_item item = {"age", CONFIG_DURATION, 0, "",
	    CLOCK_NS_PER_SECOND, 36500 * CLOCK_NS_PER_DAY, NULL, NULL};
	struct reason reason;
	char *what;

	if (config_value_read(&item, text, age_r, &reason) == 0)
		return 0;
	what = memory_format("%s: \"%s\" %s", option, text, reason.text);
	text_sanitize(what, strlen(what));
	store_options_misused(name, what);
	free(what);
	return -1;
}

static int
read_comment(const char *name, const char *text, const char **comment_r)
{
	if (strlen(text) > COMMENT_BYTES_MAX)
		return store_options_misused(name, "--comment is too long");
	*comment_r = *text != '\0' ? text : NULL;
	return 0;
}

enum {
	OPTION_STORE = 256,
	OPTION_LIMIT,
	OPTION_JSON,
	OPTION_ALL,
	OPTION_SINCE,
	OPTION_BEFORE,
	OPTION_LOST,
	OPTION_YES,
	OPTION_DRY_RUN,
	OPTION_JOURNAL,
	OPTION_COMMENT,
	OPTION_PAGE,
	OPTION_BY,
	OPTION_SMTP,
	OPTION_FROM,
	OPTION_WAIT,
	OPTIONS_END
};

static const struct option names[] = {
    {"store", required_argument, NULL, OPTION_STORE},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"all", no_argument, NULL, OPTION_ALL},
    {"since", required_argument, NULL, OPTION_SINCE},
    {"before", required_argument, NULL, OPTION_BEFORE},
    {"lost", no_argument, NULL, OPTION_LOST},
    {"yes", no_argument, NULL, OPTION_YES},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"journal", required_argument, NULL, OPTION_JOURNAL},
    {"comment", required_argument, NULL, OPTION_COMMENT},
    {"page", required_argument, NULL, OPTION_PAGE},
    {"by", required_argument, NULL, OPTION_BY},
    {"smtp", required_argument, NULL, OPTION_SMTP},
    {"from", required_argument, NULL, OPTION_FROM},
    {"wait", required_argument, NULL, OPTION_WAIT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Whose options they are; 0: everybody's. */
static const unsigned takers[OPTIONS_END - OPTION_STORE] = {
    [OPTION_LIMIT - OPTION_STORE] = STORE_OPTION_LIMIT,
    [OPTION_JSON - OPTION_STORE] = STORE_OPTION_JSON,
    [OPTION_ALL - OPTION_STORE] = STORE_OPTION_ALL,
    [OPTION_SINCE - OPTION_STORE] = STORE_OPTION_AGES,
    [OPTION_BEFORE - OPTION_STORE] = STORE_OPTION_AGES,
    [OPTION_LOST - OPTION_STORE] = STORE_OPTION_ACKNOWLEDGE,
    [OPTION_YES - OPTION_STORE] =
	STORE_OPTION_ACKNOWLEDGE | STORE_OPTION_FORGET,
    [OPTION_DRY_RUN - OPTION_STORE] =
	STORE_OPTION_ACKNOWLEDGE | STORE_OPTION_FORGET,
    [OPTION_JOURNAL - OPTION_STORE] =
	STORE_OPTION_ACKNOWLEDGE | STORE_OPTION_FORGET,
    [OPTION_COMMENT - OPTION_STORE] = STORE_OPTION_ACKNOWLEDGE,
    [OPTION_PAGE - OPTION_STORE] = STORE_OPTION_PAGE,
    [OPTION_BY - OPTION_STORE] = STORE_OPTION_BY,
    [OPTION_SMTP - OPTION_STORE] = STORE_OPTION_SELFCHECK,
    [OPTION_FROM - OPTION_STORE] = STORE_OPTION_SELFCHECK,
    [OPTION_WAIT - OPTION_STORE] = STORE_OPTION_SELFCHECK,
};

static bool
is_taken(const struct store_options_help *help, int option)
{
	unsigned taker;

	if (option < OPTION_STORE)
		return option == 'c';
	taker = takers[option - OPTION_STORE];
	return taker == 0 || (help->takes & taker) != 0;
}

/* One option, with optarg. Returns 0, or -1 on misuse. */
static int
take(const char *name, int option, struct store_options *options)
{
	switch (option) {
	case 'c':
		options->config = optarg;
		break;
	case OPTION_STORE:
		options->directory = optarg;
		break;
	case OPTION_LIMIT:
		return read_limit(name, optarg, &options->limit);
	case OPTION_JSON:
		options->json = true;
		break;
	case OPTION_ALL:
		options->all = true;
		break;
	case OPTION_SINCE:
		return read_age(name, "--since", optarg, &options->since_ns);
	case OPTION_BEFORE:
		return read_age(name, "--before", optarg, &options->before_ns);
	case OPTION_LOST:
		options->lost = true;
		break;
	case OPTION_YES:
		options->yes = true;
		break;
	case OPTION_DRY_RUN:
		options->dry_run = true;
		break;
	case OPTION_JOURNAL:
		options->journal = optarg;
		break;
	case OPTION_PAGE:
		options->page = optarg;
		break;
	case OPTION_BY:
		options->by = optarg;
		break;
	case OPTION_SMTP:
		options->smtp = optarg;
		break;
	case OPTION_FROM:
		options->from = optarg;
		break;
	case OPTION_WAIT:
		return read_age(name, "--wait", optarg, &options->wait_ns);
	default:
		return read_comment(name, optarg, &options->comment);
	}
	return 0;
}

static int
read_operands(int argc, char **argv, const struct store_options_help *help,
    struct store_options *options)
{
	char *needed;

	options->keys = argv + optind;
	for (int i = optind; i < argc; i++)
		if (help->is_alone || argv[i][0] == '\0')
			return store_options_misused(
			    argv[0], help->is_alone ? "too many arguments"
						    : "an empty argument");
	if (help->operand == NULL || argc - optind == 1)
		return 1;
	needed = memory_format("%s is needed", help->operand);
	store_options_misused(argv[0], needed);
	free(needed);
	return -1;
}

int
store_options_read(int argc, char **argv, const struct store_options_help *help,
    struct store_options *options)
{
	int option;

	options->config = CONFIG_DEFAULT_PATH;
	optind = 1;
	opterr = 0; /* store_options_misused() tells */
	while ((option = getopt_long(argc, argv, "c:h", names, NULL)) != -1) {
		if (option == 'h')
			return fputs(help->text, stdout) < 0 ? -1 : 0;
		if (!is_taken(help, option))
			return store_options_misused(
			    argv[0], "unknown option or missing argument");
		if (take(argv[0], option, options) < 0)
			return -1;
	}
	return read_operands(argc, argv, help, options);
}

int
store_options_load(const struct store_options *options,
    const struct config_section *section, struct reason *reason)
{
	bool absent = strcmp(options->config, CONFIG_DEFAULT_PATH) == 0 &&
		      access(options->config, F_OK) < 0 && errno == ENOENT;

	return absent ? config_parse("defaults", "", section, 1, reason)
		      : config_load(options->config, section, 1, reason);
}

char *
store_options_directory(const struct store_options *options,
    int64_t *queue_lifetime_ns_r, struct reason *reason)
{
	struct store_settings settings = {0};
	struct config_section section = {
	    "store", store_config_items, store_config_item_count, &settings};
	char *directory = NULL;

	if (options->directory != NULL && queue_lifetime_ns_r == NULL)
		return memory_string(options->directory);
	if (store_options_load(options, &section, reason) == 0) {
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
store_options_privacy(const struct store_options *options)
{
	struct store_settings settings = {.privacy = PRIVACY_FULL};
	struct config_section section = {
	    "store", store_config_items, store_config_item_count, &settings};
	struct reason reason;
	int privacy = PRIVACY_FULL;

	if (store_options_load(options, &section, &reason) == 0)
		privacy = settings.privacy;
	config_free(&section, 1);
	return privacy;
}

void
store_options_ages(
    const struct store_options *options, struct open_question *question)
{
	int64_t now_ns = clock_stamp().wall_ns;

	if (options->since_ns != 0)
		question->from_wall_ns = now_ns - options->since_ns;
	if (options->before_ns != 0)
		question->before_wall_ns = now_ns - options->before_ns;
}

void
store_options_say(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) >= 0)
		text_sanitize(text, strlen(text));
	va_end(arguments);
	fprintf(stderr, "postlag: %s\n", text != NULL ? text : format);
	free(text);
}

int
store_options_unusable(const struct reason *reason)
{
	store_options_say("%s", reason->text);
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

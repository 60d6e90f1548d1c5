/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_options: what the subcommands that read the store have in common: their
 * options, where the store is, and what is said when it cannot be read.
 */
#ifndef CLI_STORE_OPTIONS_H
#define CLI_STORE_OPTIONS_H

#include "base/config.h"

#include <stdbool.h>
#include <stdint.h>

struct open_question;
struct reason;

/* Options that only some take. */
enum {
	STORE_OPTION_JSON = 1 << 0,
	STORE_OPTION_ALL = 1 << 1,
	STORE_OPTION_AGES = 1 << 2,
	STORE_OPTION_ACKNOWLEDGE = 1 << 3,
	STORE_OPTION_PAGE = 1 << 4,
	STORE_OPTION_LIMIT = 1 << 5,
	STORE_OPTION_FORGET = 1 << 6,
	STORE_OPTION_BY = 1 << 7,
	STORE_OPTION_SELFCHECK = 1 << 8
};

struct store_options {
	const char *config;
	const char *directory; /* --store; NULL: as configured */
	char *const *keys;     /* the operands, NULL behind the last */
	long limit;            /* what it is without --limit */
	bool json, all;
	int64_t since_ns, before_ns; /* ages; 0: none */
	const char *page;            /* a cursor; NULL: the first page */
	const char *by;              /* NULL: not said */
	/* As configured, where store_command was asked for it. */
	int64_t queue_lifetime_ns;

	/* STORE_OPTION_ACKNOWLEDGE; the first three STORE_OPTION_FORGET, too */
	bool yes, dry_run;
	const char *journal; /* NULL: as configured */
	bool lost;
	const char *comment; /* NULL: none */

	/* STORE_OPTION_SELFCHECK; NULL or 0: not said */
	const char *smtp, *from;
	int64_t wait_ns;
};

struct store_options_help {
	const char *operand; /* that is needed; NULL: there may be any number */
	unsigned takes;      /* STORE_OPTION_... */
	bool is_alone;       /* it has no operand at all */
	const char *text;
};

#define STORE_OPTIONS_TEXT                                                     \
	"  -c FILE      configuration (default " CONFIG_DEFAULT_PATH ")\n"     \
	"  --store DIR  the store, instead of the configured one\n"
#define STORE_OPTIONS_AGES_TEXT                                                \
	"  --since AGE  only messages that began within this time, as in "     \
	"90m,\n"                                                               \
	"               12h or 7d\n"                                           \
	"  --before AGE only those that began earlier than this\n"

/* Returns 1 to go on, 0 when only the help was asked for, -1 on misuse, which
 * was said. */
int store_options_read(int argc, char **argv,
    const struct store_options_help *help, struct store_options *options);

/* Says so, and returns -1. */
int store_options_misused(const char *name, const char *what);

/* Reads one section of the configuration; a default file that does not exist is
 * as an empty one. Returns 0, or -1 with a reason. */
int store_options_load(const struct store_options *options,
    const struct config_section *section, struct reason *reason);

/* The directory, to be freed, and unless it is NULL the configured queue
 * lifetime. NULL with a reason when the configuration is not sound. */
char *store_options_directory(const struct store_options *options,
    int64_t *queue_lifetime_ns_r, struct reason *reason);

/* What is configured of addresses, enum privacy_mode; full when the
 * configuration is not sound. */
int store_options_privacy(const struct store_options *options);

/* Has the question be about what the ages say, counted from now. */
void store_options_ages(
    const struct store_options *options, struct open_question *question);

/* What went wrong, on standard error: "postlag: ...", harmless to a terminal.
 */
void store_options_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Each says so and returns EXIT_UNUSABLE; the second also who may read it. */
int store_options_unusable(const struct reason *reason);
int store_options_unreadable(
    const char *directory, const struct reason *reason);

#endif

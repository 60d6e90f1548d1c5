/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_options: what the subcommands that read the store have in common: their
 * options, where the store is, and what is said when it cannot be read.
 */
#ifndef CLI_STORE_OPTIONS_H
#define CLI_STORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct reason;

struct store_options {
	const char *config;
	const char *directory; /* --store; NULL: as configured */
	const char *key;       /* the operand; NULL: none */
	long limit;            /* what it is without --limit */
	bool json;
};

struct store_options_help {
	const char *operand; /* that is needed; NULL: there is none */
	const char *text;
};

/* Returns 1 to go on, 0 when only the help was asked for, -1 on misuse, which
 * was said. */
int store_options_read(int argc, char **argv,
    const struct store_options_help *help, struct store_options *options);

/* The directory, to be freed, and unless it is NULL the configured queue
 * lifetime. NULL with a reason when the configuration is not sound. A default
 * configuration file that does not exist is no error. */
char *store_options_directory(const struct store_options *options,
    int64_t *queue_lifetime_ns_r, struct reason *reason);

/* Each says so and returns EXIT_UNUSABLE; the second also who may read it. */
int store_options_unusable(const struct reason *reason);
int store_options_unreadable(
    const char *directory, const struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_command: how every subcommand that reads the store begins: it reads its
 * options, finds the store, and only then does what it is for.
 */
#ifndef CLI_STORE_COMMAND_H
#define CLI_STORE_COMMAND_H

#include "cli/store_options.h"

#include <stdbool.h>

struct store_command {
	const struct store_options_help *help;
	long limit; /* without --limit */
	/* Whether it is given options->queue_lifetime_ns. */
	bool needs_queue_lifetime;
	/* Whether the options go together: 0, or -1 on misuse, which it said.
	 * NULL: they always do. */
	int (*check)(const struct store_options *options);
	/* Returns the exit status. */
	int (*run)(const struct store_options *options, const char *directory);
};

/* Returns the exit status. */
int store_command(int argc, char **argv, const struct store_command *command);

#endif

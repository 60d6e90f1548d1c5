/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by each subcommand that reads the store, with all its arguments. */
#include "cli/store_command.h"

#include <stdlib.h>

#include "base/priority.h"
#include "base/reason.h"
#include "cli/exit_status.h"

int
store_command(int argc, char **argv, const struct store_command *command)
{
	struct store_options options = {.limit = command->limit};
	struct reason reason;
	char *directory;
	int status = store_options_read(argc, argv, command->help, &options);

	if (status == 0)
		return EXIT_OK;
	if (status < 0 ||
	    (command->check != NULL && command->check(&options) < 0))
		return EXIT_UNUSABLE;
	directory = store_options_directory(&options,
	    command->needs_queue_lifetime ? &options.queue_lifetime_ns : NULL,
	    &reason);
	if (directory == NULL)
		return store_options_unusable(&reason);
	priority_give_way();
	status = command->run(&options, directory);
	free(directory);
	return status;
}

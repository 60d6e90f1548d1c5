/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks sudo, the session and the list of users. Called by what is recorded with
 * a name. */
#include "cli/operator_name.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

/* Only root's word on who it was is worth anything: SUDO_USER can be set by
 * anybody. */
static char *
behind_root(void)
{
	const char *name = getenv("SUDO_USER");

	if (name == NULL || *name == '\0')
		name = getlogin();
	return name != NULL ? memory_string(name) : NULL;
}

char *
operator_name(void)
{
	uid_t user = getuid();
	char *name = user == 0 ? behind_root() : NULL;
	const struct passwd *entry;

	if (name != NULL)
		return name;
	entry = getpwuid(user);
	return entry != NULL ? memory_string(entry->pw_name)
			     : memory_format("uid %lu", (unsigned long)user);
}

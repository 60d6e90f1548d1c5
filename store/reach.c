/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at the directory only, so that it answers even where a file cannot be
 * opened. Called by the command line when it found nothing.
 */
#include "store/reach.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/reason.h"
#include "store/layout.h"

/* When a file was last written, unless it is one that readers write, too. */
static int64_t
written_ns(int directory_fd, const char *name)
{
	struct stat status;

	if (strstr(name, ".db") == NULL || strstr(name, "-shm") != NULL ||
	    fstatat(directory_fd, name, &status, 0) < 0)
		return 0;
	return status.st_mtim.tv_sec * CLOCK_NS_PER_SECOND +
	       status.st_mtim.tv_nsec;
}

int
store_reach(
    const char *directory, struct store_reach *reach_r, struct reason *reason)
{
	DIR *open = opendir(directory);
	struct dirent *entry;
	int64_t day, written;

	*reach_r = (struct store_reach){0};
	if (open == NULL)
		return reason_set_errno(reason, "%s", directory);
	while ((entry = readdir(open)) != NULL) {
		if (layout_parse(entry->d_name, &day) == 1 &&
		    day != LAYOUT_ODD &&
		    (reach_r->first_wall_ns == 0 ||
			day * CLOCK_NS_PER_DAY < reach_r->first_wall_ns))
			reach_r->first_wall_ns = day * CLOCK_NS_PER_DAY;
		written = written_ns(dirfd(open), entry->d_name);
		if (written > reach_r->written_wall_ns)
			reach_r->written_wall_ns = written;
	}
	closedir(open);
	return 0;
}

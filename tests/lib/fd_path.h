/* SPDX-License-Identifier: BSD-2-Clause */
/* fd_path: which file a descriptor is of, for tests that stand in for system
 * calls. */
#ifndef TESTS_LIB_FD_PATH_H
#define TESTS_LIB_FD_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FD_PATH_SIZE (PATH_MAX + 300)

/* "" when it has no path. */
static inline const char *
fd_path(int fd, char path_r[FD_PATH_SIZE])
{
	char link[64];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path_r, FD_PATH_SIZE - 1);
	path_r[size > 0 ? size : 0] = '\0';
	return path_r;
}

static inline bool
fd_path_ends_in(int fd, const char *end)
{
	char path[FD_PATH_SIZE];
	size_t size = strlen(fd_path(fd, path)), end_size = strlen(end);

	return size >= end_size && strcmp(path + size - end_size, end) == 0;
}

#endif

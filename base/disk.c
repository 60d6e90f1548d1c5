/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by who shows it on /metrics. */
#include "base/disk.h"

#include <sys/statvfs.h>

int64_t
disk_available_bytes(const char *path)
{
	struct statvfs system;

	if (statvfs(path, &system) != 0)
		return -1;
	return (int64_t)((uint64_t)system.f_bavail * system.f_frsize);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* small_disk: a disk that is said to be so full that logs of a few pages are
 * large, and begun anew again and again. */
#ifndef TESTS_STORE_SMALL_DISK_H
#define TESTS_STORE_SMALL_DISK_H

#include <sys/statvfs.h>

#define LARGE_PAGES 20 /* a log may take a quarter of the disk */
#define PAGE_BYTES 4096

int
statvfs(const char *path, struct statvfs *system)
{
	(void)path;
	*system = (struct statvfs){
	    .f_frsize = PAGE_BYTES, .f_bavail = 4 * LARGE_PAGES};
	return 0;
}

#endif

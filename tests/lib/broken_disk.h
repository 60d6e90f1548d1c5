/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broken_disk: a disk that fails to read some blocks of whatever file.
 *
 * The test that includes this reads by this pread(2) instead of the system's,
 * and the code that it tests does too.
 */
#ifndef TESTS_LIB_BROKEN_DISK_H
#define TESTS_LIB_BROKEN_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISK_BLOCK_BYTES 4096

static struct {
	off_t begin, end; /* unreadable, whole blocks */
	bool works;       /* all the same */
} disk;

ssize_t pread(int fd, void *data, size_t size, off_t offset);

/* Like the page cache: up to the first block that cannot be read. */
ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
	struct stat status;

	if (disk.works || offset >= disk.end ||
	    (fstat(fd, &status) == 0 && offset >= status.st_size))
		return syscall(SYS_pread64, fd, data, size, offset);
	if (offset >= disk.begin) {
		errno = EIO;
		return -1;
	}
	if (offset + (off_t)size > disk.begin)
		size = (size_t)(disk.begin - offset);
	return syscall(SYS_pread64, fd, data, size, offset);
}

static inline void
break_blocks(off_t first, off_t count)
{
	disk.begin = first * DISK_BLOCK_BYTES;
	disk.end = (first + count) * DISK_BLOCK_BYTES;
}

#endif

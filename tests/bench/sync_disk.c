/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the disk alone takes, which commits do not wait for: writes 4096 bytes
 * into a file and has them on the disk, again and again with a pause, until its
 * input ends; then tells how long that took at most, in milliseconds, without
 * waiting for the processor. The file has its size before, so that the file
 * system's own journal, for which others would wait, is not written each time.
 *
 *     sync_disk FILE
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/processor_time.h"

#define PAGE_BYTES 4096
#define PAGES 256
#define PAUSE_MS 20

/* Returns 0, or -1 with errno. */
static int
fill(int fd)
{
	static char bytes[PAGES * PAGE_BYTES];

	if (pwrite(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -1;
	return fsync(fd);
}

/* Returns 0, or -1 with errno. */
static int
write_page(int fd, int page, int64_t *took_ns_r)
{
	static const char bytes[PAGE_BYTES];
	int64_t start_ns = clock_stamp().monotonic_ns;
	int64_t queued_ns = processor_time().queued_ns;

	if (pwrite(fd, bytes, sizeof(bytes), (off_t)page * PAGE_BYTES) < 0 ||
	    fdatasync(fd) != 0)
		return -1;
	queued_ns = processor_time().queued_ns - queued_ns;
	*took_ns_r = clock_stamp().monotonic_ns - start_ns - queued_ns;
	return 0;
}

int
main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	const char *path = argc == 2 ? argv[1] : "";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int64_t longest_ns = 0, took_ns;

	if (fill(fd) != 0) {
		perror(path);
		return 1;
	}
	for (int page = 0; poll(&input, 1, PAUSE_MS) == 0;
	     page = (page + 1) % PAGES) {
		if (write_page(fd, page, &took_ns) != 0) {
			perror(path);
			return 1;
		}
		if (took_ns > longest_ns)
			longest_ns = took_ns;
	}
	printf("%.1f\n", (double)longest_ns / 1e6);
	return 0;
}

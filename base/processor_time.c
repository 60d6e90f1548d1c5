/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by who wants to know what something took. */
#include "base/processor_time.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static int64_t
spent_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return spent.tv_sec * CLOCK_NS_PER_SECOND + spent.tv_nsec;
}

/* "spent queued slices" */
static int64_t
queued_ns(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char line[80] = "";
	int64_t queued = 0;

	if (fd < 0)
		return 0;
	if (read(fd, line, sizeof(line) - 1) <= 0 ||
	    sscanf(line, "%*s %" SCNd64, &queued) != 1)
		queued = 0;
	close(fd);
	return queued;
}

struct processor_time
processor_time(void)
{
	return (struct processor_time){
	    .spent_ns = spent_ns(), .queued_ns = queued_ns()};
}

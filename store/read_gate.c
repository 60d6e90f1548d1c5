/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by reader_file.c, and by the checkpoint thread. */
#include "store/read_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

int
read_gate(const char *directory)
{
	return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Waits for the lock in steps, for flock(2) itself knows no limit. */
static bool
lock(int gate, int operation)
{
	static const struct timespec step = {.tv_nsec = 1000000};

	for (int ms = 0; flock(gate, operation | LOCK_NB) != 0; ms++) {
		if ((errno != EWOULDBLOCK && errno != EINTR) ||
		    ms >= READ_GATE_MS)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

void
read_gate_pass(int gate)
{
	if (gate >= 0 && lock(gate, LOCK_SH))
		flock(gate, LOCK_UN);
}

bool
read_gate_close(int gate)
{
	return gate >= 0 && lock(gate, LOCK_EX);
}

void
read_gate_open(int gate)
{
	if (gate >= 0)
		flock(gate, LOCK_UN);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals as requests. Blocked by daemon.c before there are threads, taken by a
 * program on its main thread.
 */
#include "base/daemon.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/daemon_process.h"

static int signal_fd = -1;

static const struct {
	int number;
	enum daemon_request request;
} signals[] = {
    {SIGTERM, DAEMON_STOP},
    {SIGINT, DAEMON_STOP},
    {SIGHUP, DAEMON_RELOAD},
    {SIGUSR1, DAEMON_RELOAD},
};

#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

static sigset_t
signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&set, signals[i].number);
	return set;
}

void
daemon_signals_block(void)
{
	sigset_t set = signal_set();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static enum daemon_request
signal_request(int number)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		if (signals[i].number == number)
			return signals[i].request;
	}
	return DAEMON_NOTHING;
}

enum daemon_request
daemon_wait(void)
{
	sigset_t set = signal_set();
	int number;

	do {
		number = sigwaitinfo(&set, NULL);
	} while (number < 0 && errno == EINTR);
	return signal_request(number);
}

int
daemon_signal_fd(void)
{
	sigset_t set = signal_set();

	if (signal_fd < 0)
		signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd;
}

enum daemon_request
daemon_signal_read(void)
{
	struct signalfd_siginfo info;

	if (read(daemon_signal_fd(), &info, sizeof(info)) != sizeof(info))
		return DAEMON_NOTHING;
	return signal_request((int)info.ssi_signo);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by watch.c, between looks at the store. */
#include "cli/store_watch.h"

#include <poll.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#define WRITTEN                                                                \
	(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR)
#define GONE (IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)
#define UNWATCHED_NS CLOCK_NS_PER_SECOND

struct store_watch {
	const char *directory;
	int fd;     /* -1: there is none to be had */
	int number; /* of the directory; -1: it is not watched */
};

struct store_watch *
store_watch_new(const char *directory)
{
	struct store_watch *watch = memory_zeroed(1, sizeof(*watch));

	watch->directory = directory;
	watch->number = -1;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd >= 0)
		watch->number =
		    inotify_add_watch(watch->fd, directory, WRITTEN);
	return watch;
}

void
store_watch_free(struct store_watch **watch)
{
	if (*watch == NULL)
		return;
	if ((*watch)->fd >= 0)
		close((*watch)->fd);
	free(*watch);
	*watch = NULL;
}

/* Forgets what happened so far, and a directory that is gone. */
static void
drain(struct store_watch *watch)
{
	alignas(struct inotify_event) char events[16 << 10];
	uint32_t happened = 0;
	ssize_t size;

	while ((size = read(watch->fd, events, sizeof(events))) > 0)
		for (char *at = events; at < events + size;) {
			const struct inotify_event *event = (void *)at;

			if (event->wd == watch->number)
				happened |= event->mask;
			at += sizeof(*event) + event->len;
		}
	if ((happened & GONE) == 0)
		return;
	inotify_rm_watch(watch->fd, watch->number);
	watch->number = -1;
}

int
store_watch_wait(struct store_watch *watch, int64_t longest_ns)
{
	struct pollfd fds[] = {
	    {.fd = STDOUT_FILENO},
	    {.fd = watch->fd, .events = POLLIN},
	};
	struct timespec timeout;

	if (watch->fd >= 0 && watch->number < 0)
		watch->number =
		    inotify_add_watch(watch->fd, watch->directory, WRITTEN);
	if (watch->number < 0 && longest_ns > UNWATCHED_NS)
		longest_ns = UNWATCHED_NS;
	timeout = (struct timespec){
	    longest_ns / CLOCK_NS_PER_SECOND, longest_ns % CLOCK_NS_PER_SECOND};
	if (ppoll(fds, 2, &timeout, NULL) <= 0)
		return 0;
	if ((fds[0].revents & (POLLERR | POLLHUP)) != 0)
		return -1;
	if (fds[1].revents != 0)
		drain(watch);
	return 0;
}

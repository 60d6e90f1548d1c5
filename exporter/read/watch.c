/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ingest thread's inotify descriptor, in one of epoll(7) with those of
 * others. What happened is not looked at more closely than whether it was in
 * the top directory: the readers know best what there is to read.
 */
#include "exporter/read/watch.h"

#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reason.h"

/* A writer that closes its files frees its lock, which ends a torn tail. */
#define JOURNAL_EVENTS                                                         \
	(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR)
/* A journal whose mode changed may have become readable. */
#define TOP_EVENTS (IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)

struct watch {
	char *directory;
	int epoll_fd; /* readable when one of its descriptors is */
	int fd;       /* of inotify */
	int top;
};

static int
add_fd(struct watch *watch, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

struct watch *
watch_open(const char *directory, struct reason *reason)
{
	struct watch *watch = memory_zeroed(1, sizeof(*watch));

	watch->directory = memory_string(directory);
	watch->top = -1;
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->epoll_fd >= 0 && watch->fd >= 0 &&
	    add_fd(watch, watch->fd) == 0)
		watch->top =
		    inotify_add_watch(watch->fd, directory, TOP_EVENTS);
	if (watch->top >= 0)
		return watch;
	reason_set_errno(reason, "cannot watch %s", directory);
	watch_free(&watch);
	return NULL;
}

int
watch_add_path(struct watch *watch, const char *path, uint32_t events,
    struct reason *reason)
{
	int number = inotify_add_watch(watch->fd, path, events | IN_MASK_ADD);

	if (number < 0)
		return reason_set_errno(reason, "cannot watch %s", path);
	return number;
}

int
watch_add(struct watch *watch, const char *name, struct reason *reason)
{
	char *path = memory_format("%s/%s", watch->directory, name);
	int result = 0;

	if (inotify_add_watch(watch->fd, path, JOURNAL_EVENTS) < 0)
		result = reason_set_errno(reason, "cannot watch %s", path);
	free(path);
	return result;
}

int
watch_add_fd(struct watch *watch, int fd, struct reason *reason)
{
	if (add_fd(watch, fd) != 0)
		return reason_set_errno(reason, "cannot watch a descriptor");
	return 0;
}

int
watch_fd(const struct watch *watch)
{
	return watch->epoll_fd;
}

bool
watch_drain(struct watch *watch)
{
	alignas(struct inotify_event) char events[16 << 10];
	bool top = false;
	ssize_t size;

	while ((size = read(watch->fd, events, sizeof(events))) > 0)
		for (char *at = events; at < events + size;) {
			const struct inotify_event *event = (void *)at;

			top |= event->wd == watch->top ||
			       (event->mask & IN_Q_OVERFLOW) != 0;
			at += sizeof(*event) + event->len;
		}
	return top;
}

void
watch_free(struct watch **watch)
{
	if (*watch == NULL)
		return;
	if ((*watch)->fd >= 0)
		close((*watch)->fd);
	if ((*watch)->epoll_fd >= 0)
		close((*watch)->epoll_fd);
	free((*watch)->directory);
	free(*watch);
	*watch = NULL;
}

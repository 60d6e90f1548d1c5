/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of the helper's socket: what the exporter asks on its ingest
 * thread, and the other process, which serves until the socket is closed.
 */
#include "exporter/queue/queue_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/user.h"

struct question {
	struct queue_ticket ticket;
	uint32_t directory;
	char queue_id[QUEUE_ID_MAX + 1];
};

struct answer {
	struct queue_ticket ticket;
	uint8_t place, committed;
};

/* Why it cannot serve; empty: it can. */
struct readiness {
	char trouble[256];
};

/* The descriptor of the socket in the helper. */
#define HELPER_FD 3

static int
answer(const struct queue_helper_settings *settings,
    const struct question *question)
{
	struct queue_finding finding = {.place = QUEUE_UNKNOWN};
	struct answer reply;

	if (question->directory < settings->directory_count &&
	    memchr(question->queue_id, '\0', sizeof(question->queue_id)) !=
		NULL)
		finding =
		    queue_find(&settings->directories[question->directory],
			question->queue_id);
	memset(&reply, 0, sizeof(reply));
	reply.ticket = question->ticket;
	reply.place = (uint8_t)finding.place;
	reply.committed = finding.committed;
	return send(HELPER_FD, &reply, sizeof(reply), 0) == sizeof(reply) ? 0
									  : -1;
}

static void
serve(const struct queue_helper_settings *settings)
{
	struct question question;
	ssize_t size;

	for (;;) {
		size = recv(HELPER_FD, &question, sizeof(question), 0);
		if (size < 0 && errno == EINTR)
			continue;
		if (size != sizeof(question) ||
		    answer(settings, &question) != 0)
			return;
	}
}

/* Nothing of the parent's stays open but the socket. */
static int
close_others(int socket_fd, struct reason *reason)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd < 0)
		return reason_set_errno(reason, "/dev/null");
	/* Out of the way of the numbers that follow. */
	socket_fd = fcntl(socket_fd, F_DUPFD, HELPER_FD + 1);
	if (socket_fd < 0)
		return reason_set_errno(reason, "queue helper");
	for (int fd = 0; fd < HELPER_FD; fd++)
		dup2(null_fd, fd);
	dup2(socket_fd, HELPER_FD);
	if (syscall(SYS_close_range, HELPER_FD + 1, ~0u, 0) != 0)
		for (int fd = HELPER_FD + 1; fd < (int)sysconf(_SC_OPEN_MAX);
		     fd++)
			close(fd);
	return 0;
}

static void
limit(int resource, rlim_t most)
{
	const struct rlimit value = {most, most};

	setrlimit((__rlimit_resource_t)resource, &value);
}

/* The order matters: a change of user forgets who is to be told of the
 * parent's death. */
static int
confine(const char *user, pid_t parent, struct reason *reason)
{
	if (user_become_alone(user, reason) != 0)
		return -1;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return reason_set_errno(reason, "queue helper");
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "postlag-queue");
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	if (chdir("/") != 0)
		return reason_set_errno(reason, "/");
	if (getppid() != parent)
		return reason_set(reason, "the exporter has ended");
	return 0;
}

/* An id that no queue has tells whether the directories can be looked at. */
static int
try_directories(
    const struct queue_helper_settings *settings, struct reason *reason)
{
	for (size_t i = 0; i < settings->directory_count; i++)
		if (queue_find(&settings->directories[i], "00000").place ==
		    QUEUE_UNKNOWN)
			return reason_set(reason,
			    "queue_directories: user %s finds no Postfix queue "
			    "in %s",
			    settings->user, settings->directories[i].path);
	return 0;
}

static _Noreturn void
run_helper(
    const struct queue_helper_settings *settings, int socket_fd, pid_t parent)
{
	struct readiness readiness = {.trouble = ""};
	struct reason reason = {.text = ""};
	int result = close_others(socket_fd, &reason);

	if (result == 0)
		result = confine(settings->user, parent, &reason);
	if (result == 0)
		result = try_directories(settings, &reason);
	snprintf(readiness.trouble, sizeof(readiness.trouble), "%.*s",
	    (int)sizeof(readiness.trouble) - 1, reason.text);
	if (send(HELPER_FD, &readiness, sizeof(readiness), 0) ==
		sizeof(readiness) &&
	    result == 0)
		serve(settings);
	_exit(result == 0 ? 0 : 1);
}

bool
queue_helper_is_possible(const char *user)
{
	const struct passwd *entry;

	if (user_may_change())
		return true;
	entry = getpwnam(user);
	return entry != NULL && entry->pw_uid == geteuid();
}

static int
wait_until_ready(struct queue_helper *helper, struct reason *reason)
{
	struct readiness readiness;
	ssize_t size = recv(helper->fd, &readiness, sizeof(readiness), 0);

	if (size != sizeof(readiness))
		reason_set(reason, "the queue helper does not start");
	else if (*readiness.trouble != '\0')
		reason_set(reason, "%.255s", readiness.trouble);
	else if (fcntl(helper->fd, F_SETFL, O_NONBLOCK) != 0)
		reason_set_errno(reason, "queue helper");
	else
		return 0;
	queue_helper_end(helper);
	return -1;
}

int
queue_helper_start(const struct queue_helper_settings *settings,
    struct queue_helper *helper_r, struct reason *reason)
{
	pid_t parent = getpid();
	int fds[2];

	*helper_r = (struct queue_helper){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return reason_set_errno(reason, "queue helper");
	helper_r->pid = fork();
	if (helper_r->pid == 0)
		run_helper(settings, fds[1], parent);
	close(fds[1]);
	helper_r->fd = fds[0];
	if (helper_r->pid > 0)
		return wait_until_ready(helper_r, reason);
	reason_set_errno(reason, "queue helper");
	queue_helper_end(helper_r);
	return -1;
}

/* What became of a call on the socket: 1, 0 for later, or -1 and the end. */
static int
outcome(struct queue_helper *helper, bool done)
{
	if (done)
		return 1;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	queue_helper_end(helper);
	return -1;
}

int
queue_helper_ask(struct queue_helper *helper, const struct queue_ticket *ticket,
    size_t directory, const char *queue_id)
{
	struct question question;
	ssize_t size;

	if (helper->fd < 0)
		return -1;
	memset(&question, 0, sizeof(question));
	question.ticket = *ticket;
	question.directory = (uint32_t)directory;
	/* One that is too long is no queue id either way. */
	snprintf(question.queue_id, sizeof(question.queue_id), "%s",
	    strlen(queue_id) <= QUEUE_ID_MAX ? queue_id : "");
	size = send(helper->fd, &question, sizeof(question), MSG_NOSIGNAL);
	return outcome(helper, size == sizeof(question));
}

int
queue_helper_answer(struct queue_helper *helper, struct queue_ticket *ticket_r,
    struct queue_finding *finding_r)
{
	struct answer reply;
	ssize_t size;

	if (helper->fd < 0)
		return -1;
	size = recv(helper->fd, &reply, sizeof(reply), 0);
	if (size == 0)
		errno = EPIPE;
	if (size == sizeof(reply)) {
		*ticket_r = reply.ticket;
		finding_r->place = reply.place < QUEUE_PLACES
				       ? (enum queue_place)reply.place
				       : QUEUE_UNKNOWN;
		finding_r->committed = reply.committed != 0;
	}
	return outcome(helper, size == sizeof(reply));
}

/* It sees its socket closed and leaves. Nobody waits for that: it may hang on a
 * dead file system, and we may not kill another user's process; the kernel does
 * when we have ended. */
void
queue_helper_end(struct queue_helper *helper)
{
	if (helper->fd >= 0)
		close(helper->fd);
	if (helper->pid > 0)
		waitpid(helper->pid, NULL, WNOHANG);
	*helper = (struct queue_helper){.fd = -1};
}

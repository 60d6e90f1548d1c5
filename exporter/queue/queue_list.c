/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions, one run of postqueue at a time, and its output line by line.
 * Called by queue_lookup on the ingest thread.
 */
#include "exporter/queue/queue_list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <uthash.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"

#define QUESTIONS_MAX 20000
/* A message with all its recipients is one line. */
#define LINE_MAX_BYTES (64u << 20)
/* A run that took long is not repeated before so many times that. */
#define REST_FACTOR 20

struct question {
	char queue_id[QUEUE_ID_MAX + 1];
	struct queue_ticket ticket;
	size_t directory;
	bool running; /* the run at hand is to find it */
	struct queue_finding finding;
	struct question *next; /* among the answered ones */
	UT_hash_handle hh;
};

struct queue_list {
	struct queue_list_settings settings;
	struct question *questions; /* by queue id, in the order they came */
	size_t pending;             /* of them not running */
	struct question *answered;
	pid_t pid; /* 0: no run */
	int fd;
	size_t directory; /* of the run */
	struct buffer output;
	bool failed;
	int64_t started_ns, next_ns;
};

struct queue_list *
queue_list_new(const struct queue_list_settings *settings)
{
	struct queue_list *list = memory_zeroed(1, sizeof(*list));

	list->settings = *settings;
	list->fd = -1;
	list->next_ns = 1;
	list->output.limit = LINE_MAX_BYTES;
	return list;
}

static void
end_process(struct queue_list *list, bool kill_it)
{
	int status = 0;

	close(list->fd);
	list->fd = -1;
	if (kill_it)
		kill(list->pid, SIGKILL);
	while (waitpid(list->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	list->pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		list->failed = true;
}

void
queue_list_free(struct queue_list **list)
{
	struct question *question, *next;

	if (*list == NULL)
		return;
	if ((*list)->pid != 0)
		end_process(*list, true);
	HASH_ITER(hh, (*list)->questions, question, next)
	{
		HASH_DEL((*list)->questions, question);
		free(question);
	}
	while ((question = (*list)->answered) != NULL) {
		(*list)->answered = question->next;
		free(question);
	}
	buffer_free(&(*list)->output);
	free(*list);
	*list = NULL;
}

static struct question *
find(struct queue_list *list, const char *queue_id)
{
	struct question *question;

	HASH_FIND_STR(list->questions, queue_id, question);
	return question;
}

static void
answer(struct queue_list *list, struct question *question)
{
	question->next = list->answered;
	list->answered = question;
}

int
queue_list_ask(struct queue_list *list, const struct queue_ticket *ticket,
    size_t directory, const char *queue_id)
{
	struct question *question;

	if (HASH_COUNT(list->questions) >= QUESTIONS_MAX ||
	    find(list, queue_id) != NULL)
		return 0;
	question = memory_zeroed(1, sizeof(*question));
	question->ticket = *ticket;
	question->directory = directory;
	question->finding.place = QUEUE_UNKNOWN;
	if (!queue_id_is_valid(queue_id)) {
		answer(list, question);
		return 1;
	}
	snprintf(
	    question->queue_id, sizeof(question->queue_id), "%s", queue_id);
	HASH_ADD_STR(list->questions, queue_id, question);
	list->pending++;
	return 1;
}

static enum queue_place
place_by_name(const char *name)
{
	for (unsigned i = QUEUE_INCOMING; i <= QUEUE_SAVED; i++)
		if (strcmp(queue_place_name((enum queue_place)i), name) == 0)
			return (enum queue_place)i;
	return QUEUE_UNKNOWN;
}

/* showq(8) lists only what was received completely. */
static void
take_line(struct queue_list *list, const char *line, size_t size)
{
	json_t *message = json_loadb(line, size, 0, NULL);
	const char *queue_id =
	    json_string_value(json_object_get(message, "queue_id"));
	const char *name =
	    json_string_value(json_object_get(message, "queue_name"));
	struct question *question = NULL;

	if (queue_id == NULL || name == NULL)
		list->failed = true;
	else
		question = find(list, queue_id);
	if (question != NULL && question->running)
		question->finding =
		    (struct queue_finding){place_by_name(name), true};
	json_decref(message);
}

static void
take_lines(struct queue_list *list)
{
	const char *begin = (const char *)list->output.data;
	const char *line = begin, *end = begin + list->output.size, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		if (newline > line)
			take_line(list, line, (size_t)(newline - line));
		line = newline + 1;
	}
	buffer_consume(&list->output, (size_t)(line - begin));
}

/* Returns whether there may be more now. */
static bool
read_some(struct queue_list *list)
{
	static char bytes[64 << 10];
	ssize_t size = read(list->fd, bytes, sizeof(bytes));

	if (size > 0) {
		buffer_append(&list->output, bytes, (size_t)size);
		if (list->output.failed)
			list->failed = true;
		else
			take_lines(list);
		return true;
	}
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	end_process(list, false);
	return false;
}

static void
finish(struct queue_list *list, int64_t now_ns)
{
	struct question *question, *next;
	int64_t rest_ns = (now_ns - list->started_ns) * REST_FACTOR;

	if (list->output.size > 0)
		list->failed = true;
	if (list->failed)
		log_warn("command=%s reason=\"the queue could not be listed\"",
		    list->settings.command);
	HASH_ITER(hh, list->questions, question, next)
	{
		if (!question->running)
			continue;
		if (question->finding.place == QUEUE_ABSENT && list->failed)
			question->finding.place = QUEUE_UNKNOWN;
		HASH_DEL(list->questions, question);
		answer(list, question);
	}
	list->next_ns = now_ns + (rest_ns > list->settings.pause_ns
					 ? rest_ns
					 : list->settings.pause_ns);
}

/* Its output comes to *fd_r. The signals that we block are not for it. */
static int
spawn(
    const char *command, const char *config_directory, pid_t *pid_r, int *fd_r)
{
	char *const arguments[] = {(char *)(uintptr_t)command,
	    (char *)(uintptr_t) "-c", (char *)(uintptr_t)config_directory,
	    (char *)(uintptr_t) "-j", NULL};
	static char *const environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(
	    pid_r, command, &actions, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(fds[1]);
	*fd_r = fds[0];
	if (error == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	close(fds[0]);
	return -1;
}

/* A run is about one instance: that of the question which waits longest. */
static void
start(struct queue_list *list, int64_t now_ns)
{
	struct question *question = list->questions;

	list->directory = question->directory;
	for (; question != NULL; question = question->hh.next)
		if (question->directory == list->directory) {
			question->running = true;
			question->finding.place = QUEUE_ABSENT;
			list->pending--;
		}
	list->started_ns = now_ns;
	list->failed = false;
	buffer_clear(&list->output);
	if (spawn(list->settings.command,
		list->settings.config_directories[list->directory], &list->pid,
		&list->fd) == 0)
		return;
	list->pid = 0;
	list->failed = true;
	finish(list, now_ns);
}

void
queue_list_work(struct queue_list *list, int64_t now_ns)
{
	if (list->pid != 0) {
		while (list->pid != 0 && read_some(list))
			continue;
		if (list->pid != 0 &&
		    now_ns - list->started_ns > list->settings.timeout_ns)
			end_process(list, true);
		if (list->pid == 0)
			finish(list, now_ns);
	}
	if (list->pid == 0 && list->pending > 0 && now_ns >= list->next_ns)
		start(list, now_ns);
}

int
queue_list_answer(struct queue_list *list, struct queue_ticket *ticket_r,
    struct queue_finding *finding_r)
{
	struct question *question = list->answered;

	if (question == NULL)
		return 0;
	*ticket_r = question->ticket;
	*finding_r = question->finding;
	list->answered = question->next;
	free(question);
	return 1;
}

int
queue_list_fd(const struct queue_list *list)
{
	return list->fd;
}

int64_t
queue_list_deadline(const struct queue_list *list)
{
	if (list->pid != 0)
		return list->started_ns + list->settings.timeout_ns;
	return list->pending > 0 ? list->next_ns : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_helper: a small process that may look into Postfix's queue.
 *
 * Queue directories are closed to everybody but Postfix. The helper is forked
 * while we still may become another user, becomes Postfix's, gives up
 * everything else and then answers one kind of question: where is this queue
 * id? So the process that speaks HTTP has no right to the mail. It ends with
 * its parent and is never started again.
 */
#ifndef EXPORTER_QUEUE_QUEUE_HELPER_H
#define EXPORTER_QUEUE_QUEUE_HELPER_H

#include "base/uuid.h"
#include "exporter/queue/queue_find.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reason;

/* The asker's own name for a question; comes back with the answer. */
struct queue_ticket {
	struct uuid message;
	uint32_t number;
};

struct queue_helper_settings {
	const char *user; /* Postfix's mail_owner */
	/* Borrowed while the helper starts. */
	const struct queue_directory *directories;
	size_t directory_count;
};

struct queue_helper {
	int fd; /* non-blocking; -1: there is none */
	pid_t pid;
};

/* Whether we may start one: when we may become that user, or are it. */
bool queue_helper_is_possible(const char *user);

/* Forks it and waits until it is ready: that it can see every directory. To be
 * called before there are threads. Returns 0, or -1. */
int queue_helper_start(const struct queue_helper_settings *settings,
    struct queue_helper *helper_r, struct reason *reason);

/* Asks for `queue_id` in directory number `directory`. Returns 1; 0 when it has
 * enough to do now; -1 when it is gone, which ends it. */
int queue_helper_ask(struct queue_helper *helper,
    const struct queue_ticket *ticket, size_t directory, const char *queue_id);

/* Returns 1 with an answer, in the order of the questions, 0 when there is none
 * yet, -1 when it is gone, which ends it. */
int queue_helper_answer(struct queue_helper *helper,
    struct queue_ticket *ticket_r, struct queue_finding *finding_r);

/* Ends it; fine when there is none. */
void queue_helper_end(struct queue_helper *helper);

#endif

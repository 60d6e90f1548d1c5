/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_list: find queue ids in what `postqueue -j` lists.
 *
 * For those who give us no right to look into the queue: postqueue(1) may be
 * run by anybody. It reads the whole queue each time, so questions are gathered
 * and it is run rarely. A listing is no picture of one moment: it may miss a
 * message that is moving. Nothing here waits. One thread.
 */
#ifndef EXPORTER_QUEUE_QUEUE_LIST_H
#define EXPORTER_QUEUE_QUEUE_LIST_H

#include "exporter/queue/queue_helper.h"

#include <stddef.h>
#include <stdint.h>

struct queue_list;

struct queue_list_settings {
	const char *command; /* postqueue's path */
	/* config_directory of each instance, by number. */
	const char *const *config_directories;
	int64_t pause_ns;   /* between runs, at least */
	int64_t timeout_ns; /* after which a run has failed */
};

/* The settings are copied, what they point to is borrowed. */
struct queue_list *queue_list_new(const struct queue_list_settings *settings);
void queue_list_free(struct queue_list **list);

/* Returns 1; 0 when there are enough questions, or the same one. */
int queue_list_ask(struct queue_list *list, const struct queue_ticket *ticket,
    size_t directory, const char *queue_id);

/* Reads what a run has written, ends it, starts the next one when it is time.
 * `now_ns` is CLOCK_MONOTONIC. */
void queue_list_work(struct queue_list *list, int64_t now_ns);

/* Returns 1 with an answer or 0. QUEUE_UNKNOWN says that the run failed. */
int queue_list_answer(struct queue_list *list, struct queue_ticket *ticket_r,
    struct queue_finding *finding_r);

/* Readable when queue_list_work() has something to do; -1: nothing to read. */
int queue_list_fd(const struct queue_list *list);

/* When queue_list_work() is to be called whatever is readable; 0: never. */
int64_t queue_list_deadline(const struct queue_list *list);

#endif

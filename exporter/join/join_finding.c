/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which message a delivery belongs to, by its stamp or its queue id. Called by
 * join_delivery.c, on the ingest thread.
 */
#include "exporter/join/join_finding.h"

#include <string.h>

#include "exporter/join/fate.h"
#include "exporter/join/open_messages.h"
#include "exporter/maillog/log_instances.h"

static bool
is_empty(const char *text)
{
	return text == NULL || *text == '\0';
}

static bool
has_stamp(const struct delivery_event *delivery)
{
	return uuid_is_set(&delivery->stamp_id);
}

static bool
is_claim(const struct queue_id_claim *claim, const char *instance,
    const char *queue_id)
{
	return strcmp(claim->instance, instance) == 0 &&
	       strcmp(claim->queue_id, queue_id) == 0;
}

bool
join_belongs(const struct tracked *tracked,
    const struct delivery_event *delivery, const char *instance)
{
	const struct open_message *message = tracked_message(tracked);

	if (is_empty(delivery->queue_id))
		return strcmp(message->instance, instance) == 0;
	for (size_t i = 0; i < message->queue_id_count; i++)
		if (is_claim(
			&message->queue_ids[i], instance, delivery->queue_id))
			return true;
	if (strcmp(message->instance, instance) != 0)
		return false;
	return is_empty(message->queue_id) ||
	       strcmp(delivery->queue_id, message->queue_id) == 0;
}

/* A message of which the log does not tell the beginning seems to begin with
 * the line about its delivery. */
static bool
is_told_late(
    const void *context, const struct tracked *tracked, int64_t since_wall_ns)
{
	uint32_t evidence = tracked_message(tracked)->evidence;

	return (evidence & MESSAGE_TOLD) != 0 &&
	       (evidence & MESSAGE_BEGUN) == 0;
}

static struct tracked *
find_told(struct join *join, const struct queue_id_key *key,
    const struct delivery_event *delivery)
{
	struct queue_id_key later = *key;

	later.before_wall_ns = delivery->end_at.wall_ns + CLOCKS_DIFFER_NS;
	return open_messages_find_queue_id(
	    join->messages, &later, is_told_late, NULL);
}

/* A queue id that is used again. */
static bool
is_of_later(struct join *join, const struct join_finding *finding)
{
	const struct queue_id_claim claim = {
	    .instance = finding->segment->instance,
	    .queue_id = finding->delivery->queue_id,
	    .since_wall_ns = finding->delivery->mail_at.wall_ns,
	};

	return join->instances != NULL &&
	       join_log_began_later(join, finding->message, &claim);
}

static int
find_known(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	const struct queue_id_key key = {
	    .instance = finding->segment->instance,
	    .queue_id = delivery->queue_id,
	    .before_wall_ns = delivery->mail_at.wall_ns,
	};
	int result = 1;

	if (is_empty(delivery->queue_id))
		return 0;
	finding->message =
	    open_messages_find_queue_id(join->messages, &key, NULL, NULL);
	if (finding->message == NULL)
		finding->message = find_told(join, &key, delivery);
	if (finding->message == NULL)
		result =
		    join_find_stored(join, &key, &finding->message, reason);
	if (result == 1 && is_of_later(join, finding)) {
		open_messages_settle(join->messages, finding->message);
		finding->message = NULL;
		return 0;
	}
	if (result == 1)
		finding->state = LEG_QUEUE_ID;
	return result;
}

/* Whether the log may yet tell that the mail goes on under another queue id. */
static bool
may_be_linked(struct join *join, const struct join_finding *finding)
{
	return join->instances != NULL &&
	       log_instances_find_instance(
		   join->instances, finding->segment->instance) != NULL;
}

/* With a log, which will tell of the mail too, it is a message. */
static int
add_unseen(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	struct unseen_message unseen = {
	    .event =
		{
		    .queue_id = delivery->queue_id,
		    .message_id = delivery->message_id,
		    .sender = delivery->sender,
		    .mail_at = {delivery->mail_at.wall_ns, 0},
		},
	    .instance = finding->segment->instance,
	    .file = finding->file,
	};

	if (is_empty(delivery->queue_id) || !may_be_linked(join, finding))
		return 0;
	finding->state = LEG_QUEUE_ID;
	return join_add_unseen(join, &unseen, &finding->message, reason);
}

/* What an unknown id's own queue id says: whether it may be this mail's, of
 * which the message is still to come. */
enum stamp_claim { CLAIM_OTHER_MAIL, CLAIM_NOTHING, CLAIM_THIS_MAIL };

static enum stamp_claim
stamp_claim(const struct delivery_event *delivery)
{
	if (is_empty(delivery->stamp_queue_id))
		return CLAIM_NOTHING;
	if (is_empty(delivery->queue_id) ||
	    strcmp(delivery->stamp_queue_id, delivery->queue_id) == 0)
		return CLAIM_THIS_MAIL;
	return CLAIM_OTHER_MAIL;
}

int
join_find_by_queue_id(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	int found = find_known(join, finding, reason);

	if (found != 0)
		return found;
	if (add_unseen(join, finding, reason) != 0)
		return -1;
	return finding->message != NULL;
}

/* By the stamp, which says with *otherwise_r what the delivery is if it is not
 * the message's. Returns 1, 0, or -1. */
static int
find_stamped(struct join *join, struct join_finding *finding,
    enum leg_state *otherwise_r, struct reason *reason)
{
	const struct delivery_event *delivery = finding->delivery;
	struct day_file *file;
	int found = has_stamp(delivery) ? join_find(join, &delivery->stamp_id,
					      &finding->message, reason)
					: 0;

	*otherwise_r = has_stamp(delivery) ? LEG_FOREIGN : LEG_UNSTAMPED;
	if (found == 0 && has_stamp(delivery) &&
	    (stamp_claim(delivery) != CLAIM_OTHER_MAIL ||
		may_be_linked(join, finding)))
		*otherwise_r = LEG_WAITING;
	if (found != 1)
		return found;
	finding->state = LEG_STAMPED;
	if (join_belongs(
		finding->message, delivery, finding->segment->instance))
		return 1;
	/* If it turns out to be the message's after all, it must be in its
	 * file, unless that is too old. */
	file = tracked_message(finding->message)->key.file;
	if (finding->file == NULL && store_writes(join->store, file)) {
		finding->file = file;
		if (may_be_linked(join, finding))
			*otherwise_r = LEG_WAITING;
	}
	open_messages_settle(join->messages, finding->message);
	finding->message = NULL;
	return 0;
}

int
join_find_message(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	enum leg_state otherwise;
	int found = find_stamped(join, finding, &otherwise, reason);

	if (found != 0)
		return found < 0 ? -1 : 0;
	finding->state = otherwise;
	if (otherwise == LEG_WAITING &&
	    stamp_claim(finding->delivery) != CLAIM_NOTHING)
		return 0;
	return join_find_by_queue_id(join, finding, reason) < 0 ? -1 : 0;
}

int
join_find_now(
    struct join *join, struct join_finding *finding, struct reason *reason)
{
	enum leg_state otherwise;
	int found = find_stamped(join, finding, &otherwise, reason);

	if (found != 0)
		return found < 0 ? -1 : 0;
	finding->state = otherwise == LEG_WAITING ? LEG_FOREIGN : otherwise;
	return join_find_by_queue_id(join, finding, reason) < 0 ? -1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom to ask about and what the answers mean. Called by ingest between
 * reading and committing, on its thread. Nothing of it is kept on disk but the
 * evidence: who is killed in between looks again.
 */
#include "exporter/join/loss.h"

#include <stdlib.h>

#include "base/memory.h"
#include "exporter/join/evidence.h"
#include "exporter/join/open_messages.h"
#include "exporter/queue/queue_lookup.h"
#include "exporter/read/log_trust.h"

/* What was found is looked for again after twice the time, up to so many times
 * the first. */
#define PAUSE_FACTOR_MAX 6
/* After which an answer is no longer waited for. */
#define ANSWER_MAX_SECONDS 600

/* There is, or was, a queue file. */
#define CONFIRMED (MESSAGE_QUEUED | MESSAGE_SEEN_BY_HOOK | MESSAGE_IN_QUEUE)
/* What a look says and the next one may take back. */
#define SEEN                                                                   \
	(MESSAGE_ABSENT | MESSAGE_BLIND | MESSAGE_SEEN_HELD |                  \
	    MESSAGE_SEEN_CORRUPT)

struct answer {
	struct queue_ticket ticket;
	struct queue_finding finding;
};

struct loss {
	struct queue_lookup *lookup;
	const struct log_trust *trust;
	uint32_t after, confirm, ghost_after; /* seconds */
	int64_t after_ns, ghost_after_ns;
	uint32_t looks_per_second;
	uint32_t second, looks; /* how many in the present second */
	struct answer *answers;
	size_t answer_count, answer_capacity;
	uint64_t answered[QUEUE_PLACES];
};

/* A message that is looked at. */
struct subject_look {
	struct subject subject;
	const struct open_message *message;
	struct look *look;
	struct look_times *times;
	uint32_t now;
};

static uint32_t
seconds(int64_t ns)
{
	return (uint32_t)((ns + CLOCK_NS_PER_SECOND - 1) / CLOCK_NS_PER_SECOND);
}

struct loss *
loss_new(const struct loss_settings *settings, struct queue_lookup *lookup,
    const struct log_trust *trust)
{
	struct loss *loss = memory_zeroed(1, sizeof(*loss));

	loss->lookup = lookup;
	loss->trust = trust;
	loss->after_ns = settings->after_ns;
	loss->ghost_after_ns = settings->ghost_after_ns;
	loss->after = seconds(settings->after_ns);
	loss->confirm = seconds(settings->confirm_ns);
	loss->ghost_after = seconds(settings->ghost_after_ns);
	loss->looks_per_second = (uint32_t)settings->looks_per_second;
	return loss;
}

void
loss_free(struct loss **loss)
{
	if (*loss == NULL)
		return;
	free((*loss)->answers);
	free(*loss);
	*loss = NULL;
}

static struct subject_look
look_at(struct open_messages *messages, struct tracked *tracked)
{
	struct look_times *times = open_messages_looks(messages);

	return (struct subject_look){
	    .subject = {messages, tracked},
	    .message = tracked_message(tracked),
	    .look = tracked_look(tracked),
	    .times = times,
	    .now = look_times_now(times),
	};
}

static void
look_again(const struct subject_look *at, uint32_t after)
{
	look_times_set(at->times, at->look, at->now + after);
}

static void
forget_absences(struct look *look)
{
	look->absences = 0;
	look->absent = 0;
}

static bool
is_confirmed(const struct open_message *message)
{
	return (message->evidence & CONFIRMED) != 0;
}

/* Whether what the queue says of the message still matters. */
static bool
is_of_interest(const struct open_message *message)
{
	if (message->evidence & MESSAGE_ABSENT)
		return true;
	for (size_t i = 0; i < message->recipient_count; i++)
		if (fate_is_open(message->recipients[i].state))
			return true;
	return false;
}

/* The queue ids of a message, the latest first; NULL behind the last. */
static struct queue_id_claim
claim(const struct open_message *message, uint32_t number)
{
	size_t count = message->queue_id_count;

	if (number < count)
		return message->queue_ids[count - 1 - number];
	return (struct queue_id_claim){
	    .instance = message->instance,
	    .queue_id = number == count ? message->queue_id : NULL,
	};
}

/* Returns whether an answer will come, or none is needed. */
static bool
ask(struct loss *loss, const struct subject_look *at, uint32_t number)
{
	const struct queue_ticket ticket = {at->message->id, number};
	const struct queue_id_claim about = claim(at->message, number);
	int asked;

	if (about.queue_id == NULL ||
	    !queue_lookup_knows(loss->lookup, about.instance)) {
		look_again(at, PAUSE_FACTOR_MAX * loss->after);
		return true;
	}
	asked = queue_lookup_ask(
	    loss->lookup, &ticket, about.instance, about.queue_id);
	look_again(at, asked == 1 ? ANSWER_MAX_SECONDS : 1);
	if (asked == 1) {
		at->look->asked = at->now;
		loss->looks++;
	}
	return asked == 1;
}

/* Returns false when no more can be asked now. */
static bool
consider(struct loss *loss, const struct subject_look *at)
{
	uint32_t silence =
	    is_confirmed(at->message) ? loss->after : loss->ghost_after;

	at->look->asked = 0;
	if (!is_of_interest(at->message))
		return true;
	if (at->look->active >= at->look->absent)
		forget_absences(at->look);
	if ((at->message->evidence & SEEN) == 0 && at->look->absent == 0 &&
	    at->now - at->look->active < silence) {
		look_again(at, at->look->active + silence - at->now);
		return true;
	}
	return ask(loss, at, 0);
}

static void
take_answers(struct loss *loss, const struct stamp *now)
{
	struct answer answer;

	while (queue_lookup_answer(loss->lookup, now->monotonic_ns,
		   &answer.ticket, &answer.finding) == 1) {
		if (loss->answer_count == loss->answer_capacity) {
			loss->answer_capacity = 2 * loss->answer_capacity + 64;
			loss->answers = memory_resize(loss->answers,
			    loss->answer_capacity, sizeof(*loss->answers));
		}
		loss->answers[loss->answer_count++] = answer;
		loss->answered[answer.finding.place]++;
	}
}

void
loss_look(
    struct loss *loss, struct open_messages *messages, const struct stamp *now)
{
	struct look_times *times = open_messages_looks(messages);
	uint32_t second = (uint32_t)(now->monotonic_ns / CLOCK_NS_PER_SECOND);
	bool more = true;
	struct look *look;

	look_times_set_now(times, second);
	if (loss->lookup == NULL)
		return;
	look_times_set_first(times,
	    loss->ghost_after < loss->after ? loss->ghost_after : loss->after);
	take_answers(loss, now);
	if (second != loss->second)
		loss->looks = 0;
	loss->second = second;
	while (more && loss->looks < loss->looks_per_second &&
	       (look = look_times_next(times)) != NULL) {
		const struct subject_look at =
		    look_at(messages, look_tracked(look));

		more = consider(loss, &at);
	}
}

bool
loss_has_answers(const struct loss *loss)
{
	return loss->answer_count > 0;
}

static int
conclude(const struct subject_look *at, uint32_t set, struct reason *reason)
{
	bool is_back = (set & (MESSAGE_ABSENT | MESSAGE_SEEN_CORRUPT)) == 0;
	const struct message_news news = {
	    .set = set,
	    .clear = (SEEN & ~set) | (is_back ? MESSAGE_ACKNOWLEDGED : 0),
	};

	return evidence_of_message(&at->subject, &news, reason);
}

/* In some queue: it is looked for again after a longer while. */
static int
found(struct loss *loss, const struct subject_look *at,
    const struct queue_finding *finding, struct reason *reason)
{
	struct look *look = at->look;
	uint32_t set = finding->committed ? MESSAGE_IN_QUEUE : 0;
	int result;

	if (finding->place == QUEUE_HOLD)
		set |= MESSAGE_SEEN_HELD;
	if (finding->place == QUEUE_CORRUPT)
		set = MESSAGE_SEEN_CORRUPT;
	result = conclude(at, set, reason);
	look->pause = look->pause == 0 ? loss->after : 2 * look->pause;
	if (look->pause > PAUSE_FACTOR_MAX * loss->after)
		look->pause = PAUSE_FACTOR_MAX * loss->after;
	forget_absences(look);
	look_again(at, look->pause);
	return result;
}

static int64_t
begin_wall_ns(const struct open_message *message)
{
	return message->mail_at.wall_ns != 0 ? message->mail_at.wall_ns
					     : uuid_wall_ns(&message->id);
}

static bool
is_old_enough(const struct loss *loss, const struct subject_look *at,
    const struct stamp *now)
{
	int64_t age_ns = now->wall_ns - begin_wall_ns(at->message);
	unsigned needed =
	    queue_lookup_absences(loss->lookup, claim(at->message, 0).instance);

	return at->look->absences >= needed &&
	       at->now - at->look->absent >= loss->confirm &&
	       age_ns >= (is_confirmed(at->message) ? loss->after_ns
						    : loss->ghost_after_ns);
}

/* What the hook saw, the log must have told, too. */
static bool
is_told(const struct loss *loss, const struct open_message *message,
    const struct stamp *now)
{
	uint32_t seen =
	    message->evidence & (MESSAGE_SEEN_BY_HOOK | MESSAGE_QUEUED);

	return loss->trust != NULL && seen != MESSAGE_SEEN_BY_HOOK &&
	       log_trust_covers(loss->trust, claim(message, 0).instance,
		   begin_wall_ns(message), now->wall_ns);
}

static int
absent(struct loss *loss, const struct subject_look *at,
    const struct stamp *now, struct reason *reason)
{
	struct look *look = at->look;
	uint32_t set = MESSAGE_ABSENT;

	if (look->absences++ == 0)
		look->absent = at->now;
	if (look->absences == UINT8_MAX)
		look->absences--;
	if ((at->message->evidence & MESSAGE_ABSENT) == 0 &&
	    !is_old_enough(loss, at, now)) {
		look_again(at, loss->confirm);
		return 0;
	}
	if (!is_told(loss, at->message, now))
		set |= MESSAGE_BLIND;
	if (conclude(at, set, reason) != 0)
		return -1;
	look_again(at, PAUSE_FACTOR_MAX * loss->after);
	return 0;
}

static int
apply(struct loss *loss, const struct subject_look *at,
    const struct answer *answer, const struct stamp *now, struct reason *reason)
{
	struct look *look = at->look;
	uint32_t asked = look->asked;

	look->asked = 0;
	if (answer->finding.place == QUEUE_UNKNOWN) {
		look_again(at, loss->confirm);
		return 0;
	}
	if (answer->finding.place != QUEUE_ABSENT)
		return found(loss, at, &answer->finding, reason);
	/* Something happened meanwhile: the absence may be older than it. */
	if (look->active >= asked) {
		forget_absences(look);
		look_again(at, loss->confirm);
		return 0;
	}
	if (claim(at->message, answer->ticket.number + 1).queue_id != NULL) {
		ask(loss, at, answer->ticket.number + 1);
		return 0;
	}
	return absent(loss, at, now, reason);
}

int
loss_apply(struct loss *loss, struct open_messages *messages,
    const struct stamp *now, struct reason *reason)
{
	int result = 0;

	for (size_t i = 0; i < loss->answer_count && result == 0; i++) {
		const struct answer *answer = &loss->answers[i];
		struct tracked *tracked =
		    open_messages_find(messages, &answer->ticket.message);
		struct subject_look at;

		if (tracked == NULL)
			continue;
		at = look_at(messages, tracked);
		if (at.look->asked != 0 && is_of_interest(at.message))
			result = apply(loss, &at, answer, now, reason);
		open_messages_settle(messages, tracked);
	}
	loss->answer_count = 0;
	return result;
}

int64_t
loss_deadline(const struct loss *loss, struct open_messages *messages)
{
	int64_t answer_ns, look_ns;
	uint32_t due;

	if (loss->lookup == NULL)
		return 0;
	due = look_times_deadline(open_messages_looks(messages));
	if (due != 0 && due <= loss->second)
		due = loss->second + 1;
	look_ns = (int64_t)due * CLOCK_NS_PER_SECOND;
	answer_ns = queue_lookup_deadline(loss->lookup);
	if (answer_ns != 0 && (look_ns == 0 || answer_ns < look_ns))
		return answer_ns;
	return look_ns;
}

void
loss_fds(const struct loss *loss, int fds_r[LOSS_FDS])
{
	_Static_assert(LOSS_FDS == QUEUE_LOOKUP_FDS, "the lookup's");

	for (size_t i = 0; i < LOSS_FDS; i++)
		fds_r[i] = -1;
	if (loss->lookup != NULL)
		queue_lookup_fds(loss->lookup, fds_r);
}

enum loss_detection
loss_detection(const struct loss *loss, int64_t wall_ns)
{
	if (loss->lookup == NULL || loss->trust == NULL)
		return LOSS_OFF;
	return log_trust_is_alive(loss->trust, wall_ns) ? LOSS_ON : LOSS_BLIND;
}

const uint64_t *
loss_answers(const struct loss *loss)
{
	return loss->answered;
}

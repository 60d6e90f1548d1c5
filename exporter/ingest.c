/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ingest thread. A batch begins with the first event read and is committed
 * after commit_interval or commit_events, whichever comes first; in between
 * the thread sleeps through the interval rather than waking for every event.
 * Without a batch it sleeps until a journal grows.
 */
#include "exporter/ingest.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/apply.h"
#include "exporter/batch_size.h"
#include "exporter/gauges.h"
#include "exporter/join/address.h"
#include "exporter/join/join.h"
#include "exporter/join/loss.h"
#include "exporter/maillog/log_limit.h"
#include "exporter/privacy/privacy_filter.h"
#include "exporter/read/log_trust.h"
#include "exporter/read/sources.h"
#include "exporter/read/watch.h"
#include "exporter/serve/published.h"
#include "exporter/upkeep.h"
#include "store/store.h"

#define FIRST_PAUSE_NS (100 * INT64_C(1000000))
#define LONGEST_PAUSE_NS (30 * CLOCK_NS_PER_SECOND)
/* After which a journal that could not be read is tried again. */
#define RETRY_NS CLOCK_NS_PER_SECOND

struct ingest {
	struct ingest_settings settings;
	struct store *store;
	struct published *published;
	struct watch *watch;
	struct sources *sources;
	struct privacy_filter *filter;
	struct logs logs;
	struct join *join;
	struct loss *loss;
	struct upkeep upkeep;
	struct gauges gauges;
	struct picture picture;
	pthread_t thread;
	int stop_fd;
	atomic_bool stopping;

	struct batch_size batch_size;
	int64_t batch_events; /* applied and not committed */
	int64_t batch_deadline_ns;
	int64_t applied_ns;     /* when the last event was */
	bool at_end, shows_end; /* all that was there is read, and published */
	bool broken; /* the store must be read again before going on */
	int64_t pause_ns;
};

static int64_t
now_ns(void)
{
	return clock_stamp().monotonic_ns;
}

/* When the disk has it. What it is not asked for yet is prepared when it is. */
static void
show(struct ingest *ingest)
{
	bool is_synced = store_has_synced_all(ingest->store);

	if (is_synced || store_is_syncing_all(ingest->store))
		published_prepare(ingest->published, &ingest->picture);
	if (is_synced)
		published_show(ingest->published);
}

static void
publish(struct ingest *ingest)
{
	gauges_fill(&ingest->gauges, ingest->at_end, ingest->picture.live);
	ingest->shows_end = ingest->at_end;
	show(ingest);
}

/* The batch is given up; recover() reads it again after a pause. */
static void
break_off(struct ingest *ingest, const struct reason *reason)
{
	log_error("store=failed reason=\"%s\"", reason->text);
	store_rollback(ingest->store);
	upkeep_break_off(&ingest->upkeep);
	ingest->broken = true;
	ingest->batch_events = 0;
	ingest->pause_ns *= 2;
	if (ingest->pause_ns < FIRST_PAUSE_NS)
		ingest->pause_ns = FIRST_PAUSE_NS;
	if (ingest->pause_ns > LONGEST_PAUSE_NS)
		ingest->pause_ns = LONGEST_PAUSE_NS;
	/* Of the rest, what was shown stays to be seen. */
	published_recall(ingest->published, &ingest->picture);
	gauges_fill_in_trouble(
	    &ingest->gauges, ingest->at_end, ingest->picture.live);
	snprintf(ingest->picture.trouble, sizeof(ingest->picture.trouble), "%s",
	    reason->text);
	published_tell(ingest->published, &ingest->picture);
}

static void
recover(struct ingest *ingest)
{
	struct reason reason;

	if (upkeep_before_batch(&ingest->upkeep, &reason) != 0 ||
	    join_rebuild(ingest->join, now_ns(), &reason) != 0 ||
	    sources_restart(ingest->sources, &reason) != 0)
		break_off(ingest, &reason);
	else
		ingest->broken = ingest->at_end = false;
}

static int
apply(struct ingest *ingest, struct source_record *next, struct reason *reason)
{
	const struct apply apply = {ingest->join, ingest->filter, now_ns()};

	if (ingest->batch_events++ == 0)
		ingest->batch_deadline_ns =
		    apply.now_ns + ingest->settings.commit_interval_ns;
	ingest->applied_ns = apply.now_ns;
	return apply_record(&apply, next, reason);
}

/* What is there when its time has come belongs to it, up to as long again. */
static bool
batch_is_full(const struct ingest *ingest)
{
	return batch_size_is_reached(
		   &ingest->batch_size, ingest->batch_events, ingest->store) ||
	       (ingest->batch_events > 0 &&
		   ingest->applied_ns >=
		       ingest->batch_deadline_ns +
			   ingest->settings.commit_interval_ns);
}

/* Applies what is there, up to a full batch. */
static int
read_batch(struct ingest *ingest, struct reason *reason)
{
	struct source_record next;

	ingest->at_end = false;
	while (!batch_is_full(ingest) && !atomic_load(&ingest->stopping)) {
		ingest->at_end = sources_next(ingest->sources, apply_is_ready,
				     ingest->join, &next) == 0;
		if (ingest->at_end)
			break;
		if (apply(ingest, &next, reason) != 0)
			return -1;
	}
	return 0;
}

static bool
expiry_is_due(const struct ingest *ingest)
{
	int64_t deadline_ns = join_deadline(ingest->join);

	return ingest->at_end && !sources_in_trouble(ingest->sources) &&
	       deadline_ns != 0 && deadline_ns <= now_ns();
}

static int
expire(struct ingest *ingest, struct reason *reason)
{
	if (!expiry_is_due(ingest))
		return 0;
	if (ingest->batch_events++ == 0)
		ingest->batch_deadline_ns = now_ns();
	return join_expire(ingest->join, now_ns(), reason);
}

/* An absence counts only beside everything that the sources tell. */
static int
apply_answers(struct ingest *ingest, struct reason *reason)
{
	const struct stamp now = clock_stamp();

	if (!ingest->at_end || sources_in_trouble(ingest->sources) ||
	    !loss_has_answers(ingest->loss))
		return 0;
	if (ingest->logs.trust != NULL)
		log_trust_see(
		    ingest->logs.trust, sources_see_logs(ingest->sources));
	if (ingest->batch_events++ == 0)
		ingest->batch_deadline_ns = now_ns();
	return loss_apply(
	    ingest->loss, join_messages(ingest->join), &now, reason);
}

/* What is said of days that are past must have been read before. */
static int
look_after_store(struct ingest *ingest, struct reason *reason)
{
	long changed = upkeep_before_commit(&ingest->upkeep,
	    ingest->at_end && !sources_in_trouble(ingest->sources), now_ns(),
	    reason);

	if (changed > 0 && ingest->batch_events++ == 0)
		ingest->batch_deadline_ns = now_ns();
	return changed < 0 ? -1 : 0;
}

static bool
batch_is_due(const struct ingest *ingest)
{
	return batch_size_is_reached(
		   &ingest->batch_size, ingest->batch_events, ingest->store) ||
	       atomic_load(&ingest->stopping) ||
	       now_ns() >= ingest->batch_deadline_ns;
}

static struct journal_position
log_start(void *context, const char *source, struct journal_position position)
{
	return join_log_start(context, source, position);
}

static int
commit(struct ingest *ingest, struct reason *reason)
{
	size_t count;
	const struct source_position *positions =
	    sources_positions(ingest->sources, log_start, ingest->join, &count);

	if (sources_save(ingest->sources, reason) != 0 ||
	    logs_save(&ingest->logs, ingest->store, reason) != 0 ||
	    batch_size_commit(&ingest->batch_size, ingest->batch_events,
		ingest->store, positions, count, reason) != 0)
		return -1;
	ingest->batch_events = 0;
	ingest->pause_ns = 0;
	return 0;
}

/* One round: read, and commit when it is time. */
static void
work(struct ingest *ingest)
{
	const struct stamp now = clock_stamp();
	bool news = false;
	struct reason reason;

	loss_look(ingest->loss, join_messages(ingest->join), &now);
	if ((ingest->batch_events == 0 &&
		upkeep_before_batch(&ingest->upkeep, &reason) != 0) ||
	    read_batch(ingest, &reason) != 0 || expire(ingest, &reason) != 0 ||
	    apply_answers(ingest, &reason) != 0 ||
	    look_after_store(ingest, &reason) != 0) {
		break_off(ingest, &reason);
		return;
	}
	if (ingest->batch_events > 0) {
		if (!batch_is_due(ingest))
			return;
		if (commit(ingest, &reason) != 0) {
			break_off(ingest, &reason);
			return;
		}
		news = true;
	}
	news |= upkeep_between_batches(&ingest->upkeep, now_ns());
	if (ingest->at_end &&
	    (!ingest->shows_end || *ingest->picture.trouble != '\0')) {
		ingest->picture.caught_up = true;
		*ingest->picture.trouble = '\0';
		news = true;
	}
	if (news)
		publish(ingest);
}

/* When there is something to do though no source grows. */
static int64_t
next_deadline_ns(const struct ingest *ingest)
{
	int64_t join_ns = join_deadline(ingest->join);
	int64_t loss_ns =
	    loss_deadline(ingest->loss, join_messages(ingest->join));
	int64_t next_ns = upkeep_deadline(&ingest->upkeep, now_ns());

	if (join_ns != 0 && join_ns < next_ns)
		next_ns = join_ns;
	return loss_ns != 0 && loss_ns < next_ns ? loss_ns : next_ns;
}

/* How long to sleep unless something happens. */
static int64_t
sleep_ns(const struct ingest *ingest)
{
	int64_t deadline_ns = next_deadline_ns(ingest);
	int64_t now = now_ns();

	if (ingest->broken)
		return ingest->pause_ns;
	if (!ingest->at_end)
		return 0;
	if (ingest->batch_events > 0)
		deadline_ns = ingest->batch_deadline_ns;
	else if (sources_in_trouble(ingest->sources))
		deadline_ns = now + RETRY_NS;
	return deadline_ns > now ? deadline_ns - now : 0;
}

static void
take_news(struct ingest *ingest)
{
	struct reason reason;

	if (watch_drain(ingest->watch) &&
	    sources_scan(ingest->sources, &reason) != 0)
		log_error("reason=\"%s\"", reason.text);
}

/* Growing journals and answers wake the thread only when no batch is open. */
static void
sleep_until_needed(struct ingest *ingest)
{
	int64_t ns = sleep_ns(ingest);
	struct timespec timeout = {
	    ns / CLOCK_NS_PER_SECOND, ns % CLOCK_NS_PER_SECOND};
	struct pollfd fds[2 + LOSS_FDS] = {
	    {.fd = ingest->stop_fd, .events = POLLIN},
	    {.fd = watch_fd(ingest->watch), .events = POLLIN},
	};
	bool idle = !ingest->broken && ingest->batch_events == 0;
	int loss[LOSS_FDS];

	if (ns == 0)
		return;
	loss_fds(ingest->loss, loss);
	for (size_t i = 0; i < LOSS_FDS; i++)
		fds[2 + i] = (struct pollfd){loss[i], POLLIN, 0};
	if (ppoll(fds, idle ? 2 + LOSS_FDS : 1, &timeout, NULL) > 0 &&
	    fds[1].revents != 0)
		take_news(ingest);
}

static void *
ingest_thread(void *context)
{
	struct ingest *ingest = context;
	struct reason reason;

	while (!atomic_load(&ingest->stopping)) {
		if (ingest->broken)
			recover(ingest);
		if (!ingest->broken)
			work(ingest);
		sleep_until_needed(ingest);
	}
	if (!ingest->broken && ingest->batch_events > 0 &&
	    commit(ingest, &reason) != 0)
		log_error("store=failed reason=\"%s\"", reason.text);
	return NULL;
}

static void
ingest_free(struct ingest **ingest)
{
	loss_free(&(*ingest)->loss);
	join_free(&(*ingest)->join);
	logs_close(&(*ingest)->logs);
	privacy_filter_free(&(*ingest)->filter);
	sources_free(&(*ingest)->sources);
	watch_free(&(*ingest)->watch);
	picture_free(&(*ingest)->picture);
	if ((*ingest)->stop_fd >= 0)
		close((*ingest)->stop_fd);
	free(*ingest);
	*ingest = NULL;
}

static int
open_all(struct ingest *ingest, struct reason *reason)
{
	const struct stamp now = clock_stamp();

	ingest->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (ingest->stop_fd < 0)
		return reason_set_errno(reason, "eventfd");
	ingest->watch = watch_open(ingest->settings.journal, reason);
	if (ingest->watch == NULL)
		return -1;
	ingest->sources =
	    sources_new(ingest->settings.journal, ingest->store, ingest->watch);
	ingest->join = join_new(ingest->store, ingest->settings.stamp_wait_ns);
	address_use_key(ingest->settings.privacy->key);
	ingest->filter = privacy_filter_new(ingest->settings.privacy);
	if (ingest->filter == NULL)
		return reason_set(reason, "out of memory");
	if (logs_open(&ingest->settings.logs, ingest->store, ingest->sources,
		ingest->join, &ingest->logs, reason) != 0)
		return -1;
	ingest->loss = loss_new(&ingest->settings.loss, ingest->settings.lookup,
	    ingest->logs.trust);
	loss_look(ingest->loss, join_messages(ingest->join), &now);
	ingest->upkeep = (struct upkeep){.store = ingest->store,
	    .join = ingest->join,
	    .sources = ingest->sources,
	    .published = ingest->published,
	    .close_gone = ingest->settings.close_gone};
	ingest->gauges = (struct gauges){.store = ingest->store,
	    .sources = ingest->sources,
	    .join = ingest->join,
	    .loss = ingest->loss,
	    .upkeep = &ingest->upkeep,
	    .pace = pace_begin(now.monotonic_ns),
	    .noted_detection = LOSS_DETECTIONS};
	if (join_rebuild(ingest->join, now.monotonic_ns, reason) != 0)
		return -1;
	return sources_scan(ingest->sources, reason);
}

struct ingest *
ingest_start(const struct ingest_settings *settings, struct store *store,
    struct published *published, struct reason *reason)
{
	struct ingest *ingest = memory_zeroed(1, sizeof(*ingest));

	ingest->settings = *settings;
	ingest->store = store;
	ingest->published = published;
	ingest->batch_size = batch_size_begin(settings->commit_events);
	picture_init(&ingest->picture);
	if (open_all(ingest, reason) != 0) {
		ingest_free(&ingest);
		return NULL;
	}
	publish(ingest);
	published_prepare(published, &ingest->picture);
	published_show(published);
	if (pthread_create(&ingest->thread, NULL, ingest_thread, ingest) != 0) {
		reason_set(reason, "cannot start a thread");
		ingest_free(&ingest);
	}
	return ingest;
}

void
ingest_stop(struct ingest **ingest)
{
	static const uint64_t one = 1;

	if (*ingest == NULL)
		return;
	atomic_store(&(*ingest)->stopping, true);
	if (write((*ingest)->stop_fd, &one, sizeof(one)) < 0)
		log_error("reason=\"cannot wake the ingest thread\"");
	pthread_join((*ingest)->thread, NULL);
	ingest_free(ingest);
}

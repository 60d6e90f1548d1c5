/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is lost and what is not: a join fed by a script, the clock of the test,
 * and a queue directory made for it, which the helper looks into.
 */
#include "exporter/join/loss.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>

#include "exporter/gone.h"
#include "exporter/join/fate.h"
#include "exporter/join/open_messages.h"
#include "exporter/metrics/revision.h"
#include "exporter/queue/queue_lookup.h"
#include "exporter/read/log_trust.h"
#include "exporter/read/log_trust_record.h"
#include "tests/exporter/join_fixture.h"

#define IN(qid)                                                                \
	"L smtpd 7 " qid ": client=c.test[192.0.2.1]\n"                        \
	"L cleanup 8 " qid ": message-id=<1@c.test>\n"
#define ACTIVE(qid)                                                            \
	"L qmgr 9 " qid ": from=<sender@example.net>, size=500, nrcpt=1"       \
	" (queue active)\n"
#define LINE(qid, status)                                                      \
	"L lmtp 10 " qid                                                       \
	": to=<u1@example.test>, relay=none, delay=1, delays=0/0/0/1, "        \
	"dsn=4.4.1, status=" status " (x)\n"
#define CONFIRMED_MESSAGE "M a AAAAA1 u1\n" IN("AAAAA1") ACTIVE("AAAAA1")

enum { AFTER = 600, CONFIRM = 120, GHOST_AFTER = 60 };

struct fixture {
	struct world world;
	char spool[PATH_MAX + 10];
	struct queue_lookup *lookup;
	struct log_trust *trust;
	struct loss *loss;
	struct script script;
};

static void
make_spool(struct fixture *fixture)
{
	static const char *const names[] = {"", "/incoming", "/active",
	    "/deferred", "/hold", "/maildrop", "/corrupt", "/saved"};
	const struct passwd *entry =
	    geteuid() == 0 ? getpwnam("nobody") : getpwuid(geteuid());
	char path[PATH_MAX + 100], directories[PATH_MAX + 100];
	struct queue_lookup_settings settings = {
	    .directories = directories,
	    .config_directories = "",
	    .hash_names = "",
	    .postqueue = "/bin/false",
	};
	struct reason reason;

	assert_non_null(entry);
	settings.user = entry->pw_name;
	assert_int_equal(chmod(fixture->world.directory, 0755), 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s%s", fixture->spool, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(chown(path, entry->pw_uid, entry->pw_gid), 0);
	}
	snprintf(
	    directories, sizeof(directories), "mx.test=%s", fixture->spool);
	if (queue_lookup_open(&settings, &fixture->lookup, &reason) != 0)
		fail_msg("%s", reason.text);
}

static void
queue_file(struct fixture *fixture, const char *name, bool is_there)
{
	char path[PATH_MAX + 100];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fixture->spool, name);
	if (!is_there) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0700);
	assert_true(fd >= 0);
	close(fd);
}

static int
setup(void **state)
{
	static const struct loss_settings settings = {
	    .after_ns = AFTER * SECOND_NS,
	    .confirm_ns = CONFIRM * SECOND_NS,
	    .ghost_after_ns = GHOST_AFTER * SECOND_NS,
	    .looks_per_second = 100,
	};
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct stamp now = {1, 1000 * SECOND_NS};

	world_begin_reading(&fixture->world, true);
	snprintf(fixture->spool, sizeof(fixture->spool), "%s/spool",
	    fixture->world.directory);
	make_spool(fixture);
	queue_file(fixture, "saved/00001", true);
	fixture->trust = log_trust_new();
	join_trust_logs(fixture->world.join, fixture->trust);
	fixture->loss = loss_new(&settings, fixture->lookup, fixture->trust);
	loss_look(fixture->loss, join_messages(fixture->world.join), &now);
	*state = fixture;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	script_free(&fixture->script);
	loss_free(&fixture->loss);
	queue_lookup_close(&fixture->lookup);
	world_end(&fixture->world);
	log_trust_free(&fixture->trust);
	free(fixture);
	return 0;
}

static void
run(struct fixture *fixture, const char *text)
{
	script_read(&fixture->script, text);
	world_run(&fixture->world, &fixture->script);
}

/* Further lines, read `seconds` after the script began. */
static void
run_later(struct fixture *fixture, int seconds, const char *text)
{
	struct script *script = &fixture->script;
	size_t first = script->count;
	char *copy = strdup(text), *rest = copy, *line;

	script->ns = seconds * SECOND_NS;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			script_line(script, line);
	free(copy);
	for (size_t i = first; i < script->count; i++)
		world_apply(&fixture->world, &script->steps[i]);
	world_commit(&fixture->world);
}

/* Asks for a file that lies in a directory of its own: its answer comes behind
 * all others. */
static void
await_answers(struct fixture *fixture, const struct stamp *now)
{
	static const struct queue_ticket nobody;
	struct open_messages *messages = join_messages(fixture->world.join);
	const uint64_t *answers = loss_answers(fixture->loss);
	uint64_t before = answers[QUEUE_SAVED];
	struct pollfd wait = {.events = POLLIN};
	int fds[LOSS_FDS];

	assert_int_equal(
	    queue_lookup_ask(fixture->lookup, &nobody, "mx.test", "00001"), 1);
	loss_fds(fixture->loss, fds);
	wait.fd = fds[0];
	while (answers[QUEUE_SAVED] == before) {
		assert_int_equal(poll(&wait, 1, 20000), 1);
		loss_look(fixture->loss, messages, now);
	}
}

/* One round of ingest, so many seconds after the script began. Returns how many
 * answers there were. */
static unsigned
round_at(struct fixture *fixture, int64_t seconds)
{
	struct open_messages *messages = join_messages(fixture->world.join);
	const uint64_t *answers = loss_answers(fixture->loss);
	const struct stamp now = {
	    fixture->script.start_wall_ns + seconds * SECOND_NS,
	    (1000 + seconds) * SECOND_NS};
	uint64_t before = 1, after = 0;
	struct reason reason;

	for (unsigned i = 0; i < QUEUE_PLACES; i++)
		before += answers[i];
	loss_look(fixture->loss, messages, &now);
	await_answers(fixture, &now);
	for (unsigned i = 0; i < QUEUE_PLACES; i++)
		after += answers[i];
	if (loss_apply(fixture->loss, messages, &now, &reason) != 0)
		fail_msg("%s", reason.text);
	assert_false(loss_has_answers(fixture->loss));
	world_commit(&fixture->world);
	return (unsigned)(after - before);
}

/* Rounds from `from` to `to`, each so many seconds after the last. */
static unsigned
rounds(struct fixture *fixture, int from, int to, int step)
{
	unsigned answered = 0;

	for (int at = from; at <= to; at += step)
		answered += round_at(fixture, at);
	return answered;
}

static const struct open_message *
message_of(struct fixture *fixture, const char *queue_id)
{
	const struct queue_id_key key = {"mx.test", queue_id, INT64_MAX};
	struct tracked *tracked = open_messages_find_queue_id(
	    join_messages(fixture->world.join), &key, NULL, NULL);

	assert_non_null(tracked);
	return tracked_message(tracked);
}

static void
expect(struct fixture *fixture, const char *queue_id, const char *state,
    const char *reason)
{
	const struct open_recipient *recipient =
	    &message_of(fixture, queue_id)->recipients[0];

	assert_string_equal(recipient_state_name(recipient->state), state);
	assert_string_equal(fate_reason_name(recipient->reason), reason);
}

static const uint64_t *
counters_of(struct fixture *fixture)
{
	static uint64_t counters[1000];
	static struct histogram_total histograms[200];

	assert_true(metric_values(METRIC_STORED_COUNTER) <= COUNT(counters));
	assert_true(
	    metric_values(METRIC_STORED_HISTOGRAM) <= COUNT(histograms));
	totals_snapshot(fixture->world.totals, counters, histograms);
	return counters;
}

static uint64_t
counter(struct fixture *fixture, enum metric metric)
{
	return counters_of(fixture)[metric_index(metric, 0)];
}

/* How often something was not the last word. */
static uint64_t
revisions(struct fixture *fixture, enum recipient_state from)
{
	const uint64_t *counters = counters_of(fixture);
	uint64_t sum = 0;

	for (unsigned i = 0; i < REVISIONS; i++)
		if (revision_from(i) == from)
			sum +=
			    counters[metric_index(METRIC_OUTCOME_REVISIONS, i)];
	return sum;
}

static void
a_confirmed_message_that_vanished_is_lost_at_its_age(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	assert_int_equal(rounds(fixture, 10, AFTER - 10, 59), 0);
	assert_int_equal(rounds(fixture, AFTER + 10, AFTER + 10, 1), 1);
	expect(fixture, "AAAAA1", "in_flight", "none");
	rounds(fixture, AFTER + 20, AFTER + CONFIRM, 25);
	expect(fixture, "AAAAA1", "in_flight", "none");
	round_at(fixture, AFTER + CONFIRM + 15);
	expect(fixture, "AAAAA1", "lost", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
}

static void
one_that_is_in_the_queue_is_not_and_is_looked_for_less_often(void **state)
{
	struct fixture *fixture = *state;
	unsigned looks;

	run(fixture, CONFIRMED_MESSAGE);
	queue_file(fixture, "deferred/AAAAA1", true);
	looks = rounds(fixture, AFTER, 20 * AFTER, 60);
	assert_in_range(looks, 4, 8);
	expect(fixture, "AAAAA1", "in_flight", "none");
	queue_file(fixture, "deferred/AAAAA1", false);
	rounds(fixture, 20 * AFTER, 27 * AFTER, 60);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
what_moves_while_one_looks_is_not_lost(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	round_at(fixture, AFTER + 10);
	queue_file(fixture, "active/AAAAA1", true);
	round_at(fixture, AFTER + CONFIRM + 11);
	queue_file(fixture, "active/AAAAA1", false);
	round_at(fixture, 2 * AFTER + CONFIRM + 12);
	expect(fixture, "AAAAA1", "in_flight", "none");
}

static void
news_between_two_absences_begin_the_count_again(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	round_at(fixture, AFTER + 10);
	run_later(fixture, AFTER + 60, LINE("AAAAA1", "deferred"));
	round_at(fixture, AFTER + CONFIRM + 11);
	expect(fixture, "AAAAA1", "deferred", "none");
	rounds(fixture, AFTER + CONFIRM + 12, 2 * AFTER + 2 * CONFIRM + 80, 30);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
a_loss_is_taken_back_when_it_is_seen_again(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "lost", "none");
	queue_file(fixture, "hold/AAAAA1", true);
	rounds(fixture, 2 * AFTER, 10 * AFTER, 60);
	expect(fixture, "AAAAA1", "held", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 1);
	queue_file(fixture, "hold/AAAAA1", false);
	queue_file(fixture, "active/AAAAA1", true);
	run_later(fixture, 10 * AFTER + 10, ACTIVE("AAAAA1"));
	rounds(fixture, 10 * AFTER + 30, 20 * AFTER, 60);
	expect(fixture, "AAAAA1", "in_flight", "none");
}

static void
a_late_delivery_takes_a_loss_back_at_once(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "lost", "none");
	run_later(fixture, 2 * AFTER, LINE("AAAAA1", "sent"));
	expect(fixture, "AAAAA1", "delivered", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 1);
}

static void
lose(struct fixture *fixture)
{
	run(fixture, CONFIRMED_MESSAGE);
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "lost", "none");
}

/* I3: an acknowledgement is a revision of its own. */
static void
an_acknowledged_loss_is_accounted_for_and_stays_so(void **state)
{
	struct fixture *fixture = *state;

	lose(fixture);
	run_later(fixture, 2 * AFTER, "A a\n");
	expect(fixture, "AAAAA1", "deleted", "acknowledged");
	assert_int_equal(revisions(fixture, RECIPIENT_LOST), 1);
	rounds(fixture, 2 * AFTER + 60, 20 * AFTER, 60);
	expect(fixture, "AAAAA1", "deleted", "acknowledged");
	assert_int_equal(revisions(fixture, RECIPIENT_LOST), 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 0);
}

static void
a_delivery_takes_an_acknowledged_loss_back(void **state)
{
	struct fixture *fixture = *state;

	lose(fixture);
	run_later(fixture, 2 * AFTER, "A a\n");
	run_later(fixture, 3 * AFTER, LINE("AAAAA1", "sent"));
	expect(fixture, "AAAAA1", "delivered", "none");
	assert_int_equal(revisions(fixture, RECIPIENT_DELETED), 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 1);
}

static int64_t
lost_now(struct fixture *fixture)
{
	unsigned number = outcome_number(RECIPIENT_LOST);

	return (int64_t)(counters_of(fixture)[metric_index(
			     METRIC_RECIPIENT_OUTCOMES, number)] -
			 revisions(fixture, RECIPIENT_LOST));
}

static long
settle(struct fixture *fixture)
{
	struct reason reason;
	long gone =
	    gone_settle(fixture->world.store, lost_now(fixture), &reason);

	world_commit(&fixture->world);
	return gone;
}

static int
remove_day(
    const char *path, const struct stat *status, int type, struct FTW *where)
{
	return strstr(path, "/day-") != NULL ? remove(path) : 0;
}

/* I3, I5: nobody could acknowledge it any more. */
static void
a_loss_of_which_nothing_is_kept_is_ended(void **state)
{
	struct fixture *fixture = *state;

	lose(fixture);
	assert_int_equal(settle(fixture), 0);
	assert_int_equal(lost_now(fixture), 1);
	world_close(&fixture->world);
	nftw(fixture->world.directory, remove_day, 10, FTW_PHYS);
	for (int start = 0; start < 2; start++) {
		world_open(&fixture->world);
		assert_int_equal(settle(fixture), start == 0);
		assert_int_equal(lost_now(fixture), 0);
		assert_int_equal(revisions(fixture, RECIPIENT_LOST), 1);
		assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
		assert_int_equal(
		    counter(fixture, METRIC_RECIPIENTS_RECOVERED), 0);
		assert_int_equal(counter(fixture, METRIC_MESSAGES_ACCEPTED), 1);
		world_close(&fixture->world);
	}
	world_open(&fixture->world);
}

/* I6: what was said of one loss does not hide the next. */
static void
what_came_back_and_is_lost_again_is_lost(void **state)
{
	struct fixture *fixture = *state;

	lose(fixture);
	run_later(fixture, 2 * AFTER, "A a\n");
	queue_file(fixture, "deferred/AAAAA1", true);
	rounds(fixture, 2 * AFTER + 60, 10 * AFTER, 60);
	expect(fixture, "AAAAA1", "in_flight", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 1);
	queue_file(fixture, "deferred/AAAAA1", false);
	rounds(fixture, 10 * AFTER + 60, 20 * AFTER, 60);
	expect(fixture, "AAAAA1", "lost", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 2);
	/* Also when the journal is read again. */
	world_apply(
	    &fixture->world, &fixture->script.steps[fixture->script.count - 1]);
	world_commit(&fixture->world);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
nothing_is_acknowledged_in_advance(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE "A a\n");
	expect(fixture, "AAAAA1", "in_flight", "none");
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "lost", "none");
}

/* I2: of a message that is in memory no more, too. */
static void
an_acknowledgement_that_was_written_while_we_were_down_counts(void **state)
{
	struct fixture *fixture = *state;
	struct world *world = &fixture->world;
	const struct step *step;
	const struct queue_id_key key = {"mx.test", "AAAAA1", INT64_MAX};
	struct open_message found;
	struct arena *arena = arena_new(1 << 20);

	lose(fixture);
	world_close(world);
	world_open(world);
	script_line(&fixture->script, (char[]){"A a"});
	step = &fixture->script.steps[fixture->script.count - 1];
	for (int killed = 0; killed < 2; killed++) {
		world_apply(world, step);
		assert_int_equal(1, store_find_queue_id(world->store, &key,
					arena, &found, NULL));
		assert_int_equal(found.recipients[0].state, RECIPIENT_DELETED);
		world_close(world);
		world_open(world);
	}
	world_apply(world, step);
	world_commit(world);
	assert_int_equal(revisions(fixture, RECIPIENT_LOST), 1);
	world_apply(world, step);
	world_commit(world);
	assert_int_equal(revisions(fixture, RECIPIENT_LOST), 1);
	arena_free(&arena);
}

static void
what_is_unknown_can_be_acknowledged_and_heals_all_the_same(void **state)
{
	struct fixture *fixture = *state;
	int64_t start;

	run(fixture, CONFIRMED_MESSAGE);
	start = fixture->script.start_wall_ns;
	log_trust_gap(
	    fixture->trust, start + 30 * SECOND_NS, start + 40 * SECOND_NS);
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	run_later(fixture, 2 * AFTER, "A a\n");
	expect(fixture, "AAAAA1", "deleted", "acknowledged_unknown");
	run_later(fixture, 3 * AFTER,
	    "L qmgr 9 AAAAA1: removed\n" LINE("AAAAA1", "bounced"));
	expect(fixture, "AAAAA1", "bounced", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 0);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_RECOVERED), 0);
}

static void
what_postfix_never_queued_is_a_ghost_and_never_lost(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, IN("AAAAA1") "M a AAAAA1 u1 u2\n");
	rounds(fixture, 10, GHOST_AFTER - 1, 10);
	assert_int_equal(round_at(fixture, GHOST_AFTER + 10), 1);
	rounds(fixture, GHOST_AFTER + 20, GHOST_AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "ghost", "never_queued");
	assert_int_equal(counter(fixture, METRIC_MESSAGES_GHOST), 1);
	rounds(fixture, AFTER, 10 * AFTER, 100);
	expect(fixture, "AAAAA1", "ghost", "never_queued");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 0);
}

static void
a_queue_file_confirms_without_any_line(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, IN("AAAAA1") "M a AAAAA1 u1\n");
	queue_file(fixture, "hold/AAAAA1", true);
	rounds(fixture, GHOST_AFTER, 2 * GHOST_AFTER, 10);
	expect(fixture, "AAAAA1", "held", "none");
	queue_file(fixture, "hold/AAAAA1", false);
	rounds(fixture, AFTER, 4 * AFTER, 60);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
one_that_is_still_received_is_neither(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 100];

	run(fixture, IN("AAAAA1") "M a AAAAA1 u1\n");
	queue_file(fixture, "incoming/AAAAA1", true);
	snprintf(path, sizeof(path), "%s/incoming/AAAAA1", fixture->spool);
	assert_int_equal(chmod(path, 0600), 0);
	rounds(fixture, GHOST_AFTER, AFTER, 30);
	expect(fixture, "AAAAA1", "in_flight", "none");
	assert_int_equal(
	    message_of(fixture, "AAAAA1")->evidence & MESSAGE_IN_QUEUE, 0);
	queue_file(fixture, "incoming/AAAAA1", false);
	rounds(fixture, AFTER, 4 * AFTER, 60);
	expect(fixture, "AAAAA1", "ghost", "never_queued");
}

static void
a_corrupt_one_is_lost_and_says_why(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	queue_file(fixture, "corrupt/AAAAA1", true);
	round_at(fixture, AFTER + 10);
	expect(fixture, "AAAAA1", "lost", "corrupt");
}

static void
behind_a_gap_in_the_log_nothing_is_lost(void **state)
{
	struct fixture *fixture = *state;
	int64_t start;

	run(fixture, CONFIRMED_MESSAGE);
	start = fixture->script.start_wall_ns;
	log_trust_gap(
	    fixture->trust, start + 30 * SECOND_NS, start + 40 * SECOND_NS);
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 0);
	/* The evidence appears later. */
	run_later(fixture, 2 * AFTER, LINE("AAAAA1", "sent"));
	expect(fixture, "AAAAA1", "delivered", "none");
}

static void
a_rate_limit_notice_is_a_gap(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	run_later(fixture, 50,
	    "L: rsyslogd 5 imuxsock lost 7 messages from pid 9 due to "
	    "rate-limiting\n");
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
}

static void
after_queue_files_were_renamed_nothing_is_lost(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	run_later(fixture, 50,
	    "L postsuper 5 Renamed to match inode number: 7 messages\n");
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
}

static void
a_log_that_stopped_telling_makes_nothing_lost(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE);
	run_later(fixture, 300, "M b BBBBB1 u1\n");
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
	assert_int_equal(loss_detection(fixture->loss,
			     fixture->script.start_wall_ns + AFTER * SECOND_NS),
	    LOSS_BLIND);
	/* It was only late, and has told of everything. */
	run_later(fixture, AFTER + CONFIRM + 20, IN("CCCCC1"));
	rounds(fixture, AFTER + CONFIRM + 30, 10 * AFTER, 60);
	expect(fixture, "AAAAA1", "lost", "none");
	assert_int_equal(loss_detection(fixture->loss,
			     fixture->script.start_wall_ns + AFTER * SECOND_NS),
	    LOSS_ON);
}

static void
a_log_that_never_spoke_of_the_instance_proves_nothing(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, "M a AAAAA1 u1\nL:out qmgr 9 DDDDD1: removed\n");
	rounds(fixture, GHOST_AFTER, AFTER + 2 * CONFIRM, 30);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
}

static void
what_the_hook_saw_and_the_log_did_not_is_unknown(void **state)
{
	struct fixture *fixture = *state;

	run(fixture,
	    IN("AAAAA1") "M a AAAAA1 u1\nD a AAAAA1 u1=451\n" IN("CCCCC1"));
	rounds(fixture, AFTER + 10, AFTER + CONFIRM + 20, 10);
	expect(fixture, "AAAAA1", "unknown", "log_gap");
}

static void
any_of_several_queue_ids_counts(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, CONFIRMED_MESSAGE
	    "L postsuper 12 AAAAA1: requeued\n"
	    "L pickup 13 BBBBB1: uid=0 from=<sender@example.net>"
	    " orig_id=AAAAA1\n"
	    "L cleanup 8 BBBBB1: message-id=<1@c.test>\n" ACTIVE("BBBBB1"));
	assert_ptr_equal(
	    message_of(fixture, "AAAAA1"), message_of(fixture, "BBBBB1"));
	queue_file(fixture, "deferred/BBBBB1", true);
	rounds(fixture, AFTER + 10, 3 * AFTER, 30);
	expect(fixture, "AAAAA1", "in_flight", "none");
	queue_file(fixture, "deferred/BBBBB1", false);
	queue_file(fixture, "maildrop/AAAAA1", true);
	rounds(fixture, 3 * AFTER, 6 * AFTER, 30);
	expect(fixture, "AAAAA1", "in_flight", "none");
	queue_file(fixture, "maildrop/AAAAA1", false);
	rounds(fixture, 6 * AFTER, 14 * AFTER, 30);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
what_ended_is_never_looked_for(void **state)
{
	struct fixture *fixture = *state;

	run(fixture,
	    CONFIRMED_MESSAGE LINE("AAAAA1", "sent") "L qmgr 9 AAAAA1: "
						     "removed\n");
	assert_int_equal(rounds(fixture, 10, 4 * AFTER, 60), 0);
	expect(fixture, "AAAAA1", "delivered", "none");
}

static void
a_queue_that_is_not_there_says_nothing(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 100], moved[PATH_MAX + 100];

	run(fixture, CONFIRMED_MESSAGE);
	snprintf(path, sizeof(path), "%s/active", fixture->spool);
	snprintf(moved, sizeof(moved), "%s/elsewhere", fixture->spool);
	assert_int_equal(rename(path, moved), 0);
	rounds(fixture, AFTER + 10, 4 * AFTER, 30);
	expect(fixture, "AAAAA1", "in_flight", "none");
	assert_true(loss_answers(fixture->loss)[QUEUE_UNKNOWN] > 0);
	assert_int_equal(rename(moved, path), 0);
	rounds(fixture, 4 * AFTER, 5 * AFTER, 30);
	expect(fixture, "AAAAA1", "lost", "none");
}

static void
how_many_are_asked_about_a_second_is_bounded(void **state)
{
	static char text[STEPS_MAX * 40];
	struct fixture *fixture = *state;
	size_t size = 0;
	uint64_t absent;

	size = (size_t)snprintf(text, sizeof(text), "I 1\n");
	for (int i = 0; i < 500; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
		    "M - A%05d u1\nL qmgr 9 A%05d: from=<a@b>, size=1, nrcpt=1"
		    " (queue active)\n",
		    i, i);
	run(fixture, text);
	round_at(fixture, AFTER + 10);
	absent = loss_answers(fixture->loss)[QUEUE_ABSENT];
	assert_true(absent > 0 && absent <= 100);
	round_at(fixture, AFTER + 11);
	absent = loss_answers(fixture->loss)[QUEUE_ABSENT];
	assert_true(absent <= 200);
	rounds(fixture, AFTER + 12, AFTER + CONFIRM + 30, 1);
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 500);
}

static void
after_a_restart_a_loss_is_found_all_the_same(void **state)
{
	struct fixture *fixture = *state;
	struct reason reason;

	run(fixture, CONFIRMED_MESSAGE);
	round_at(fixture, AFTER + 10);
	assert_int_equal(join_rebuild(fixture->world.join, 0, &reason), 0);
	round_at(fixture, AFTER + CONFIRM + 20);
	expect(fixture, "AAAAA1", "in_flight", "none");
	rounds(fixture, AFTER + CONFIRM + 30, 2 * AFTER + 2 * CONFIRM, 30);
	expect(fixture, "AAAAA1", "lost", "none");
	assert_int_equal(counter(fixture, METRIC_RECIPIENTS_LOST), 1);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_confirmed_message_that_vanished_is_lost_at_its_age),
	    TEST(one_that_is_in_the_queue_is_not_and_is_looked_for_less_often),
	    TEST(what_moves_while_one_looks_is_not_lost),
	    TEST(news_between_two_absences_begin_the_count_again),
	    TEST(a_loss_is_taken_back_when_it_is_seen_again),
	    TEST(a_late_delivery_takes_a_loss_back_at_once),
	    TEST(an_acknowledged_loss_is_accounted_for_and_stays_so),
	    TEST(a_delivery_takes_an_acknowledged_loss_back),
	    TEST(a_loss_of_which_nothing_is_kept_is_ended),
	    TEST(what_came_back_and_is_lost_again_is_lost),
	    TEST(nothing_is_acknowledged_in_advance),
	    TEST(an_acknowledgement_that_was_written_while_we_were_down_counts),
	    TEST(what_is_unknown_can_be_acknowledged_and_heals_all_the_same),
	    TEST(what_postfix_never_queued_is_a_ghost_and_never_lost),
	    TEST(a_queue_file_confirms_without_any_line),
	    TEST(one_that_is_still_received_is_neither),
	    TEST(a_corrupt_one_is_lost_and_says_why),
	    TEST(behind_a_gap_in_the_log_nothing_is_lost),
	    TEST(a_rate_limit_notice_is_a_gap),
	    TEST(after_queue_files_were_renamed_nothing_is_lost),
	    TEST(a_log_that_stopped_telling_makes_nothing_lost),
	    TEST(a_log_that_never_spoke_of_the_instance_proves_nothing),
	    TEST(what_the_hook_saw_and_the_log_did_not_is_unknown),
	    TEST(any_of_several_queue_ids_counts),
	    TEST(what_ended_is_never_looked_for),
	    TEST(a_queue_that_is_not_there_says_nothing),
	    TEST(how_many_are_asked_about_a_second_is_bounded),
	    TEST(after_a_restart_a_loss_is_found_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

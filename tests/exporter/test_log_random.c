/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log to which things are done at random, while it is followed, left and
 * followed again from some earlier position. Every line is read exactly once
 * and in order, or a gap in front of the next one tells of it.
 */
#include "exporter/read/log_follower.h"

#include "tests/exporter/log_fixture.h"

#define STEPS 120
#define ROTATED 4

enum step {
	APPEND,
	READ,
	READ_SOME,
	RESTART,
	RENAME,
	COPY,
	COMPRESS,
	TRUNCATE,
	STEPS_KINDS
};

struct history {
	struct log_fixture *log;
	uint32_t seed, random;
	struct journal_position position; /* what would be saved */
	int expected;                     /* the next line to be read */
	bool gap;                         /* one was told in front of it */
	int rotations;
	char trace[STEPS * 2 + 1];
};

static uint32_t
next_random(struct history *history, uint32_t below)
{
	history->random = history->random * 1664525u + 1013904223u;
	return (history->random >> 8) % below;
}

static void
check_entry(struct history *history, const struct log_entry *entry)
{
	int number = (int)entry->line.pid - 1;

	if (entry->gap != LOG_GAP_NONE) {
		history->gap = true;
		return;
	}
	if (number != history->expected &&
	    !(number > history->expected && history->gap))
		fail_msg("seed %u, %s: line %d, not %d", history->seed,
		    history->trace, number, history->expected);
	history->expected = number + 1;
	history->gap = false;
}

static void
read_lines(struct history *history, int most)
{
	struct log_entry entry;
	int result = 1;

	while (most-- > 0 && result == 1) {
		result =
		    log_follower_next(history->log->follower, &entry, NULL);
		assert_int_not_equal(result, -1);
		if (result == 1)
			check_entry(history, &entry);
	}
}

/* As after a crash: a position from before, with the catalog of then or of
 * now. */
static void
restart(struct history *history)
{
	if (next_random(history, 2) == 0) {
		history->position =
		    log_follower_position(history->log->follower);
		if (history->gap)
			return;
	}
	follow_from(history->log, history->position);
	/* What was read behind the position comes again. */
	history->expected = 0;
	history->gap = true;
}

/* Moves all rotated files on by one; the last is removed. */
static void
shift(struct history *history)
{
	static const char *const endings[] = {"", ".gz"};

	for (int i = ROTATED; i >= 1; i--)
		for (int j = 0; j < 2; j++) {
			char from[64], to[64];

			snprintf(
			    from, sizeof(from), "mail.log.%d%s", i, endings[j]);
			snprintf(
			    to, sizeof(to), "mail.log.%d%s", i + 1, endings[j]);
			if (rename_if_there(history->log, from, to) &&
			    i == ROTATED)
				remove_log(history->log, to);
		}
	history->rotations++;
}

static void
take_step(struct history *history, enum step step)
{
	struct log_fixture *log = history->log;

	switch (step) {
	case APPEND:
		append(log, "mail.log", 1 + (int)next_random(history, 5));
		break;
	case READ:
		read_lines(history, 10000);
		break;
	case READ_SOME:
		read_lines(history, (int)next_random(history, 6));
		break;
	case RESTART:
		restart(history);
		break;
	case RENAME:
		if (!log_exists(log, "mail.log"))
			break;
		shift(history);
		rename_log(log, "mail.log", "mail.log.1");
		break;
	case COPY:
		if (!log_exists(log, "mail.log"))
			break;
		shift(history);
		copy_log(log, "mail.log", "mail.log.1");
		truncate_log(log, "mail.log", 0);
		break;
	case COMPRESS:
		if (log_exists(log, "mail.log.2"))
			compress_log(log, "mail.log.2");
		break;
	case TRUNCATE:
		/* A file that nobody saw before leaves no trace. */
		append(log, "mail.log", 1);
		read_lines(history, 10000);
		append(log, "mail.log", (int)next_random(history, 3));
		truncate_log(log, "mail.log", 0);
		break;
	case STEPS_KINDS:
		break;
	}
}

/* An hour a look. */
static struct stamp
hours(void)
{
	static int64_t now_ns = FIRST_WALL_NS;

	now_ns += 3600 * CLOCK_NS_PER_SECOND;
	return (struct stamp){now_ns, now_ns};
}

static void
play(uint32_t seed)
{
	static const char letters[] = "ARrSNCZT";
	struct history history = {
	    .seed = seed, .random = seed * 2654435761u + 1};
	void *state;

	log_setup(&state);
	clock_set_source(hours);
	history.log = state;
	append(history.log, "mail.log", 1);
	follow(history.log);
	read_lines(&history, 1);
	for (int i = 0; i < STEPS; i++) {
		enum step step = next_random(&history, 3) == 0
				     ? APPEND
				     : next_random(&history, STEPS_KINDS);

		history.trace[i] = letters[step];
		take_step(&history, step);
	}
	/* At last all is read. */
	append(history.log, "mail.log", 3);
	read_lines(&history, 100000);
	if (history.expected != history.log->next)
		fail_msg("seed %u, %s: read up to %d, not %d", seed,
		    history.trace, history.expected, history.log->next);
	log_teardown(&state);
}

static void
nothing_is_lost_without_a_gap(void **state)
{
	uint32_t seeds = getenv("POSTLAG_LONG") != NULL ? 500 : 40;

	for (uint32_t seed = 1; seed <= seeds; seed++)
		play(seed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_lost_without_a_gap),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

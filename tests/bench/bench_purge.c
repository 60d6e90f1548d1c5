/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Days purged while mail comes in: how long until a day is gone, and for how
 * long ingest stands still.
 *
 *     bench_purge [MESSAGES [DAYS]]
 *
 * DAYS days with MESSAGES each lie in the store and are old enough; commits of
 * 1,000 messages go on, first alone, then while the days are purged.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/reason.h"
#include "store/layout.h"
#include "store/store.h"
#include "store/totals.h"
#include "tests/bench/mail.h"
#include "tests/lib/store_disk.h"

#define BATCH 1000
#define BATCHES 50 /* alone */
#define MIDNIGHT_NS (INT64_C(20787) * CLOCK_NS_PER_DAY)
#define RETENTION_DAYS 10

static const char *const counters[] = {"messages"};
static const char *const histograms[] = {"latency", "queue"};
static const struct totals_names names = {counters, 1, histograms, 2};
static const struct segment_header segment = {
    .source = "milter", .instance = "mx.example.com", .boot_id = {42}};

static int64_t today_ns = MIDNIGHT_NS;
static uint64_t number;

static struct stamp
bench_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct stamp){today_ns + CLOCK_NS_PER_DAY / 2,
	    now.tv_sec * CLOCK_NS_PER_SECOND + now.tv_nsec};
}

static double
milliseconds(void)
{
	return (double)bench_clock().monotonic_ns / 1e6;
}

static void
die(const char *what)
{
	fprintf(stderr, "bench_purge: %s\n", what);
	exit(1);
}

static int
remove_one(
    const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static void
write_mail(struct store *store)
{
	static const struct recipient_verdict verdicts[] = {
	    {.state = RECIPIENT_DELIVERED}, {.state = RECIPIENT_DELIVERED}};
	const struct message_verdict verdict = {.recipients = verdicts};
	struct message_key key;
	struct reason reason;
	struct mail mail;
	struct day_file *file;

	mail_start_ns = today_ns;
	make_message(&mail, number++ % (uint64_t)message_count);
	file = store_file(store, mail.message.mail_at.wall_ns, &reason);
	if (file == NULL || store_add_message(file, &mail.message, &segment,
				&verdict, &key, &reason) != 0)
		die(reason.text);
	day_file_count(file, 0, 1);
	for (unsigned i = 0; i < 2; i++)
		day_file_observe(file, i, mail.message.mail_at.wall_ns,
		    (int64_t)(mix(number + i) % 100000000));
}

/* The last file that is to be purged, and when it was seen to be gone. */
static char *last_path;
static double gone_at;

static void
look_at_last(void)
{
	if (last_path != NULL && gone_at == 0 && access(last_path, F_OK) != 0)
		gone_at = milliseconds();
}

/* A batch; returns how long its commit took. */
static double
write_batch(struct store *store)
{
	static struct source_position position = {"milter", {1, 0}};
	struct reason reason;
	double start, took;

	for (int i = 0; i < BATCH; i++) {
		write_mail(store);
		look_at_last();
	}
	position.position.offset++;
	start = milliseconds();
	if (store_commit(store, &position, 1, &reason) != 0)
		die(reason.text);
	took = milliseconds() - start;
	store_shorten_logs(store);
	return took;
}

/* Returns the longest of `count` commits; 0: until a purge is done. */
static double
longest_commit(struct store *store, int count)
{
	double longest = 0, took;
	bool is_done = false;

	for (int i = 0; count == 0 ? !is_done : i < count; i++) {
		took = write_batch(store);
		if (took > longest)
			longest = took;
		store_is_purging(store, &is_done);
	}
	return longest;
}

static void
measure(struct store *store)
{
	struct store_figures before, after;
	double alone, during, start, begun;

	alone = longest_commit(store, BATCHES);
	store_figures(store, &before);
	start = milliseconds();
	if (!store_has_purge(store))
		die("there is nothing to purge");
	store_purge(store);
	begun = milliseconds() - start;
	during = longest_commit(store, 0);
	look_at_last();
	store_figures(store, &after);
	printf("%lu days of %.1f MB each: %.1f ms a day, of ingest %.2f ms;"
	       " longest commit %.1f ms, alone %.1f ms\n",
	    after.purged_days,
	    ((double)before.bytes - (double)after.bytes) / 1e6 /
		(double)after.purged_days,
	    (gone_at - start) / (double)after.purged_days, begun, during,
	    alone);
}

static void
run(char *root, int days)
{
	const struct store_settings settings = {
	    .directory = root,
	    .queue_lifetime_ns = 5 * CLOCK_NS_PER_DAY,
	    .retention_ns = RETENTION_DAYS * CLOCK_NS_PER_DAY,
	};
	struct totals *totals = totals_new(&names);
	struct reason reason;
	struct store *store = store_open(&settings, totals, &reason);

	if (store == NULL)
		die(reason.text);
	last_path =
	    layout_day_path(root, today_ns / CLOCK_NS_PER_DAY + days - 1);
	for (int day = 0; day < days; day++) {
		for (long i = 0; i < message_count; i += BATCH)
			write_batch(store);
		today_ns += CLOCK_NS_PER_DAY;
	}
	today_ns += RETENTION_DAYS * CLOCK_NS_PER_DAY;
	store_disk_wait(store);
	store_seal(store);
	gone_at = 0;
	measure(store);
	free(last_path);
	store_close(&store);
	totals_free(&totals);
}

int
main(int argc, char **argv)
{
	const char *parent = getenv("TMPDIR");
	char root[256];

	message_count = argc > 1 ? atol(argv[1]) : 66667;
	mail_span_ns = CLOCK_NS_PER_DAY;
	log_set_level(LOG_LEVEL_ERROR);
	clock_set_source(bench_clock);
	snprintf(root, sizeof(root), "%s/bench_purge.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	if (mkdtemp(root) == NULL)
		die("no directory");
	run(root, argc > 2 ? atoi(argv[2]) : 5);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}

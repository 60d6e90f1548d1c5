/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies of mail that another host takes: once a recipient, if the log's
 * date is exact enough, from the milter's MAIL FROM (case 19).
 */
#include "tests/exporter/log_dump.h"

/* Two recipients are relayed, one of them after it was deferred, one said
 * twice; then one that no milter saw, and one that goes on to this machine. */
static const char script_text[] =
    "M@ a A00001 u1 u2\n"
    "L smtpd 7 A00001: client=c.test[192.0.2.1]\n"
    "L qmgr 9 A00001: from=<s@x.test>, size=5, nrcpt=2 (queue active)\n"
    "L smtp 10 A00001: to=<u1@example.test>, relay=r[192.0.2.9]:25, delay=1,"
    " delays=0/0/0/1, dsn=2.0.0, status=sent (250 Ok)\n"
    "L smtp 10 A00001: to=<u1@example.test>, relay=r[192.0.2.9]:25, delay=1,"
    " delays=0/0/0/1, dsn=2.0.0, status=sent (250 Ok)\n"
    "L smtp 10 A00001: to=<u2@example.test>, relay=r[192.0.2.9]:25, delay=1,"
    " delays=0/0/0/1, dsn=4.0.0, status=deferred (x)\n"
    "S 10\n"
    "L smtp 10 A00001: to=<u2@example.test>, relay=r[192.0.2.9]:25, delay=9,"
    " delays=0/0/0/1, dsn=2.0.0, status=sent (250 Ok)\n"
    "L qmgr 9 A00001: removed\n"
    "L smtpd 7 A00002: client=c.test[192.0.2.1]\n"
    "L qmgr 9 A00002: from=<s@x.test>, size=5, nrcpt=1 (queue active)\n"
    "L smtp 10 A00002: to=<u3@example.test>, relay=r[192.0.2.9]:25, delay=1,"
    " delays=0/0/0/1, dsn=2.0.0, status=sent (250 Ok)\n"
    "M b A00003 u4\n"
    "L smtpd 7 A00003: client=c.test[192.0.2.1]\n"
    "L smtp 10 A00003: to=<u4@example.test>, relay=127.0.0.1[127.0.0.1]:25,"
    " delay=1, delays=0/0/0/1, dsn=2.0.0,"
    " status=sent (250 Ok: queued as A00004)\n";

static struct histogram_total
outbound(int64_t precision_ns)
{
	static struct script script;
	struct histogram_total total;
	struct picture picture;
	struct world world;

	script_read(&script, script_text);
	world_begin_reading(&world, true);
	world.precision_ns = precision_ns;
	world_run(&world, &script);
	picture_init(&picture);
	totals_snapshot(world.totals, picture.counters, picture.histograms);
	for (unsigned i = 0; i < ROUTES; i++) {
		const struct histogram_total *of_route =
		    &picture
			 .histograms[metric_index(METRIC_DELIVERY_LATENCY, i)];

		if (i != ROUTE_OUTBOUND)
			assert_int_equal(of_route->exponential.count, 0);
	}
	total = picture.histograms[metric_index(
	    METRIC_DELIVERY_LATENCY, ROUTE_OUTBOUND)];
	picture_free(&picture);
	world_end(&world);
	script_free(&script);
	return total;
}

static void
each_relayed_recipient_has_one_latency(void **state)
{
	struct histogram_total total = outbound(0);

	/* MAIL FROM is the script's second 0. */
	assert_int_equal(total.exponential.count, 2);
	assert_int_equal(total.exponential.sum_ns, (3 + 16) * SECOND_NS);
}

static void
dates_with_whole_seconds_give_none(void **state)
{
	assert_int_equal(outbound(SECOND_NS).exponential.count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_relayed_recipient_has_one_latency),
	    cmocka_unit_test(dates_with_whole_seconds_give_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

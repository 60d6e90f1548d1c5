/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of metrics and the text format. */
#include "exporter/serve/exposition.h"

#include "exporter/metrics/revision.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "exporter/serve/collect.h"
#include "exporter/serve/published.h"
#include "store/series.h"
#include "store/totals.h"
#include "tests/lib/unit.h"

static char *
text_of(const struct picture *picture)
{
	struct buffer out = {.data = NULL};

	collect(picture, &exposition_text, &out);
	buffer_append(&out, "", 1);
	assert_false(out.failed);
	return (char *)out.data;
}

static void
assert_has(const char *text, const char *line)
{
	if (strstr(text, line) == NULL)
		fail_msg("no \"%s\" in\n%s", line, text);
}

static void
case_17_an_empty_system_shows_every_label_set_as_zero(void **state)
{
	struct picture picture;
	char *text;

	picture_init(&picture);
	text = text_of(&picture);
	for (unsigned i = 0; i < METRICS; i++) {
		char line[200];

		snprintf(line, sizeof(line), "# TYPE %s ",
		    metric_family((enum metric)i)->name);
		assert_has(text, line);
	}
	assert_has(text, "\npostlag_messages_accepted_total 0\n");
	assert_has(text, "\npostlag_smtp_rejects_total{phase=\"rcpt\","
			 "class=\"4\"} 0\n");
	assert_has(text, "\npostlag_journal_events_dropped_total{"
			 "source=\"other\",reason=\"memory\"} 0\n");
	assert_null(strstr(text, "NaN"));
	free(text);
	picture_free(&picture);
}

/* Case 68. */
static void
buckets_are_cumulative_and_end_with_the_count(void **state)
{
	struct picture picture;
	struct histogram_total *latency;
	char *text;

	picture_init(&picture);
	latency = &picture.histograms[metric_index(METRIC_DELIVERY_LATENCY, 0)];
	latency->buckets[0] = 2;
	latency->buckets[1] = 3;
	latency->buckets[TOTALS_BUCKETS] = 4;
	latency->exponential.count = 9;
	latency->exponential.sum_ns = INT64_C(1234500000);
	text = text_of(&picture);
	assert_has(text, "_bucket{route=\"inbound\",le=\"0.001\"} 2\n");
	assert_has(text, "_bucket{route=\"inbound\",le=\"0.002\"} 5\n");
	assert_has(text, "_bucket{route=\"inbound\",le=\"432000.0\"} 5\n");
	assert_has(text, "_bucket{route=\"inbound\",le=\"+Inf\"} 9\n");
	assert_has(text, "_sum{route=\"inbound\"} 1.2345\n");
	assert_has(text, "_count{route=\"inbound\"} 9\n");
	free(text);
	picture_free(&picture);
}

static void
nanoseconds_become_decimal_seconds_exactly(void **state)
{
	struct picture picture;
	char *text;

	picture_init(&picture);
	picture.live[metric_index(METRIC_OLDEST_IN_FLIGHT, 0)] =
	    INT64_C(1796024862000000001);
	picture.live[metric_index(METRIC_STORE_LONGEST_COMMIT, 0)] = -500;
	picture.live[metric_index(METRIC_STORE_BYTES, 0)] = INT64_MAX;
	text = text_of(&picture);
	assert_has(text, " 1796024862.000000001\n");
	assert_has(text, "_commit_seconds -0.0000005\n");
	assert_has(text, "_store_bytes 9223372036854775807\n");
	free(text);
	picture_free(&picture);
}

static void
every_label_set_has_an_index_of_its_own(void **state)
{
	static const enum metric_origin origins[] = {METRIC_STORED_COUNTER,
	    METRIC_STORED_HISTOGRAM, METRIC_LIVE_COUNTER, METRIC_GAUGE};
	unsigned next[COUNT(origins)] = {0};

	for (unsigned i = 0; i < METRICS; i++) {
		enum metric metric = (enum metric)i;
		unsigned kind = metric_family(metric)->origin;

		if (kind == METRIC_LIVE_COUNTER)
			kind = METRIC_GAUGE;
		for (unsigned set = 0; set < metric_sets(metric); set++)
			assert_int_equal(
			    metric_index(metric, set), next[kind]++);
	}
	assert_int_equal(
	    next[METRIC_GAUGE], metric_values(METRIC_LIVE_COUNTER));
	assert_int_equal(
	    next[METRIC_STORED_COUNTER], metrics_names()->counter_count);
	assert_int_equal(
	    next[METRIC_STORED_HISTOGRAM], metrics_names()->histogram_count);
}

static void
the_store_knows_counters_by_sample_name(void **state)
{
	const struct totals_names *names = metrics_names();

	assert_string_equal(names->counters[metric_index(METRIC_SMTP_REJECTS,
				REJECT_RCPT * REJECTS + REJECT_PERMANENT)],
	    "postlag_smtp_rejects_total{phase=\"rcpt\",class=\"5\"}");
	assert_string_equal(
	    names->counters[metric_index(METRIC_OUTCOME_REVISIONS,
		revision_number(RECIPIENT_BOUNCED, RECIPIENT_DELIVERED))],
	    "postlag_outcome_revisions_total{from=\"bounced\","
	    "to=\"delivered\"}");
	assert_string_equal(
	    names->histograms[metric_index(METRIC_DELIVERY_LATENCY, 0)],
	    "postlag_delivery_latency_seconds{route=\"inbound\"}");
}

/* Queries name them without the table. */
static void
series_are_those_of_the_metrics(void **state)
{
	const struct totals_names *names = metrics_names();

	for (unsigned i = 0; i < ROUTES; i++)
		assert_string_equal(
		    names->histograms[metric_index(METRIC_DELIVERY_LATENCY, i)],
		    series_of_route((enum route)i));
	for (unsigned i = 0; i < PHASES; i++)
		assert_string_equal(
		    names->histograms[metric_index(METRIC_PHASE, i)],
		    series_of_phase((enum phase)i));
}

static void
unknown_journals_share_a_label_value(void **state)
{
	assert_int_equal(metric_source("milter"), SOURCE_MILTER);
	assert_int_equal(metric_source("lmtp"), SOURCE_LMTP);
	assert_int_equal(metric_source("lmtp2"), SOURCE_OTHER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		case_17_an_empty_system_shows_every_label_set_as_zero),
	    cmocka_unit_test(buckets_are_cumulative_and_end_with_the_count),
	    cmocka_unit_test(nanoseconds_become_decimal_seconds_exactly),
	    cmocka_unit_test(every_label_set_has_an_index_of_its_own),
	    cmocka_unit_test(the_store_knows_counters_by_sample_name),
	    cmocka_unit_test(series_are_those_of_the_metrics),
	    cmocka_unit_test(unknown_journals_share_a_label_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

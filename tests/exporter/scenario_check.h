/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_check: what can never be, however the sources of a scenario are
 * read, and whether the end is as expected.
 */
#ifndef TESTS_EXPORTER_SCENARIO_CHECK_H
#define TESTS_EXPORTER_SCENARIO_CHECK_H

#include "tests/exporter/scenario_dump.h"

/* What is known of the end. */
struct expectation {
	char *dump;
	unsigned long lost, delivered;
	/* It is so only if nothing runs ahead of its cause, if no source lags
	 * so far behind another; 0: however far. */
	bool is_causal;
	int64_t lag_ns;
};

/* Looks at a world after each commit. */
struct checker {
	const struct scenario *scenario;
	const struct expectation *expected;
	unsigned told;           /* of how many deliveries */
	unsigned long delivered; /* as committed last */
	uint64_t *counters;      /* likewise */
	char *trouble;           /* what is impossible; NULL: nothing */
};

static inline void
expected_of(struct expectation *expected, struct world *world,
    const struct scenario *scenario)
{
	*expected =
	    (struct expectation){.dump = scenario_dump(world, scenario)};
	expected->lost = dump_value(expected->dump, "recipients_lost_total");
	expected->delivered = dump_value(expected->dump, "delivered");
}

/* Something that cannot be. */
static inline void __attribute__((format(printf, 2, 3)))
impossible(struct checker *checker, const char *format, ...)
{
	va_list arguments;

	if (checker->trouble != NULL)
		return;
	va_start(arguments, format);
	if (vasprintf(&checker->trouble, format, arguments) < 0)
		abort();
	va_end(arguments);
}

static inline void
check_counters(struct checker *checker, struct world *world)
{
	const struct totals_names *names = metrics_names();
	struct picture picture;

	picture_init(&picture);
	totals_snapshot(world->totals, picture.counters, picture.histograms);
	for (size_t i = 0; i < names->counter_count; i++)
		if (picture.counters[i] < checker->counters[i])
			impossible(checker, "%s sank from %lu to %lu",
			    names->counters[i], checker->counters[i],
			    picture.counters[i]);
	memcpy(checker->counters, picture.counters,
	    names->counter_count * sizeof(uint64_t));
	picture_free(&picture);
}

static inline size_t
check_gauges(struct checker *checker, struct world *world)
{
	struct join_figures figures;
	size_t open = 0;

	join_figures(world->join, &figures);
	for (unsigned i = 0; i < OPEN_STATES; i++) {
		if (figures.recipients[i] > STEPS_MAX)
			impossible(checker, "gauge %u is %zu", i,
			    figures.recipients[i]);
		open += figures.recipients[i];
	}
	return open;
}

/* How many recipients are in a state, by the counters. */
static inline unsigned long
counted_in(const char *totals, enum recipient_state state)
{
	unsigned long left = 0;
	char name[100];

	for (unsigned i = 0; i < REVISIONS; i++) {
		if (revision_from(i) != state)
			continue;
		snprintf(name, sizeof(name),
		    "outcome_revisions_total{from=\"%s\",to=\"%s\"}",
		    recipient_state_name(state),
		    recipient_state_name(revision_to(i)));
		left += dump_value(totals, name);
	}
	snprintf(name, sizeof(name), "recipient_outcomes_total{outcome=\"%s\"}",
	    recipient_state_name(state));
	return dump_value(totals, name) - left;
}

/* Whoever is delivered stays it, and nobody is lost of whom more is known
 * later. */
static inline void
check_outcomes(struct checker *checker, const char *totals)
{
	unsigned long delivered = counted_in(totals, RECIPIENT_DELIVERED);

	if (dump_sum(totals, "recipients_lost_total", "?") >
	    checker->expected->lost)
		impossible(checker, "lost");
	if (delivered > checker->told)
		impossible(checker, "%lu delivered, told of %u", delivered,
		    checker->told);
	if (delivered > checker->expected->delivered)
		impossible(checker, "%lu delivered, in the end %lu", delivered,
		    checker->expected->delivered);
	if (delivered < checker->delivered)
		impossible(checker, "%lu delivered, before %lu", delivered,
		    checker->delivered);
	checker->delivered = delivered;
}

/* I5 */
static inline void
check_balance(struct checker *checker, const char *totals)
{
	unsigned long came = came_in(totals), went = went_out(totals);

	if (came != went)
		impossible(checker, "%lu came in, %lu went out:\n%s", came,
		    went, totals);
}

/* What a state is not reached without: a reply to the hook of this class, or
 * such a line of the log. */
struct state_evidence {
	enum recipient_state state;
	uint32_t code_class; /* 0: none is enough */
	const char *status;
};

static inline bool
has_attempt(
    const struct message_record *record, size_t recipient, const char *status)
{
	for (size_t i = 0; i < record->attempt_count; i++)
		if (record->attempts[i].recipient == recipient &&
		    strcmp(record->attempts[i].status, status) == 0)
			return true;
	return false;
}

static inline bool
has_reply(const struct message_record *record,
    const struct recipient_record *recipient, uint32_t code_class)
{
	return recipient->leg >= 0 &&
	       last_code(&record->legs[recipient->leg]
			      .event.recipients[recipient->leg_recipient]) /
		       100 ==
		   code_class;
}

static inline void
check_recipient(struct checker *checker, const char *queue_id,
    const struct message_record *record, size_t number)
{
	static const struct state_evidence needs[] = {
	    {RECIPIENT_DELIVERED, 2, "sent"},
	    {RECIPIENT_BOUNCED, 5, "bounced"},
	    {RECIPIENT_RELAYED, 0, "sent"},
	    {RECIPIENT_HANDED_OFF, 0, "sent"},
	};
	const struct recipient_record *recipient = &record->recipients[number];

	for (size_t i = 0; i < COUNT(needs); i++)
		if (recipient->state == needs[i].state &&
		    !has_attempt(record, number, needs[i].status) &&
		    !has_reply(record, recipient, needs[i].code_class))
			impossible(checker, "%s %s %s without evidence",
			    queue_id, recipient->address,
			    recipient_state_name(recipient->state));
}

static inline void
check_record(
    void *context, const char *queue_id, const struct message_record *record)
{
	for (size_t i = 0; i < record->recipient_count; i++)
		check_recipient(context, queue_id, record, i);
}

static inline void
check_moment(struct checker *checker, struct world *world, bool look_at_rows)
{
	struct buffer totals = {.data = NULL};

	check_counters(checker, world);
	dump_totals(world, &totals);
	buffer_append_format(
	    &totals, "open %zu\n", check_gauges(checker, world));
	buffer_append(&totals, "", 1);
	check_balance(checker, (const char *)totals.data);
	check_outcomes(checker, (const char *)totals.data);
	buffer_free(&totals);
	if (look_at_rows)
		each_record(world, checker->scenario, check_record, checker);
}

/* Whether a text has this line, its newline included. */
static inline bool
has_line(const char *text, const char *line, size_t size)
{
	const char *at = text;

	while ((at = memmem(at, strlen(at), line, size)) != NULL) {
		if (at == text || at[-1] == '\n')
			return true;
		at++;
	}
	return false;
}

/* The lines that only one of two texts has. */
static inline void
append_lines_not_in(
    const char *text, const char *other, char mark, struct buffer *out)
{
	size_t size;

	for (const char *line = text; *line != '\0'; line += size) {
		size = strcspn(line, "\n") + 1;
		if (!has_line(other, line, size))
			buffer_append_format(
			    out, "%c%.*s", mark, (int)size, line);
	}
}

static inline void
compare_ends(struct checker *checker, const char *dump)
{
	const char *wanted = checker->expected->dump;
	struct buffer differences = {.data = NULL};

	if (strcmp(dump, wanted) == 0)
		return;
	append_lines_not_in(dump, wanted, '+', &differences);
	append_lines_not_in(wanted, dump, '-', &differences);
	buffer_append(&differences, "", 1);
	impossible(
	    checker, "the end differs\n%s", (const char *)differences.data);
	buffer_free(&differences);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by list_text.c for `postlag queue`. */
#include "cli/drain_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "cli/duration_text.h"
#include "cli/recipient_text.h"
#include "cli/text_page.h"
#include "store/query_open.h"
#include "store/timeline.h"

#define NS_PER_MINUTE (60 * CLOCK_NS_PER_SECOND)

enum {
	DOMAINS_SHOWN = DRAIN_RECORDS - 1,
	REASON_BEGIN = 2,
	LEFT_LEAST = 10, /* that a rate is told from */
	DOMAIN_COLUMNS = 26,
	WAITING_END = 35,
	OLDEST_END = 46,
	ESTIMATE_BEGIN = 48
};

/* What left in the window takes this long for all who wait. */
static struct drain_estimate
moving(const struct drain_domain *domain, uint64_t left, unsigned minutes)
{
	double rest = (double)domain->waiting / (double)left;
	double ns = rest * minutes * (double)NS_PER_MINUTE;

	return (struct drain_estimate){DRAIN_MOVING, left, minutes,
	    ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX};
}

struct drain_estimate
drain_estimate(const struct drain_domain *domain, int64_t now_wall_ns)
{
	struct drain_estimate estimate = {
	    .left = domain->left_long, .minutes = DRAIN_LONG_MINUTES};

	if (domain->left_short >= LEFT_LEAST)
		return moving(domain, domain->left_short, DRAIN_SHORT_MINUTES);
	if (domain->left_long >= LEFT_LEAST)
		return moving(domain, domain->left_long, DRAIN_LONG_MINUTES);
	if (domain->left_long > 0)
		estimate.state = DRAIN_TOO_FEW;
	else if (now_wall_ns - domain->oldest_wall_ns <
		 DRAIN_LONG_MINUTES * NS_PER_MINUTE)
		estimate.state = DRAIN_TOO_EARLY;
	else
		estimate.state = DRAIN_STANDING;
	return estimate;
}

static void
page_estimate(struct text_page *page, const struct drain_estimate *estimate)
{
	char text[DURATION_TEXT_SIZE];

	switch (estimate->state) {
	case DRAIN_MOVING:
		duration_text(estimate->remaining_ns, page->style.utf8, text);
		page_format(page, "%s, as %" PRIu64 " left in %u m", text,
		    estimate->left, estimate->minutes);
		break;
	case DRAIN_TOO_FEW:
		page_format(page, "? only %" PRIu64 " left in %u m",
		    estimate->left, estimate->minutes);
		break;
	case DRAIN_TOO_EARLY:
		page_text(page, "? too early to tell");
		break;
	default:
		page_colour(page, PAGE_BAD);
		page_text(page, "not draining");
		page_colour(page, PAGE_PLAIN);
		page_format(page, ": none left in %u m", estimate->minutes);
	}
}

static void
row(struct text_page *page, const char *name, const struct drain_domain *domain,
    int64_t now_wall_ns)
{
	const struct drain_estimate estimate =
	    drain_estimate(domain, now_wall_ns);
	int64_t age_ns = now_wall_ns - domain->oldest_wall_ns;
	char text[DURATION_TEXT_SIZE];
	char *number = memory_format("%" PRIu64, domain->waiting);

	page_text(page, name);
	if (page->column > DOMAIN_COLUMNS)
		page_end_line(page);
	page_right(page, number, WAITING_END);
	duration_text(age_ns > 0 ? age_ns : 0, page->style.utf8, text);
	page_right(page, text, OLDEST_END);
	page_pad(page, ESTIMATE_BEGIN);
	page_estimate(page, &estimate);
	page_end_line(page);
	free(number);
}

static bool
is_to(const struct recipient_record *recipient, const char *domain)
{
	const char *at = strrchr(recipient->address, '@');

	return open_kind_has(OPEN_QUEUED, recipient) &&
	       (domain == NULL ? at == NULL
			       : at != NULL && strcasecmp(at + 1, domain) == 0);
}

/* The last that is known of the one that waits longest. */
static void
reason_lines(struct text_page *page, const struct drain_domain *domain,
    struct arena *arena)
{
	const struct timeline *timeline =
	    domain->oldest != NULL ? timeline_build(domain->oldest, arena)
				   : NULL;
	size_t i = 0;
	char *why;

	while (timeline != NULL && i < timeline->recipient_count &&
	       !is_to(timeline->recipients[i].record, domain->name))
		i++;
	if (timeline == NULL || i == timeline->recipient_count)
		return;
	why = recipient_text_why(timeline, &timeline->recipients[i]);
	if (why[0] != '\0') {
		page_pad(page, REASON_BEGIN);
		page_wrapped(page, why);
		page_end_line(page);
	}
	free(why);
}

static const char *
name_of(const struct drain_domain *domain)
{
	return domain->name != NULL ? domain->name : "(no domain)";
}

/* All from `first` on together. */
static void
others_row(struct text_page *page, const struct drain *drain, size_t first)
{
	const struct drain_answer *answer = &drain->answer;
	struct drain_domain sum = {.oldest_wall_ns = INT64_MAX};
	char *name;

	for (size_t i = first; i < answer->count; i++) {
		const struct drain_domain *domain = &answer->domains[i];

		sum.waiting += domain->waiting;
		sum.left_short += domain->left_short;
		sum.left_long += domain->left_long;
		if (domain->oldest_wall_ns < sum.oldest_wall_ns)
			sum.oldest_wall_ns = domain->oldest_wall_ns;
	}
	name = memory_format("%zu other domains", answer->count - first);
	row(page, name, &sum, drain->now_wall_ns);
	free(name);
}

void
drain_text(
    struct text_page *page, const struct drain *drain, struct arena *arena)
{
	const struct drain_answer *answer = &drain->answer;
	size_t shown = answer->count;

	if (shown == 0)
		return;
	if (shown > DOMAINS_SHOWN + 1)
		shown = DOMAINS_SHOWN;
	page_end_line(page);
	page_colour(page, PAGE_BOLD);
	page_text(page, "to");
	page_right(page, "waiting", WAITING_END);
	page_right(page, "oldest", OLDEST_END);
	page_pad(page, ESTIMATE_BEGIN);
	page_text(page, "empty in");
	page_colour(page, PAGE_PLAIN);
	page_end_line(page);
	for (size_t i = 0; i < shown; i++) {
		row(page, name_of(&answer->domains[i]), &answer->domains[i],
		    drain->now_wall_ns);
		if (drain->with_reasons)
			reason_lines(page, &answer->domains[i], arena);
	}
	if (shown < answer->count)
		others_row(page, drain, shown);
}

static const char *const state_names[DRAIN_STATES] = {
    [DRAIN_MOVING] = "moving",
    [DRAIN_TOO_FEW] = "too_few",
    [DRAIN_TOO_EARLY] = "too_early",
    [DRAIN_STANDING] = "standing",
};

static void
domain_json(
    const struct drain_domain *domain, int64_t now_wall_ns, struct buffer *out)
{
	const struct drain_estimate estimate =
	    drain_estimate(domain, now_wall_ns);
	char oldest[CLOCK_TEXT_SIZE];

	clock_format(domain->oldest_wall_ns, oldest);
	buffer_append_string(out, "{\"domain\": ");
	json_text(out, domain->name);
	buffer_append_format(out,
	    ", \"waiting\": %" PRIu64 ", \"oldest\": \"%s\", \"drain\": \"%s\","
	    " \"left\": %" PRIu64 ", \"left_within_seconds\": %u,"
	    " \"empty_in_seconds\": ",
	    domain->waiting, oldest, state_names[estimate.state], estimate.left,
	    estimate.minutes * 60);
	if (estimate.state == DRAIN_MOVING)
		buffer_append_format(out, "%" PRId64 "}",
		    estimate.remaining_ns / CLOCK_NS_PER_SECOND);
	else
		buffer_append_string(out, "null}");
}

void
drain_json(const struct drain *drain, struct buffer *out)
{
	buffer_append_string(out, "[");
	for (size_t i = 0; i < drain->answer.count; i++) {
		buffer_append_string(out, i > 0 ? ",\n " : "");
		domain_json(&drain->answer.domains[i], drain->now_wall_ns, out);
	}
	buffer_append_string(out, "]");
}

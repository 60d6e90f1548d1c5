/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the question, asks the store, writes the answer. Called on the HTTP
 * threads. */
#include "exporter/serve/api_latency.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/serve/api_readers.h"
#include "store/latency_json.h"
#include "store/query_latency.h"
#include "store/search_time.h"
#include "store/series.h"

#define ANSWER_BYTES (64u << 20)
#define PERIOD_NS CLOCK_NS_PER_DAY
#define POINTS_WANTED 100

/* Steps that people read easily. */
static const int64_t steps_ns[] = {
    LATENCY_MINUTE_NS,
    5 * LATENCY_MINUTE_NS,
    15 * LATENCY_MINUTE_NS,
    LATENCY_HOUR_NS,
    3 * LATENCY_HOUR_NS,
    6 * LATENCY_HOUR_NS,
    24 * LATENCY_HOUR_NS,
};

struct question {
	struct latency_question latency;
	const char *series[ROUTES];
};

static int
choose_phase(const char *name, struct question *question, struct reason *reason)
{
	for (unsigned i = 0; i < PHASES; i++)
		if (strcmp(phase_describe((enum phase)i)->name, name) == 0) {
			question->series[0] = series_of_phase((enum phase)i);
			question->latency.series_count = 1;
			return 0;
		}
	return reason_set(reason, "there is no phase of that name");
}

static int
choose_routes(
    const char *name, struct question *question, struct reason *reason)
{
	size_t *count = &question->latency.series_count;

	for (unsigned i = 0; i < ROUTES; i++)
		if (*name == '\0' ||
		    strcmp(route_name((enum route)i), name) == 0)
			question->series[(*count)++] =
			    series_of_route((enum route)i);
	return *count > 0
		   ? 0
		   : reason_set(reason, "there is no route of that name");
}

static int
read_times(const struct api_latency *asked, struct latency_question *latency,
    struct reason *reason)
{
	int64_t now_ns = clock_stamp().wall_ns;

	latency->until_wall_ns = now_ns;
	if (*asked->until != '\0' && search_moment(asked->until, now_ns, true,
					 &latency->until_wall_ns) != 0)
		return reason_set(reason, "until takes a time or an age");
	latency->since_wall_ns = latency->until_wall_ns - PERIOD_NS;
	if (*asked->since != '\0' && search_moment(asked->since, now_ns, false,
					 &latency->since_wall_ns) != 0)
		return reason_set(reason, "since takes a time or an age");
	return 0;
}

static int
read_step(
    const char *text, struct latency_question *latency, struct reason *reason)
{
	int64_t period_ns = latency->until_wall_ns - latency->since_wall_ns;
	size_t i = 0;

	if (*text != '\0')
		return search_duration(text, &latency->step_ns) == 0
			   ? 0
			   : reason_set(reason, "step takes a duration");
	while (i + 1 < sizeof(steps_ns) / sizeof(steps_ns[0]) &&
	       period_ns / steps_ns[i] > POINTS_WANTED)
		i++;
	latency->step_ns = steps_ns[i];
	return 0;
}

static int
read_question(const struct api_latency *asked, struct question *question,
    struct reason *reason)
{
	struct latency_question *latency = &question->latency;

	*question = (struct question){
	    .latency.with_cells = strcmp(asked->cells, "1") == 0};
	latency->series = question->series;
	if (*asked->phase != '\0' && *asked->route != '\0')
		return reason_set(reason, "a phase has no route");
	if ((*asked->phase != '\0'
		    ? choose_phase(asked->phase, question, reason)
		    : choose_routes(asked->route, question, reason)) != 0 ||
	    read_times(asked, latency, reason) != 0 ||
	    read_step(asked->step, latency, reason) != 0)
		return -1;
	return store_latency_check(latency, reason);
}

unsigned
api_latency(
    struct api *api, const struct api_latency *asked, struct buffer *out)
{
	struct question question;
	struct latency_answer answer;
	struct store_reader *reader;
	struct arena *arena;
	struct reason reason;
	int result = -1;

	if (read_question(asked, &question, &reason) != 0)
		return api_error(out, 400, reason.text);
	arena = arena_new(ANSWER_BYTES);
	reader = api_readers_take(api_readers(api), &reason);
	if (reader != NULL) {
		result = store_latency(
		    reader, &question.latency, arena, &answer, &reason);
		api_readers_return(api_readers(api), reader);
	}
	if (result == 0)
		latency_answer_json(&answer, question.latency.step_ns, out);
	else
		log_warn("latency=failed reason=\"%s\"", reason.text);
	arena_free(&arena);
	return result == 0
		   ? 200
		   : api_error(out, 503, "the store cannot be read now");
}

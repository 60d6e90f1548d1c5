/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the question, asks the store, writes the answer. Called on the HTTP
 * threads. */
#include "exporter/serve/api_latency.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/serve/api_readers.h"
#include "store/latency_json.h"
#include "store/query_latency.h"
#include "store/series.h"

#define ANSWER_BYTES (64u << 20)

struct question {
	struct latency_question latency;
	const char *series[ROUTES];
	char labels[SERIES_KINDS][SERIES_LABEL_SIZE];
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

/* The label that is asked for; NULL: none is. */
static const char *
read_label(struct question *question, enum series_kind kind, const char *asked)
{
	if (*asked == '\0')
		return NULL;
	series_label(asked, question->labels[kind]);
	return question->labels[kind];
}

static void
read_labels(const struct api_latency *asked, struct question *question)
{
	question->latency.labels = (struct series_labels){
	    .host = read_label(question, SERIES_HOST, asked->host),
	    .relay = read_label(question, SERIES_RELAY, asked->relay),
	    .provider = read_label(question, SERIES_PROVIDER, asked->provider),
	};
}

static int
read_question(const struct api_latency *asked, struct question *question,
    struct reason *reason)
{
	struct latency_question *latency = &question->latency;
	bool by_other;

	*question = (struct question){
	    .latency.with_cells = strcmp(asked->cells, "1") == 0};
	latency->series = question->series;
	read_labels(asked, question);
	by_other = latency->labels.relay != NULL ||
		   latency->labels.provider != NULL;
	if (*asked->phase != '\0' && (*asked->route != '\0' || by_other))
		return reason_set(
		    reason, "a phase has no route, relay or provider");
	if ((*asked->phase != '\0'
		    ? choose_phase(asked->phase, question, reason)
		    : choose_routes(asked->route, question, reason)) != 0 ||
	    api_period_read(
		&asked->period, by_other, &latency->period, reason) != 0)
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
		latency_answer_json(
		    &answer, question.latency.period.step_ns, out);
	else
		log_warn("latency=failed reason=\"%s\"", reason.text);
	arena_free(&arena);
	return result == 0
		   ? 200
		   : api_error(out, 503, "the store cannot be read now");
}

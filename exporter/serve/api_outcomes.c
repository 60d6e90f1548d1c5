/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the question, asks the store, writes the answer. Called on the HTTP
 * threads. */
#include "exporter/serve/api_outcomes.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/serve/api_period.h"
#include "exporter/serve/api_readers.h"
#include "store/outcomes_json.h"
#include "store/query_outcomes.h"

/* The largest answer, of QUERY_STEPS_MAX steps, takes a fraction of it. */
#define ANSWER_BYTES (4u << 20)

unsigned
api_outcomes(
    struct api *api, const struct api_period *asked, struct buffer *out)
{
	struct query_period period;
	struct outcome_answer answer;
	struct store_reader *reader;
	struct arena *arena;
	struct reason reason;
	int result = -1;

	if (api_period_read(asked, false, &period, &reason) != 0)
		return api_error(out, 400, reason.text);
	arena = arena_new(ANSWER_BYTES);
	reader = api_readers_take(api_readers(api), &reason);
	if (reader != NULL) {
		result =
		    store_outcomes(reader, &period, arena, &answer, &reason);
		api_readers_return(api_readers(api), reader);
	}
	if (result == 0)
		outcomes_json(&answer, period.step_ns, out);
	else
		log_warn("outcomes=failed reason=\"%s\"", reason.text);
	arena_free(&arena);
	return result == 0
		   ? 200
		   : api_error(out, 503, "the store cannot be read now");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a search. What is refused is so with a reason that points into the
 * text; what is accepted can be compared with anything. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/record.h"
#include "store/search.h"
#include "store/search_match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
compare(const struct search *search)
{
	struct recipient_record recipient = {
	    .address = "a@b.example", .leg = -1};
	struct attempt_record attempt = {
	    .relay = "mx.example[192.0.2.1]:25", .wall_ns = 1};
	const struct message_record record = {
	    .event = {.queue_id = "4gXyz",
		.message_id = "<1@b.example>",
		.sender = "<>",
		.client_name = "c.example"},
	    .recipients = &recipient,
	    .recipient_count = 1,
	    .attempts = &attempt,
	    .attempt_count = 1,
	};
	bool meant = false;

	assert(search_matches(search, &record, &meant) == meant);
	if (search->term_count == 0)
		assert(meant);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(1 << 20);
	char *text = strndup((const char *)data, size);
	struct search search;
	struct search_error error;

	if (search_parse(text, INT64_C(1796040000) * 1000000000, arena, &search,
		&error) == 0) {
		compare(&search);
	} else {
		assert(error.at + error.size <= strlen(text));
		assert(error.reason.text[0] != '\0');
	}
	free(text);
	arena_free(&arena);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end_of_data: pure; called by the dialogue for every byte of content, so that
 * what it costs a byte is memchr(3) for the next dot. The automaton runs only
 * behind CRLF and where a piece begins.
 */
#include "lmtp/end_of_data.h"

#include <string.h>

static const char terminator[] = "\r\n.\r\n";
#define TERMINATOR_BYTES (sizeof(terminator) - 1)

void
end_of_data_begin(struct end_of_data *state)
{
	/* DATA's own line end stands before the first byte. */
	state->matched = 2;
}

static unsigned
matched_after(unsigned matched, char c)
{
	if (c == terminator[matched])
		return matched + 1;
	return c == terminator[0] ? 1 : 0;
}

/* The place behind the next dot that follows CRLF, or the end. */
static const char *
behind_next_dot(const char *from, const char *end, unsigned *matched_r)
{
	const char *dot = from;

	while ((dot = memchr(dot, '.', (size_t)(end - dot))) != NULL) {
		dot++;
		if (dot - from >= 3 && dot[-2] == '\n' && dot[-3] == '\r') {
			*matched_r = 3;
			return dot;
		}
	}
	if (end - from >= 2 && end[-2] == '\r' && end[-1] == '\n')
		*matched_r = 2;
	else
		*matched_r = end > from && end[-1] == '\r';
	return end;
}

size_t
end_of_data_scan(
    struct end_of_data *state, const void *data, size_t size, bool *found_r)
{
	const char *begin = data;
	const char *end = begin + size;
	const char *at = begin;

	*found_r = false;
	while (at < end && !*found_r) {
		if (state->matched == 0)
			at = behind_next_dot(at, end, &state->matched);
		else
			state->matched = matched_after(state->matched, *at++);
		*found_r = state->matched == TERMINATOR_BYTES;
	}
	return (size_t)(at - begin);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * received: a tokenizer that knows comments and the grammar above. Pure; called
 * by the header scan.
 */
#include "lmtp/received.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct token {
	const char *text;
	size_t size;
	bool after_comment;
};

struct cursor {
	const char *at;
	const char *end;
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Behind the comment that begins here; comments nest and quote with `\`. */
static void
skip_comment(struct cursor *cursor)
{
	int depth = 0;

	do {
		if (*cursor->at == '(')
			depth++;
		else if (*cursor->at == ')')
			depth--;
		else if (*cursor->at == '\\' && cursor->end - cursor->at > 1)
			cursor->at++;
		cursor->at++;
	} while (depth > 0 && cursor->at < cursor->end);
}

/* The next word outside of comments. Returns false at the end, which the
 * semicolon before the date is too. */
static bool
next_token(struct cursor *cursor, struct token *token_r)
{
	token_r->after_comment = false;
	while (cursor->at < cursor->end) {
		if (*cursor->at == '(') {
			skip_comment(cursor);
			token_r->after_comment = true;
		} else if (is_space(*cursor->at))
			cursor->at++;
		else
			break;
	}
	token_r->text = cursor->at;
	while (cursor->at < cursor->end && !is_space(*cursor->at) &&
	       *cursor->at != '(' && *cursor->at != ';')
		cursor->at++;
	token_r->size = (size_t)(cursor->at - token_r->text);
	return token_r->size > 0;
}

static bool
token_is(const struct token *token, const char *word)
{
	return token->size == strlen(word) &&
	       strncasecmp(token->text, word, token->size) == 0;
}

/* Reads `[from X] by HOST (comment)` and leaves the token behind it. */
static bool
written_by(struct cursor *cursor, const char *host_name, struct token *behind_r)
{
	struct token token;

	if (!next_token(cursor, &token))
		return false;
	if (token_is(&token, "from") &&
	    !(next_token(cursor, &token) && next_token(cursor, &token)))
		return false;
	return token_is(&token, "by") && next_token(cursor, &token) &&
	       token_is(&token, host_name) && next_token(cursor, behind_r) &&
	       behind_r->after_comment;
}

static int
take_queue_id(
    const struct token *token, char queue_id_r[RECEIVED_QUEUE_ID_SIZE])
{
	if (token->size >= RECEIVED_QUEUE_ID_SIZE)
		return 0;
	for (size_t i = 0; i < token->size; i++)
		if (!isalnum((unsigned char)token->text[i]))
			return 0;
	memcpy(queue_id_r, token->text, token->size);
	queue_id_r[token->size] = '\0';
	return 1;
}

int
received_queue_id(const char *value, size_t size, const char *host_name,
    char queue_id_r[RECEIVED_QUEUE_ID_SIZE])
{
	struct cursor cursor = {value, value + size};
	struct token token;

	queue_id_r[0] = '\0';
	if (!written_by(&cursor, host_name, &token))
		return 0;
	do {
		if (token_is(&token, "id"))
			return next_token(&cursor, &token)
				   ? take_queue_id(&token, queue_id_r)
				   : 0;
	} while (next_token(&cursor, &token));
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes searches apart, term by term. Called by the command line, and by the
 * exporter's HTTP threads.
 */
#include "store/search.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "store/record.h"
#include "store/search_time.h"

#define TERMS_MAX 64

struct parser {
	const char *text; /* all of it */
	const char *at;   /* what is to be read next */
	struct arena *arena;
	struct search *search;
	struct search_error *error;
};

typedef int value_read(struct parser *parser, struct search_term *term,
    size_t number, const char *word);

static value_read read_states, read_duration, read_moment;

/* How the words of a term are read; NULL: they stay words. */
static const struct key {
	const char *name;
	value_read *read;
} keys[SEARCH_KEYS] = {
    [SEARCH_ANY] = {"", NULL},
    [SEARCH_TO] = {"to", NULL},
    [SEARCH_FROM] = {"from", NULL},
    [SEARCH_STATUS] = {"status", read_states},
    [SEARCH_QUEUE] = {"queue", NULL},
    [SEARCH_MSGID] = {"msgid", NULL},
    [SEARCH_CLIENT] = {"client", NULL},
    [SEARCH_RELAY] = {"relay", NULL},
    [SEARCH_HOST] = {"host", NULL},
    [SEARCH_RUN] = {"run", NULL},
    [SEARCH_SLOWER] = {"slower", read_duration},
    [SEARCH_FASTER] = {"faster", read_duration},
    [SEARCH_SINCE] = {"since", read_moment},
    [SEARCH_UNTIL] = {"until", read_moment},
};

/* Names for several states, and other names for one. */
static const struct group {
	const char *name;
	uint32_t states;
} groups[] = {
#define STATE(name) (UINT32_C(1) << RECIPIENT_##name)
    {"queued", STATE(IN_FLIGHT)},
    {"open", STATE(IN_FLIGHT) | STATE(DEFERRED) | STATE(HELD)},
    {"sent", STATE(DELIVERED) | STATE(RELAYED) | STATE(HANDED_OFF)},
    {"failed", STATE(BOUNCED) | STATE(EXPIRED)},
    {"missing", STATE(LOST) | STATE(UNKNOWN)},
#undef STATE
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

const char *
search_key_name(enum search_key key)
{
	return (unsigned)key < SEARCH_KEYS ? keys[key].name : "";
}

/* Says what is wrong with what lies between `at` and what is read next. */
static int
refuse(struct parser *parser, const char *at)
{
	parser->error->at = (size_t)(at - parser->text);
	parser->error->size = (size_t)(parser->at - at);
	return -1;
}

static int
refuse_memory(struct parser *parser)
{
	reason_set(&parser->error->reason, "out of memory");
	return refuse(parser, parser->at);
}

static uint32_t
states_of(const char *word)
{
	for (unsigned i = 0; i < RECIPIENT_STATES; i++)
		if (strcmp(word,
			recipient_state_name((enum recipient_state)i)) == 0)
			return UINT32_C(1) << i;
	for (size_t i = 0; i < GROUPS; i++)
		if (strcmp(word, groups[i].name) == 0)
			return groups[i].states;
	return 0;
}

static const char *
suggest_state(const char *word)
{
	const char *names[RECIPIENT_STATES + GROUPS];
	size_t count = 0;

	for (unsigned i = 0; i < RECIPIENT_STATES; i++)
		names[count++] = recipient_state_name((enum recipient_state)i);
	for (size_t i = 0; i < GROUPS; i++)
		names[count++] = groups[i].name;
	return suggest(word, names, count);
}

static int
read_states(struct parser *parser, struct search_term *term, size_t number,
    const char *word)
{
	uint32_t states = states_of(word);
	const char *meant = suggest_state(word);

	(void)number;
	term->states |= states;
	if (states != 0)
		return 0;
	if (meant != NULL)
		return reason_set(&parser->error->reason,
		    "no status is called \"%s\"; is it %s?", word, meant);
	return reason_set(&parser->error->reason,
	    "no status is called \"%s\"; there are delivered, deferred, "
	    "bounced, held, lost, open and others",
	    word);
}

/* Only one makes sense. */
static int
refuse_second(struct parser *parser, const struct search_term *term)
{
	return reason_set(&parser->error->reason, "%s: takes one value",
	    keys[term->key].name);
}

static int
read_duration(struct parser *parser, struct search_term *term, size_t number,
    const char *word)
{
	if (number > 0)
		return refuse_second(parser, term);
	if (search_duration(word, &term->ns) == 0)
		return 0;
	return reason_set(&parser->error->reason,
	    "\"%s\" is not a duration such as 500ms, 10s or 1h30m", word);
}

static int
read_moment(struct parser *parser, struct search_term *term, size_t number,
    const char *word)
{
	if (number > 0)
		return refuse_second(parser, term);
	if (search_moment(word, parser->search->now_wall_ns,
		term->key == SEARCH_UNTIL, &term->ns) == 0)
		return 0;
	return reason_set(&parser->error->reason,
	    "\"%s\" is neither an age such as 2h nor a time such as today, "
	    "2026-11-30 or 2026-11-30T14:30",
	    word);
}

static void
skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool
is_word_end(char byte)
{
	return byte == '\0' || byte == ',' || isspace((unsigned char)byte);
}

/* From behind a quote to behind the next one. */
static int
take_quoted(struct parser *parser, char **to)
{
	const char *start = parser->at - 1;

	while (*parser->at != '"') {
		if (parser->at[0] == '\\' &&
		    (parser->at[1] == '"' || parser->at[1] == '\\'))
			parser->at++;
		if (*parser->at == '\0') {
			reason_set(&parser->error->reason,
			    "a quote that is not closed");
			return refuse(parser, start);
		}
		*(*to)++ = *parser->at++;
	}
	parser->at++;
	return 0;
}

/* A word, quotes taken away. NULL when there is something wrong. */
static char *
take_word(struct parser *parser)
{
	char *word = arena_alloc(parser->arena, strlen(parser->at) + 1);
	char *to = word;

	if (word == NULL) {
		refuse_memory(parser);
		return NULL;
	}
	while (!is_word_end(*parser->at)) {
		if (*parser->at != '"')
			*to++ = *parser->at++;
		else if (parser->at++, take_quoted(parser, &to) != 0)
			return NULL;
	}
	*to = '\0';
	return word;
}

static int
add_word(struct parser *parser, struct search_term *term, const char *word)
{
	const char **place = arena_append(parser->arena, &term->words,
	    &term->word_count, sizeof(*term->words));

	if (place == NULL)
		return refuse_memory(parser);
	*place = word;
	return 0;
}

static int
take_words(struct parser *parser, struct search_term *term, const char *start)
{
	value_read *read = keys[term->key].read;
	size_t count = 0;

	do {
		const char *at = parser->at;
		const char *word = take_word(parser);

		if (word == NULL)
			return -1;
		if (*word == '\0') {
			reason_set(&parser->error->reason, "%s: lacks a value",
			    keys[term->key].name);
			return refuse(parser, start);
		}
		if (read != NULL && read(parser, term, count, word) != 0)
			return refuse(parser, at);
		if (read == NULL && add_word(parser, term, word) != 0)
			return -1;
		count++;
	} while (*parser->at == ',' && parser->at++ != NULL);
	return 0;
}

/* The letters in front of a colon; 0: there are none. */
static size_t
key_size(const char *at)
{
	size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return at[size] == ':' ? size : 0;
}

static int
refuse_key(struct parser *parser, size_t size)
{
	const char *names[SEARCH_KEYS - 1], *meant, *at = parser->at;
	char *word = arena_string_sized(parser->arena, at, size);

	for (unsigned i = 1; i < SEARCH_KEYS; i++)
		names[i - 1] = keys[i].name;
	meant = word != NULL ? suggest(word, names, SEARCH_KEYS - 1) : NULL;
	parser->at += size;
	if (meant != NULL)
		reason_set(&parser->error->reason,
		    "no key is called \"%s\"; is it %s?", word, meant);
	else
		reason_set(&parser->error->reason,
		    "no key is called \"%.*s\"; there are to, from, status, "
		    "queue, msgid, client, relay, host, run, slower, faster, "
		    "since and until (a word with a colon needs quotes)",
		    (int)size, at);
	return refuse(parser, at);
}

static int
take_key(struct parser *parser, enum search_key *key_r)
{
	size_t size = key_size(parser->at);

	*key_r = SEARCH_ANY;
	if (size == 0)
		return 0;
	for (unsigned i = 1; i < SEARCH_KEYS; i++)
		if (strlen(keys[i].name) == size &&
		    strncasecmp(parser->at, keys[i].name, size) == 0)
			*key_r = (enum search_key)i;
	if (*key_r == SEARCH_ANY)
		return refuse_key(parser, size);
	parser->at += size + 1;
	return 0;
}

static int
take_term(struct parser *parser)
{
	struct search *search = parser->search;
	const char *start = parser->at;
	struct search_term *term;

	if (search->term_count == TERMS_MAX) {
		parser->at += strlen(parser->at);
		reason_set(
		    &parser->error->reason, "more than %d terms", TERMS_MAX);
		return refuse(parser, start);
	}
	term = arena_append(
	    parser->arena, &search->terms, &search->term_count, sizeof(*term));
	if (term == NULL)
		return refuse_memory(parser);
	term->is_negated = *parser->at == '-' || *parser->at == '!';
	parser->at += term->is_negated;
	if (take_key(parser, &term->key) != 0)
		return -1;
	return take_words(parser, term, start);
}

int
search_parse(const char *text, int64_t now_wall_ns, struct arena *arena,
    struct search *search_r, struct search_error *error_r)
{
	struct parser parser = {text, text, arena, search_r, error_r};

	*search_r = (struct search){.now_wall_ns = now_wall_ns};
	*error_r = (struct search_error){.at = 0};
	if (strlen(text) > SEARCH_TEXT_MAX) {
		error_r->at = SEARCH_TEXT_MAX;
		error_r->size = strlen(text) - SEARCH_TEXT_MAX;
		return reason_set(
		    &error_r->reason, "more than %d bytes", SEARCH_TEXT_MAX);
	}
	for (skip_blanks(&parser); *parser.at != '\0'; skip_blanks(&parser))
		if (take_term(&parser) != 0)
			return -1;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares one message with a search. Called by queries for every candidate
 * that an index gave them.
 */
#include "store/search_match.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "proto/phase.h"
#include "store/record.h"
#include "store/search.h"

/* A word with what it is compared: `size` bytes. */
struct text {
	const char *at;
	size_t size;
};

static struct text
text_of(const char *string)
{
	return (struct text){string, string != NULL ? strlen(string) : 0};
}

/* As the words of a search are written: in ASCII both cases are the same. */
static bool
is_same(char left, char right)
{
	return tolower((unsigned char)left) == tolower((unsigned char)right);
}

static bool
is_equal(char left, char right)
{
	return left == right;
}

typedef bool same_byte(char left, char right);

/* Goes back to the last `*` where it has to, so that time is bounded by the
 * product of both sizes. */
static bool
is_like_by(const char *word, struct text text, same_byte *is)
{
	const char *star = NULL;
	size_t at = 0, star_at = 0;

	while (at < text.size) {
		if (*word == '*') {
			star = word++;
			star_at = at;
		} else if (*word != '\0' && is(*word, text.at[at])) {
			word++;
			at++;
		} else if (star != NULL) {
			word = star + 1;
			at = ++star_at;
		} else {
			return false;
		}
	}
	while (*word == '*')
		word++;
	return *word == '\0';
}

static bool
is_like(const char *word, struct text text)
{
	return is_like_by(word, text, is_same);
}

/* In queue ids and Message-IDs the case matters. */
static bool
is_id(const char *word, const char *id)
{
	return id != NULL && is_like_by(word, text_of(id), is_equal);
}

static bool
has_part(const char *word, struct text text)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= text.size; i++)
		if (strncasecmp(text.at + i, word, size) == 0)
			return true;
	return false;
}

bool
search_word_is(const char *word, const char *text)
{
	return text != NULL && is_like(word, text_of(text));
}

bool
search_word_is_address(const char *word, const char *address)
{
	const char *at = address != NULL ? strrchr(address, '@') : NULL;

	if (search_word_is(word, address))
		return true;
	if (at == NULL || strchr(word, '*') != NULL)
		return false;
	if (word[0] == '@')
		return search_word_is(word + 1, at + 1);
	if (strchr(word, '@') != NULL)
		return false;
	return search_word_is(word, at + 1) ||
	       (strchr(word, '.') == NULL &&
		   is_like(
		       word, (struct text){address, (size_t)(at - address)}));
}

bool
search_word_is_in_address(const char *word, const char *address)
{
	if (address == NULL)
		return false;
	return strchr(word, '*') != NULL ? search_word_is_address(word, address)
					 : has_part(word, text_of(address));
}

bool
search_word_is_host(const char *word, const char *host)
{
	const char *open, *close;

	if (search_word_is(word, host))
		return true;
	open = host != NULL ? strchr(host, '[') : NULL;
	close = open != NULL ? strchr(open, ']') : NULL;
	return close != NULL &&
	       (is_like(word, (struct text){host, (size_t)(open - host)}) ||
		   is_like(word,
		       (struct text){open + 1, (size_t)(close - open) - 1}));
}

static bool
any_word_is(
    const struct search_term *term, const char *text, search_word_test *is)
{
	for (size_t i = 0; i < term->word_count; i++)
		if (is(term->words[i], text))
			return true;
	return false;
}

/* A Message-ID with and without its brackets. */
static bool
is_message_id(const char *word, const char *message_id)
{
	struct text inner = text_of(message_id);

	if (is_id(word, message_id))
		return true;
	if (inner.size < 2 || inner.at[0] != '<')
		return false;
	inner.at++;
	inner.size -= 2;
	return is_like_by(word, inner, is_equal);
}

static bool
has_queue_id(
    const struct message_record *record, const struct search_term *term)
{
	if (any_word_is(term, record->event.queue_id, is_id))
		return true;
	for (size_t i = 0; i < record->queue_id_count; i++)
		if (any_word_is(term, record->queue_ids[i], is_id))
			return true;
	for (size_t i = 0; i < record->leg_count; i++)
		if (any_word_is(term, record->legs[i].event.queue_id, is_id))
			return true;
	return false;
}

/* What a delivery tells too. */
static bool
has_message_id(
    const struct message_record *record, const struct search_term *term)
{
	if (any_word_is(term, record->event.message_id, is_message_id))
		return true;
	for (size_t i = 0; i < record->leg_count; i++)
		if (any_word_is(
			term, record->legs[i].event.message_id, is_message_id))
			return true;
	return false;
}

static bool
has_sender(const struct message_record *record, const struct search_term *term)
{
	const char *sender = record->event.sender;

	if (sender == NULL && record->leg_count > 0)
		sender = record->legs[0].event.sender;
	return any_word_is(term, sender, search_word_is_address);
}

static bool
has_client(const struct message_record *record, const struct search_term *term)
{
	const struct message_event *event = &record->event;

	return any_word_is(term, event->client_name, search_word_is) ||
	       any_word_is(term, event->client_address, search_word_is) ||
	       any_word_is(term, event->helo, search_word_is);
}

static bool
has_host(const struct message_record *record, const struct search_term *term)
{
	const char *instance = record->instance;

	if (instance == NULL && record->leg_count > 0)
		instance = record->legs[0].instance;
	return any_word_is(term, instance, search_word_is);
}

static bool
has_run(const struct message_record *record, const struct search_term *term)
{
	if (any_word_is(term, record->event.run, search_word_is))
		return true;
	for (size_t i = 0; i < record->leg_count; i++)
		if (any_word_is(
			term, record->legs[i].event.run, search_word_is))
			return true;
	return false;
}

static bool
has_id(const struct message_record *record, const struct search_term *term)
{
	char id[UUID_TEXT_SIZE];

	if (!uuid_is_set(&record->event.id))
		return false;
	uuid_format(&record->event.id, id);
	return any_word_is(term, id, search_word_is);
}

/* What a bare word may mean of a message. */
static bool
has_word(const struct message_record *record, const struct search_term *term)
{
	const char *sender = record->event.sender;

	if (sender == NULL && record->leg_count > 0)
		sender = record->legs[0].event.sender;
	return any_word_is(term, sender, search_word_is_in_address) ||
	       has_queue_id(record, term) || has_message_id(record, term) ||
	       has_id(record, term);
}

typedef bool message_has(
    const struct message_record *record, const struct search_term *term);

static bool
began_since(const struct message_record *record, const struct search_term *term)
{
	return record_begin_ns(record) >= term->ns;
}

static bool
began_before(
    const struct message_record *record, const struct search_term *term)
{
	return record_begin_ns(record) < term->ns;
}

static message_has *const of_message[SEARCH_KEYS] = {
    [SEARCH_ANY] = has_word,
    [SEARCH_FROM] = has_sender,
    [SEARCH_QUEUE] = has_queue_id,
    [SEARCH_MSGID] = has_message_id,
    [SEARCH_CLIENT] = has_client,
    [SEARCH_HOST] = has_host,
    [SEARCH_RUN] = has_run,
    [SEARCH_SINCE] = began_since,
    [SEARCH_UNTIL] = began_before,
};

static bool
is_open(enum recipient_state state)
{
	return state == RECIPIENT_IN_FLIGHT || state == RECIPIENT_DEFERRED ||
	       state == RECIPIENT_HELD;
}

static const struct leg_record *
leg_of(const struct message_record *record, size_t number)
{
	int leg = record->recipients[number].leg;

	return leg >= 0 ? &record->legs[leg] : NULL;
}

static const struct attempt_record *
last_attempt(const struct message_record *record, size_t number)
{
	const struct attempt_record *last = NULL;

	for (size_t i = 0; i < record->attempt_count; i++)
		if (record->attempts[i].recipient == number)
			last = &record->attempts[i];
	return last;
}

int64_t
search_recipient_took_ns(
    const struct message_record *record, size_t number, int64_t now_wall_ns)
{
	const struct recipient_record *recipient = &record->recipients[number];
	const struct leg_record *leg = leg_of(record, number);
	const struct attempt_record *attempt = last_attempt(record, number);
	struct phase_view view = {
	    .message = &record->event, .message_boot_id = record->boot_id};
	struct duration took;

	if (is_open(recipient->state))
		return now_wall_ns - record_begin_ns(record);
	if (leg == NULL)
		return attempt != NULL
			   ? attempt->wall_ns - record_begin_ns(record)
			   : -1;
	view.delivery = &leg->event;
	view.delivery_boot_id = leg->boot_id;
	view.recipient = &leg->event.recipients[recipient->leg_recipient];
	took = delivery_latency(&view);
	return took.state == DURATION_KNOWN ? took.ns : -1;
}

/* One of a message's recipients. */
struct subject {
	const struct search *search;
	const struct message_record *record;
	const struct recipient_record *recipient; /* NULL: none */
	size_t number;
};

static int64_t
took_ns(const struct subject *subject)
{
	return search_recipient_took_ns(
	    subject->record, subject->number, subject->search->now_wall_ns);
}

static bool
has_address(const struct subject *subject, const struct search_term *term,
    search_word_test *is)
{
	return any_word_is(term, subject->recipient->address, is) ||
	       any_word_is(term, subject->recipient->original, is);
}

static bool
has_relay(const struct subject *subject, const struct search_term *term)
{
	const struct message_record *record = subject->record;
	const struct leg_record *leg = leg_of(record, subject->number);

	if (leg != NULL &&
	    any_word_is(term, leg->event.backend, search_word_is_host))
		return true;
	for (size_t i = 0; i < record->attempt_count; i++)
		if (record->attempts[i].recipient == subject->number &&
		    any_word_is(
			term, record->attempts[i].relay, search_word_is_host))
			return true;
	return false;
}

static bool
recipient_has(const struct subject *subject, const struct search_term *term)
{
	switch (term->key) {
	case SEARCH_ANY:
		return has_address(subject, term, search_word_is_in_address);
	case SEARCH_TO:
		return has_address(subject, term, search_word_is_address);
	case SEARCH_STATUS:
		return (term->states >> subject->recipient->state & 1) != 0;
	case SEARCH_RELAY:
		return has_relay(subject, term);
	case SEARCH_SLOWER:
		return took_ns(subject) > term->ns;
	case SEARCH_FASTER:
		return took_ns(subject) >= 0 && took_ns(subject) <= term->ns;
	default:
		return false;
	}
}

static bool
is_meant(const struct subject *subject)
{
	const struct search *search = subject->search;

	for (size_t i = 0; i < search->term_count; i++) {
		const struct search_term *term = &search->terms[i];
		message_has *has = of_message[term->key];
		bool holds = has != NULL && has(subject->record, term);

		if (!holds && subject->recipient != NULL)
			holds = recipient_has(subject, term);
		if (holds == term->is_negated)
			return false;
	}
	return true;
}

bool
search_matches(const struct search *search, const struct message_record *record,
    bool *meant_r)
{
	struct subject subject = {.search = search, .record = record};
	bool any = false;

	if (record->recipient_count == 0)
		return is_meant(&subject);
	for (size_t i = 0; i < record->recipient_count; i++) {
		bool is;

		subject.recipient = &record->recipients[i];
		subject.number = i;
		is = is_meant(&subject);
		if (meant_r != NULL)
			meant_r[i] = is;
		any = any || is;
	}
	return any;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists by index, term by term. Called by search_rows.c for each file.
 *
 * The cheap indexes come first: once a list is short it is no work to read the
 * messages themselves. A list that becomes too long is given up, for then what
 * is looked for is common and soon found by reading every message from the
 * newest on.
 */
#include "store/search_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/uuid.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/hash.h"
#include "store/record.h"
#include "store/search.h"
#include "store/search_addresses.h"

#define LIST_MAX 100000
/* Of which each message may as well be read. */
#define SHORT_LIST 64

static bool
add_row(
    const struct list_question *question, struct row_list *list, int64_t row)
{
	int64_t *place = arena_append(
	    question->arena, &list->rows, &list->count, sizeof(*place));

	if (place == NULL)
		return false;
	*place = row;
	return list->count < LIST_MAX;
}

/* Adds the rows that a statement finds, shifted by `bits`; NULL is none.
 * Returns false when there are too many. */
static bool
add_rows(const struct list_question *question, struct row_list *list,
    struct statement *found, unsigned bits)
{
	bool more = true;

	while (more && statement_step(found) == 1) {
		int64_t row = column_integer(found, 0) >> bits;

		if (!column_is_null(found, 0))
			more = add_row(question, list, row);
	}
	statement_end(found);
	return more;
}

static struct statement *
statement_for(
    const struct list_question *question, enum day_sql sql, int64_t value)
{
	struct statement *statement =
	    database_statement(question->tables->database, sql);

	bind_integer(statement, value);
	return statement;
}

/* Further restricts to keys of recipients in the time searched. */
static void
bind_keys(struct statement *statement, const struct list_question *question)
{
	bind_integer(statement, day_recipient_key(question->low, 0));
	bind_integer(statement, day_recipient_key(question->high, 0));
}

typedef bool list_term(const struct list_question *question,
    const struct search_term *term, struct row_list *list);

static bool
list_by_hash(const struct list_question *question, struct row_list *list,
    enum day_sql sql, const char *text)
{
	return add_rows(question, list,
	    statement_for(question, sql, hash_for_index(text, strlen(text))),
	    0);
}

static bool
list_queue_ids(const struct list_question *question,
    const struct search_term *term, struct row_list *list)
{
	bool fits = true;

	for (size_t i = 0; i < term->word_count && fits; i++) {
		const char *word = term->words[i];

		fits =
		    strchr(word, '*') == NULL &&
		    list_by_hash(question, list, SQL_SEARCH_QUEUE_ID, word) &&
		    list_by_hash(
			question, list, SQL_SEARCH_FURTHER_QUEUE_ID, word) &&
		    list_by_hash(question, list, SQL_SEARCH_LEG_QUEUE_ID, word);
	}
	return fits;
}

static bool
list_message_ids(const struct list_question *question,
    const struct search_term *term, struct row_list *list)
{
	bool fits = true;

	for (size_t i = 0; i < term->word_count && fits; i++) {
		const char *word = term->words[i];
		size_t size = strlen(word);
		char *text = arena_alloc(question->arena, size + 3);

		fits = text != NULL && strchr(word, '*') == NULL;
		if (!fits)
			break;
		text[0] = '<';
		memcpy(text + 1, word, size);
		text[size + 1] = '>';
		fits =
		    list_by_hash(question, list, SQL_SEARCH_MESSAGE_ID, word) &&
		    list_by_hash(question, list, SQL_SEARCH_MESSAGE_ID, text) &&
		    list_by_hash(
			question, list, SQL_SEARCH_LEG_MESSAGE_ID, word) &&
		    list_by_hash(
			question, list, SQL_SEARCH_LEG_MESSAGE_ID, text);
	}
	return fits;
}

static bool
list_ids(const struct list_question *question, const struct search_term *term,
    struct row_list *list)
{
	bool fits = true;
	struct uuid id;
	int64_t row;

	for (size_t i = 0; i < term->word_count && fits; i++) {
		const char *word = term->words[i];

		if (uuid_parse(word, strlen(word), &id) == 0 &&
		    day_find_id(
			question->tables, SQL_MESSAGE_SCAN, &id, &row) == 1)
			fits = add_row(question, list, row);
	}
	return fits;
}

/* Common states have no index. */
static enum day_sql
index_of_state(unsigned state)
{
	switch (state) {
	case RECIPIENT_IN_FLIGHT:
	case RECIPIENT_DEFERRED:
	case RECIPIENT_HELD:
		return SQL_SEARCH_OPEN;
	case RECIPIENT_LOST:
	case RECIPIENT_UNKNOWN:
		return SQL_SEARCH_MISSING;
	case RECIPIENT_DELIVERED:
	case RECIPIENT_RELAYED:
	case RECIPIENT_HANDED_OFF:
		return DAY_STATEMENTS;
	default:
		return SQL_SEARCH_ENDED;
	}
}

static bool
list_states(const struct list_question *question,
    const struct search_term *term, struct row_list *list)
{
	bool fits = true;

	for (unsigned i = 0; i < RECIPIENT_STATES && fits; i++) {
		enum day_sql sql = index_of_state(i);
		struct statement *found;

		if ((term->states >> i & 1) == 0)
			continue;
		if (sql == DAY_STATEMENTS)
			return false;
		found = statement_for(question, sql, i);
		bind_keys(found, question);
		fits = add_rows(question, list, found, RECIPIENT_BITS);
	}
	return fits;
}

static bool
find_addresses(const struct list_question *question,
    const struct search_term *term, struct address_numbers *numbers)
{
	int result = 0;

	for (size_t i = 0; i < term->word_count && result == 0; i++)
		result = term->key == SEARCH_ANY
			     ? search_addresses_part(question->tables,
				   term->words[i], question->arena, numbers)
			     : search_addresses(question->tables,
				   term->words[i], question->arena, numbers);
	return result == 0;
}

static bool
list_recipients(const struct list_question *question,
    const struct search_term *term, struct row_list *list)
{
	static const enum day_sql sql[] = {
	    SQL_SEARCH_RECIPIENT, SQL_SEARCH_ORIGINAL};
	struct address_numbers numbers = {NULL, 0};
	bool fits = find_addresses(question, term, &numbers);

	for (size_t i = 0; i < 2 * numbers.count && fits; i++) {
		struct statement *found =
		    statement_for(question, sql[i % 2], numbers.items[i / 2]);

		bind_keys(found, question);
		fits = add_rows(question, list, found, RECIPIENT_BITS);
	}
	return fits;
}

static bool
list_senders(const struct list_question *question,
    const struct search_term *term, struct row_list *list)
{
	struct address_numbers numbers = {NULL, 0};
	bool fits = find_addresses(question, term, &numbers);

	for (size_t i = 0; i < numbers.count && fits; i++) {
		struct statement *found = statement_for(
		    question, SQL_SEARCH_SENDER, numbers.items[i]);

		bind_integer(found, question->low);
		bind_integer(found, question->high);
		fits = add_rows(question, list, found, 0);
	}
	return fits;
}

/* What a bare word may mean, except that it may be no whole id. */
static bool
list_any(const struct list_question *question, const struct search_term *term,
    struct row_list *list)
{
	return list_ids(question, term, list) &&
	       list_queue_ids(question, term, list) &&
	       list_message_ids(question, term, list) &&
	       list_recipients(question, term, list) &&
	       list_senders(question, term, list);
}

/* In the order of their cost. */
static const struct {
	enum search_key key;
	list_term *list;
} indexes[] = {
    {SEARCH_QUEUE, list_queue_ids},
    {SEARCH_MSGID, list_message_ids},
    {SEARCH_STATUS, list_states},
    {SEARCH_TO, list_recipients},
    {SEARCH_FROM, list_senders},
    {SEARCH_ANY, list_any},
};

static int
newest_first(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a < b) - (a > b);
}

static void
sort(struct row_list *list)
{
	size_t count = 0;

	if (list->count > 0)
		qsort(
		    list->rows, list->count, sizeof(*list->rows), newest_first);
	for (size_t i = 0; i < list->count; i++)
		if (count == 0 || list->rows[count - 1] != list->rows[i])
			list->rows[count++] = list->rows[i];
	list->count = count;
}

/* Leaves what is in both. */
static void
intersect(struct row_list *list, const struct row_list *other)
{
	size_t count = 0, j = 0;

	if (!list->is_known) {
		*list = *other;
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		while (j < other->count && other->rows[j] > list->rows[i])
			j++;
		if (j < other->count && other->rows[j] == list->rows[i])
			list->rows[count++] = list->rows[i];
	}
	list->count = count;
}

static bool
is_short(const struct row_list *list)
{
	return list->is_known && list->count <= SHORT_LIST;
}

/* Of legs without a message, only these are found by an index. */
static bool
list_lone(const struct list_question *question, const struct search_term *term,
    enum day_sql sql, struct row_list *list)
{
	struct row_list found = {.is_known = true};
	bool fits = !term->is_negated;

	for (size_t i = 0; i < term->word_count && fits; i++)
		fits = strchr(term->words[i], '*') == NULL &&
		       list_by_hash(question, &found, sql, term->words[i]);
	if (!fits)
		return false;
	sort(&found);
	intersect(list, &found);
	return true;
}

void
search_list_legs(const struct list_question *question, struct row_list *list)
{
	const struct search *search = question->search;

	for (size_t i = 0; i < search->term_count; i++)
		if (search->terms[i].key == SEARCH_QUEUE)
			list_lone(question, &search->terms[i],
			    SQL_SEARCH_LONE_QUEUE_ID, list);
}

void
search_list_messages(
    const struct list_question *question, struct row_list *list)
{
	const struct search *search = question->search;

	for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++)
		for (size_t j = 0; j < search->term_count; j++) {
			const struct search_term *term = &search->terms[j];
			struct row_list found = {.is_known = true};

			if (term->key != indexes[i].key || term->is_negated ||
			    is_short(list) ||
			    !indexes[i].list(question, term, &found))
				continue;
			sort(&found);
			intersect(list, &found);
		}
}

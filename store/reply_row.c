/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs replies: the number of what comes back often, code, enhanced code and
 * sentence together, and the words that are a reply's own. Called by
 * recipient_row and leg_pack.
 */
#include "store/reply_row.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/event.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/packed.h"
#include "store/reply_words.h"

/* In place of a number: the whole text follows, behind its size plus 1, 0 being
 * no text. */
#define WHOLE 0

/* Between the parts of an interned reply; in front of its sentence, whether it
 * has one. */
#define PART_MARK "\3"
#define NOTHING_MARK "\4"

/* Makes what is interned: code, enhanced code, sentence. */
static void
put_head(struct buffer *head, const struct delivery_reply *reply)
{
	buffer_append_format(head, "%u", reply->code);
	buffer_append_string(
	    head, reply->enhanced != NULL ? PART_MARK : NOTHING_MARK);
	if (reply->enhanced != NULL)
		buffer_append_string(head, reply->enhanced);
	buffer_append_string(
	    head, reply->text != NULL ? PART_MARK : NOTHING_MARK);
}

static bool
has_marks(const char *text)
{
	return text != NULL &&
	       strpbrk(text, PART_MARK NOTHING_MARK REPLY_WORDS_MARKS) != NULL;
}

static void
put_whole_text(struct packed_writer *writer, const char *text)
{
	packed_put_unsigned(writer, text != NULL ? strlen(text) + 1 : 0);
	if (text != NULL && *text != '\0')
		buffer_append(writer->out, text, strlen(text));
}

void
reply_row_put(struct packed_writer *writer, struct day_tables *tables,
    const struct delivery_reply *reply, const char *address)
{
	struct buffer head = {0}, words = {0};

	if (has_marks(reply->enhanced) || has_marks(reply->text)) {
		packed_put_unsigned(writer, WHOLE);
		packed_put_unsigned(writer, reply->code);
		put_whole_text(writer, reply->enhanced);
		put_whole_text(writer, reply->text);
		return;
	}
	put_head(&head, reply);
	if (reply->text != NULL)
		reply_words_split(reply->text, address, &head, &words);
	packed_put_unsigned(
	    writer, (uint64_t)intern_sized(tables->intern, INTERN_TEXT,
			(char *)head.data, head.size));
	buffer_append(writer->out, words.data, words.size);
	buffer_free(&head);
	buffer_free(&words);
}

static char *
get_whole_text(struct packed_reader *reader, struct arena *arena)
{
	uint64_t size = packed_unsigned(reader);
	const void *text = reader->data;

	if (size == 0)
		return NULL;
	if (--size > reader->size) {
		reader->failed = true;
		return NULL;
	}
	reader->data += size;
	reader->size -= size;
	return arena_string_sized(arena, text, size);
}

/* Takes apart what put_head() and reply_words_split() made. */
static void
parse(char *head, const char *address, struct packed_reader *words,
    struct arena *arena, struct delivery_reply *reply_r)
{
	static const char marks[] = PART_MARK NOTHING_MARK;
	char *enhanced = strpbrk(head, marks);
	char *text = enhanced != NULL ? strpbrk(enhanced + 1, marks) : NULL;

	if (text == NULL) {
		words->failed = true;
		return;
	}
	reply_r->code = (uint32_t)strtoul(head, NULL, 10);
	if (*text == *PART_MARK)
		reply_r->text =
		    reply_words_join(text + 1, address, words, arena);
	if (*enhanced == *PART_MARK)
		reply_r->enhanced = enhanced + 1;
	*text = '\0';
}

void
reply_row_get(struct packed_reader *reader, struct day_tables *tables,
    const char *address, struct arena *arena, struct delivery_reply *reply_r)
{
	uint64_t number = packed_unsigned(reader);
	char *head;

	if (reader->failed)
		return;
	if (number == WHOLE) {
		reply_r->code = (uint32_t)packed_unsigned(reader);
		reply_r->enhanced = get_whole_text(reader, arena);
		reply_r->text = get_whole_text(reader, arena);
		return;
	}
	head = intern_read(tables->intern, INTERN_TEXT, (int64_t)number, arena);
	if (head != NULL)
		parse(head, address, reader, arena, reply_r);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs replies: code, the number of the enhanced code, the number of the
 * sentence, the words that are its own. Called by recipient_row and leg_row.
 */
#include "store/reply_row.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/event.h"
#include "store/day_tables.h"
#include "store/intern.h"
#include "store/packed.h"
#include "store/reply_words.h"

/* In place of a sentence's number: the whole text follows. */
#define TEXT_WHOLE 0

enum { HAS_ENHANCED = 1, HAS_TEXT = 2, CODE_SHIFT = 2 };

void
reply_row_put_text(struct packed_writer *writer, struct day_tables *tables,
    const char *text, const char *address)
{
	struct buffer sentence = {0}, words = {0};

	if (reply_words_split(text, address, &sentence, &words) != 0) {
		packed_put_unsigned(writer, TEXT_WHOLE);
		packed_put_bytes(writer, text, strlen(text));
	} else {
		packed_put_unsigned(
		    writer, (uint64_t)intern_sized(tables->intern, INTERN_TEXT,
				sentence.size > 0 ? (char *)sentence.data : "",
				sentence.size));
		buffer_append(writer->out, words.data, words.size);
	}
	buffer_free(&sentence);
	buffer_free(&words);
}

char *
reply_row_text(struct packed_reader *reader, struct day_tables *tables,
    const char *address, struct arena *arena)
{
	uint64_t number = packed_unsigned(reader);
	const void *whole;
	char *sentence;
	size_t size;

	if (reader->failed)
		return NULL;
	if (number == TEXT_WHOLE) {
		whole = packed_bytes(reader, &size);
		return whole != NULL ? arena_string_sized(arena, whole, size)
				     : NULL;
	}
	sentence =
	    intern_read(tables->intern, INTERN_TEXT, (int64_t)number, arena);
	if (sentence == NULL)
		return NULL;
	return reply_words_join(sentence, address, reader, arena);
}

void
reply_row_put(struct packed_writer *writer, struct day_tables *tables,
    const struct delivery_reply *reply, const char *address)
{
	uint64_t head = (uint64_t)reply->code << CODE_SHIFT;

	if (reply->enhanced != NULL)
		head |= HAS_ENHANCED;
	if (reply->text != NULL)
		head |= HAS_TEXT;
	packed_put_unsigned(writer, head);
	if (reply->enhanced != NULL)
		packed_put_unsigned(
		    writer, (uint64_t)intern_string(
				tables->intern, INTERN_TEXT, reply->enhanced));
	if (reply->text != NULL)
		reply_row_put_text(writer, tables, reply->text, address);
}

void
reply_row_get(struct packed_reader *reader, struct day_tables *tables,
    const char *address, struct arena *arena, struct delivery_reply *reply_r)
{
	uint64_t head = packed_unsigned(reader);

	reply_r->code = (uint32_t)(head >> CODE_SHIFT);
	if (head & HAS_ENHANCED)
		reply_r->enhanced = intern_read(tables->intern, INTERN_TEXT,
		    (int64_t)packed_unsigned(reader), arena);
	if (head & HAS_TEXT)
		reply_r->text = reply_row_text(reader, tables, address, arena);
}

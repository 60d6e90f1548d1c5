/* SPDX-License-Identifier: BSD-2-Clause */
/* For each source its name, segment and offset. Called by control.c. */
#include "store/positions_note.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/packed.h"
#include "store/positions.h"

void
positions_note_write(const struct positions *positions, struct buffer *note_r)
{
	struct packed_writer writer = {.out = note_r};

	buffer_clear(note_r);
	for (size_t i = 0; i < positions->count; i++) {
		const struct named_position *item = &positions->items[i];

		packed_put_bytes(&writer, item->source, strlen(item->source));
		packed_put_unsigned(&writer, item->position.segment);
		packed_put_unsigned(&writer, item->position.offset);
	}
}

static void
read_one(struct positions *positions, struct packed_reader *reader)
{
	struct journal_position position;
	size_t size;
	const char *name = packed_bytes(reader, &size);
	char *source;

	position.segment = packed_unsigned(reader);
	position.offset = packed_unsigned(reader);
	if (reader->failed)
		return;
	source = memory_format("%.*s", (int)size, size > 0 ? name : "");
	positions_raise(positions, source, position);
	free(source);
}

void
positions_note_read(struct positions *positions, const struct buffer *note)
{
	struct packed_reader reader = {.data = note->data, .size = note->size};
	struct positions found = {.count = 0};

	while (reader.size > 0 && !reader.failed)
		read_one(&found, &reader);
	if (!reader.failed)
		positions_raise_all(positions, &found);
	positions_clear(&found);
}

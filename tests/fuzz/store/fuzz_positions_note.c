/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads positions from a note; what is noted of them says the same again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "store/positions.h"
#include "store/positions_note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replaces the note by that of what it says. Returns how many positions. */
static size_t
note_again(struct buffer *note)
{
	struct positions positions = {.count = 0};
	size_t count;

	positions_note_read(&positions, note);
	positions_note_write(&positions, note);
	count = positions.count;
	positions_clear(&positions);
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer note = {.data = NULL}, again = {.data = NULL};
	size_t count;

	buffer_append(&note, data, size);
	count = note_again(&note);
	buffer_append(&again, note.data, note.size);
	assert(note_again(&again) == count);
	assert(again.size == note.size);
	assert(note.size == 0 || memcmp(again.data, note.data, note.size) == 0);
	buffer_free(&note);
	buffer_free(&again);
	return 0;
}

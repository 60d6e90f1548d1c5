/* SPDX-License-Identifier: BSD-2-Clause */
/* Client lines: every line is taken whole, and what is read of a command lies
 * within it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lmtp/command.h"
#include "lmtp/line.h"

#define LIMIT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_line(const struct line *line)
{
	char ident[COMMAND_IDENT_SIZE];
	const char *address;
	size_t size;

	assert(line->total > line->size && line->total <= LIMIT);
	assert(line->text[line->total - 1] == '\n');
	assert(memchr(line->text, '\n', line->size) == NULL);
	command_verb(line);
	if (command_address(line, &address, &size) == 0)
		assert(address >= line->text &&
		       address + size <= line->text + line->size);
	command_xforward_ident(line, ident);
	assert(memchr(ident, '\0', sizeof(ident)) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly the size, so that a read behind it is seen. */
	char *copy = malloc(size > 0 ? size : 1);
	size_t at = 0;
	struct line line;

	memcpy(copy, data, size);
	while (line_take(copy + at, size - at, LIMIT, &line) == LINE_WHOLE) {
		check_line(&line);
		at += line.total;
	}
	free(copy);
	return 0;
}

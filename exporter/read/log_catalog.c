/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generations of a log. Owned by a follower; saved and loaded by whoever
 * keeps its positions.
 */
#include "exporter/read/log_catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "exporter/read/log_entry.h"

#define LINE_MAX_BYTES 256
#define NS_PER_US 1000

static uint64_t
next_number(const struct log_catalog *catalog, int64_t first_wall_ns)
{
	uint64_t number =
	    first_wall_ns > 0 ? (uint64_t)first_wall_ns / NS_PER_US : 1;
	uint64_t last =
	    catalog->count > 0 ? catalog->items[catalog->count - 1].number : 0;

	return number > last ? number : last + 1;
}

static struct log_generation *
append(struct log_catalog *catalog, const struct log_generation *generation)
{
	catalog->items = memory_resize(
	    catalog->items, catalog->count + 1, sizeof(*generation));
	catalog->items[catalog->count] = *generation;
	return &catalog->items[catalog->count++];
}

struct log_generation *
log_catalog_add(
    struct log_catalog *catalog, const struct log_generation *generation)
{
	struct log_generation numbered = *generation;

	numbered.number = next_number(catalog, generation->first_wall_ns);
	if (catalog->count == LOG_CATALOG_MAX) {
		catalog->count--;
		memmove(catalog->items, catalog->items + 1,
		    catalog->count * sizeof(*catalog->items));
	}
	catalog->changed = true;
	return append(catalog, &numbered);
}

struct log_generation *
log_catalog_after(const struct log_catalog *catalog, uint64_t number)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (catalog->items[i].number > number)
			return &catalog->items[i];
	return NULL;
}

struct log_generation *
log_catalog_find(const struct log_catalog *catalog, uint64_t number)
{
	/* As a rule it is the last. */
	for (size_t i = catalog->count; i > 0; i--)
		if (catalog->items[i - 1].number == number)
			return &catalog->items[i - 1];
	return NULL;
}

struct log_generation *
log_generation_in_same_file(const struct log_catalog *catalog, uint64_t number)
{
	const struct log_generation *present =
	    log_catalog_find(catalog, number);
	struct log_generation *next = log_catalog_after(catalog, number);

	if (present == NULL || next == NULL || next->start_offset == 0 ||
	    memcmp(present->identity, next->identity, sizeof(next->identity)) !=
		0)
		return NULL;
	return next;
}

void
log_catalog_write(const struct log_catalog *catalog, struct buffer *out)
{
	for (size_t i = 0; i < catalog->count; i++) {
		const struct log_generation *one = &catalog->items[i];

		buffer_append_format(out,
		    "%" PRIu64 " %016" PRIx64 " %016" PRIx64 " %" PRIu64
		    " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64
		    " %" PRId64 "\n",
		    one->number, one->identity[0], one->identity[1],
		    one->start_offset, one->gap, one->first_wall_ns,
		    one->read_wall_ns, one->device, one->inode,
		    one->born_wall_ns);
	}
}

/* Reads one line, NUL-terminated. */
static bool
read_generation(const char *line, struct log_generation *one_r)
{
	int end = 0;

	return sscanf(line,
		   "%" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNu64 " %" SCNu64
		   " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNd64
		   "%n",
		   &one_r->number, &one_r->identity[0], &one_r->identity[1],
		   &one_r->start_offset, &one_r->gap, &one_r->first_wall_ns,
		   &one_r->read_wall_ns, &one_r->device, &one_r->inode,
		   &one_r->born_wall_ns, &end) == 10 &&
	       line[end] == '\0';
}

static bool
add_line(struct log_catalog *catalog, const char *text, size_t size)
{
	struct log_generation one = {0};
	char line[LINE_MAX_BYTES];

	if (size >= sizeof(line) || memchr(text, '\0', size) != NULL)
		return false;
	memcpy(line, text, size);
	line[size] = '\0';
	if (!read_generation(line, &one) || one.number == 0 ||
	    one.gap >= LOG_GAPS || catalog->count == LOG_CATALOG_MAX ||
	    (catalog->count > 0 &&
		one.number <= catalog->items[catalog->count - 1].number))
		return false;
	append(catalog, &one);
	return true;
}

int
log_catalog_read(struct log_catalog *catalog, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		const char *newline = memchr(at, '\n', size);
		size_t line = newline != NULL ? (size_t)(newline - at) : 0;

		if (newline == NULL || !add_line(catalog, at, line)) {
			log_catalog_free(catalog);
			return -1;
		}
		at += line + 1;
		size -= line + 1;
	}
	return 0;
}

void
log_catalog_free(struct log_catalog *catalog)
{
	free(catalog->items);
	*catalog = (struct log_catalog){0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_catalog: which parts of a log have been read, in their order, and how to
 * know them again.
 *
 * A log is a row of generations: files that follow each other by rotation, or
 * stretches of the system journal with sequence numbers of their own. Each has
 * a number, which grows, and is the `segment` of positions in it; `offset`
 * counts bytes, or sequence numbers. A generation must be remembered on disk
 * before a position in it is; it is best saved each time positions are, so that
 * read_wall_ns tells where a gap begins. Plain data, not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_CATALOG_H
#define EXPORTER_READ_LOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

struct log_generation {
	uint64_t number;
	/* A file: bytes and hash of its first line. The journal: its id. */
	uint64_t identity[2];
	/* Where it begins in its file; not 0 when the file before it lost its
	 * end, as by a power cut, and was written on. */
	uint64_t start_offset;
	uint64_t gap; /* enum log_gap: what was missing in front of it */
	int64_t first_wall_ns; /* of its first line; 0: none */
	int64_t read_wall_ns;  /* of the last line read; as of the last save */
	/* A hint only: inodes are reused. */
	uint64_t device, inode;
	int64_t born_wall_ns; /* of the inode; 0: the system does not tell */
};

/* A zeroed struct is an empty catalog. */
struct log_catalog {
	struct log_generation *items; /* ascending numbers */
	size_t count;
	bool changed; /* generations were added; reset by who saves it */
};

/* Adds a generation behind all others and gives it a number: the microseconds
 * of its first line, so that a catalog that was lost is likely to be rebuilt as
 * it was, or one more than the highest. The oldest is forgotten when there are
 * more than LOG_CATALOG_MAX. The pointer is valid until the next call. */
#define LOG_CATALOG_MAX 128
struct log_generation *log_catalog_add(
    struct log_catalog *catalog, const struct log_generation *generation);

/* The generation with this number, or the first with a higher one. NULL when
 * there is none. */
struct log_generation *log_catalog_find(
    const struct log_catalog *catalog, uint64_t number);
struct log_generation *log_catalog_after(
    const struct log_catalog *catalog, uint64_t number);

/* The generation behind this one, if it begins within the same file. */
struct log_generation *log_generation_in_same_file(
    const struct log_catalog *catalog, uint64_t number);

/* The form in which a catalog is kept: text, a line a generation. */
void log_catalog_write(const struct log_catalog *catalog, struct buffer *out);

/* Reads what log_catalog_write() wrote into an empty catalog. Returns 0; or -1
 * for anything else, the catalog being empty then. */
int log_catalog_read(
    struct log_catalog *catalog, const void *data, size_t size);

void log_catalog_free(struct log_catalog *catalog);

#endif

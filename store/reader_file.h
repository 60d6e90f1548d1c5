/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader_file: read-only connections to day files, kept for the next question.
 *
 * One thread at a time.
 */
#ifndef STORE_READER_FILE_H
#define STORE_READER_FILE_H

#include "store/day_tables.h"

#include <stdint.h>

struct reader_pool;
struct reason;

/* `directory` must outlive the pool. */
struct reader_pool *reader_pool_new(const char *directory);
void reader_pool_free(struct reader_pool **pool);

/* The tables of the file of `day` (or LAYOUT_ODD), within a read transaction,
 * good until reader_file_done(). Returns 1; 0 when there is no such file, or
 * an empty one; -1 with a reason. */
int reader_file(struct reader_pool *pool, int64_t day,
    struct day_tables **tables_r, struct reason *reason);
void reader_file_done(struct day_tables *tables);

/* Closes the files that were removed: as long as somebody has them open, they
 * take room. And those opened before the disk became read-only, or writable.
 * None may be in use. */
void reader_pool_close_gone(struct reader_pool *pool);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * archive_fold: of days that are long gone, one sum is kept.
 */
#ifndef STORE_ARCHIVE_FOLD_H
#define STORE_ARCHIVE_FOLD_H

#include <stdint.h>

struct database;

/* Adds the counters and totals of all days up to `last` to those of
 * ARCHIVE_SUM_DAY, within the transaction. None of them may have a file: a sum
 * cannot be counted without it. Failures stick to the connection. */
void archive_fold(struct database *archive, int64_t last);

#endif

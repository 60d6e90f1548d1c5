/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forget_file: makes one day file forget an address, a part at a time.
 *
 * By a connection of its own, so that it can be any day's. What remembers
 * numbers of addresses must forget them after each part. Ingest thread only.
 */
#ifndef STORE_FORGET_FILE_H
#define STORE_FORGET_FILE_H

#include "store/forget_words.h"

#include <stdint.h>

struct forget_file;
struct reason;

/* `words` is borrowed. `is_sealed`: nothing more is expected for its messages,
 * and recipients need not be told apart. Returns NULL with a reason. */
struct forget_file *forget_file_open(const char *path,
    const struct forget_words *words, bool is_sealed, struct reason *reason);
void forget_file_close(struct forget_file **file);

/* Goes on for about `budget_ns`. Returns 1 when there is more to be done; 0
 * when neither the file nor its log has the address; or -1 with a reason. */
int forget_file_some(
    struct forget_file *file, int64_t budget_ns, struct reason *reason);

/* In how many of the file's messages the address was. */
uint64_t forget_file_messages(const struct forget_file *file);

#endif

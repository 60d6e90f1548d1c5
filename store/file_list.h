/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_list: which files the store has, noted so that at the next start one
 * that is gone is missed.
 */
#ifndef STORE_FILE_LIST_H
#define STORE_FILE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct control;

/* Notes the files that are there now: those with days, and the archive. It is
 * written with the next commit. */
void file_list_note(struct control *control, const char *directory);

/* Which of them are gone, a name a line. */
void file_list_missing(const struct control *control, const char *directory,
    struct buffer *names_r);

/* Tells these in the log, but for days that the archive has: their files may
 * be gone. Returns how many. */
uint64_t file_list_tell(struct buffer *names, const char *directory,
    const int64_t *archived, size_t archived_count);

#endif

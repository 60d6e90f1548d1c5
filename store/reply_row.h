/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply_row: what a server answered, within a row's blob.
 *
 * On the thread that has the connection; failures stick to it, or to writer and
 * reader.
 */
#ifndef STORE_REPLY_ROW_H
#define STORE_REPLY_ROW_H

struct arena;
struct day_tables;
struct delivery_reply;
struct packed_reader;
struct packed_writer;

/* A reply about `address` (NULL: nobody), which must be the same when it is
 * read. Without its stamp. */
void reply_row_put(struct packed_writer *writer, struct day_tables *tables,
    const struct delivery_reply *reply, const char *address);
void reply_row_get(struct packed_reader *reader, struct day_tables *tables,
    const char *address, struct arena *arena, struct delivery_reply *reply_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwritten: what the running batch says of the messages and recipients of one
 * file, until it is written.
 *
 * The events that tell of a message come within moments, mostly in one batch:
 * its rows are written once, in the order of their keys, when the batch ends or
 * somebody is to read them. What is read meanwhile is read here or written
 * first. Ingest thread only.
 */
#ifndef STORE_UNWRITTEN_H
#define STORE_UNWRITTEN_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct day_tables;
struct message_brief;
struct message_log;
struct message_row;
struct recipient_owner;
struct recipient_row;
struct row_hint;
struct unwritten;

struct unwritten *unwritten_new(void);
void unwritten_free(struct unwritten **unwritten);

/* Forgets the batch, and what it knows of the file. */
void unwritten_discard(struct unwritten *unwritten);

/* A new message without its recipients. Returns its row. */
int64_t unwritten_add_message(struct unwritten *unwritten,
    struct day_tables *tables, const struct message_row *message,
    struct row_hint *hint);

/* Replaces its evidence, and the rest unless that is 0. */
void unwritten_change_message(
    struct unwritten *unwritten, int64_t row, const struct message_log *change);

void unwritten_add_recipient(struct unwritten *unwritten,
    struct day_tables *tables, const struct recipient_owner *owner,
    const struct recipient_row *recipient);

/* Replaces state, reason, evidence, attempts and leg; its original is written
 * at once. */
void unwritten_change_recipient(struct unwritten *unwritten,
    struct day_tables *tables, int64_t message_row,
    const struct recipient_row *recipient);

/* What a leg repeats of a message that is new; what it points to lives until
 * that is written. Returns whether it is. */
bool unwritten_brief(const struct unwritten *unwritten, int64_t row,
    struct message_brief *brief_r);

/* The leg that decided a recipient so far, 0 for none. Returns whether the
 * batch says. */
bool unwritten_leg(const struct unwritten *unwritten, int64_t message_row,
    uint32_t number, int64_t *leg_row_r);

/* The address of a recipient that is new; 0 when it is not. */
int64_t unwritten_address(
    const struct unwritten *unwritten, int64_t message_row, uint32_t number);

/* Remembers the blob of a leg that the batch added; a large one is not. */
void unwritten_note_leg(
    struct unwritten *unwritten, int64_t leg_row, const struct buffer *packed);

/* What was remembered, until all is written; NULL: nothing. */
const struct buffer *unwritten_leg_blob(
    const struct unwritten *unwritten, int64_t leg_row);
void unwritten_forget_legs(struct unwritten *unwritten);

/* Whether so much has come together that it should be written. */
bool unwritten_is_full(const struct unwritten *unwritten);

/* Writes one message, or all. Returns 0, or -1 when a row that was to be
 * changed is not there, or there was no memory; failures of the connection
 * stick to it. */
int unwritten_write_message(
    struct unwritten *unwritten, struct day_tables *tables, int64_t row);
int unwritten_write(struct unwritten *unwritten, struct day_tables *tables);

#endif

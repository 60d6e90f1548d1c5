/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_trust_note: what the log lacks, kept in the store.
 *
 * Kept before the batch in which it was found out is committed: after that
 * nobody reads again what told of it.
 */
#ifndef EXPORTER_READ_LOG_TRUST_NOTE_H
#define EXPORTER_READ_LOG_TRUST_NOTE_H

struct log_trust;
struct reason;
struct store;

/* Reads it at start, and looks whether the system was booted since. */
void log_trust_load(struct log_trust *trust, const struct store *store);

/* Writes it if need be. Returns 0, or -1. */
int log_trust_save(
    struct log_trust *trust, struct store *store, struct reason *reason);

#endif

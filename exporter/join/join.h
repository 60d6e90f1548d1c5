/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join: bring together what the sources tell of one mail, exactly once.
 *
 * Events go in, calls to the store come out; time is an argument and nothing is
 * read or written here. Sources may be applied in any interleaving that keeps
 * each one's own order, and again from any earlier position; the end state is
 * the same. (A delivery without a usable stamp is joined to what is known when
 * it is applied: see join_is_ready().) After any failure the caller rolls the
 * store back and calls join_rebuild(). For the ingest thread.
 */
#ifndef EXPORTER_JOIN_JOIN_H
#define EXPORTER_JOIN_JOIN_H

#include "exporter/metrics/revision.h"
#include "proto/journal_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join;
struct log_instances;
struct log_record;
struct log_trust;
struct open_messages;
struct reason;
struct store;

/* `store` is borrowed. `stamp_wait_ns`: how long a delivery waits for the
 * message that its stamp names. */
struct join *join_new(struct store *store, int64_t stamp_wait_ns);
void join_free(struct join **join);

/* From now on Postfix's log is one of the sources; `instances` is borrowed. A
 * delivery that names no message is then the first that is known of one. For
 * `counted_wall_ns` see log_boundary_find(). */
void join_read_logs(struct join *join, struct log_instances *instances,
    int64_t counted_wall_ns);

/* From now on Dovecot's log is one of the sources; implied by the above, for it
 * may be in the same file. */
void join_read_dovecot(struct join *join);

/* From now on what is read of the log, and what it should tell of, is told to
 * `trust`, which is borrowed. */
void join_trust_logs(struct join *join, struct log_trust *trust);

/* The messages that it holds. */
struct open_messages *join_messages(struct join *join);

/* Forgets everything in memory and builds it again from the store. What is to
 * be applied next are the lines of logs from join_log_start() up to where they
 * were read, before anything else: so what is kept of them in memory only is
 * again as it was. `now_ns`, here and below, is CLOCK_MONOTONIC. Returns 0, or
 * -1. */
int join_rebuild(struct join *join, int64_t now_ns, struct reason *reason);

/* Whether the record may be applied although other sources have not been read
 * up to now. False for a delivery that names no message in memory: then what
 * the other sources held when it was read must be applied first. */
bool join_is_ready(struct join *join, const struct journal_record *record);

/* Applies one record of `source`, unless the store has it already. Returns 0,
 * or -1. */
int join_apply(struct join *join, const char *source,
    const struct journal_record *record, int64_t now_ns, struct reason *reason);

/* The same for a line of the log. */
bool join_log_is_ready(struct join *join, const struct log_record *record);
int join_apply_log(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason);

/* The same for a line of a log of Dovecot's own, which is always ready. */
int join_apply_dovecot(struct join *join, const char *source,
    const struct log_record *record, int64_t now_ns, struct reason *reason);

/* From where `source`, read up to `position`, must be read again after a
 * restart: some lines are kept in memory only. */
struct journal_position join_log_start(const struct join *join,
    const char *source, struct journal_position position);

/* Counts damage that a reader stepped over on its way to `position`. */
int join_damage(struct join *join, const char *source,
    struct journal_position position, const struct journal_damage *damage,
    struct reason *reason);

/* Takes as foreign the stamps of deliveries that have waited long enough. Only
 * to be called when every source has been read to its end. */
int join_expire(struct join *join, int64_t now_ns, struct reason *reason);

/* When join_expire() next has something to do; 0: nothing waits. */
int64_t join_deadline(const struct join *join);

/* Ends what is open in days that are past (store_seal.h), up to `limit`
 * messages: what comes to be known of it later is still taken. Only to be
 * called when every source has been read to its end, or there is no time for
 * that. Returns how many messages it ended, or -1. */
long join_seal(struct join *join, size_t limit, struct reason *reason);

/* Forgets the messages of which all is known, which the store finds again. */
void join_forget_kept(struct join *join);

struct join_figures {
	size_t messages; /* with an open recipient */
	size_t recipients[OPEN_STATES];
	size_t waiting;          /* deliveries */
	size_t sessions_waiting; /* of Dovecot's log, for a reply */
	int64_t oldest_wall_ns;
};

void join_figures(struct join *join, struct join_figures *figures_r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_drain: who waits in the queue, by domain, and how many left it lately.
 *
 * Those who left are counted if they had been deferred or had waited for a
 * minute: what passes through at once says nothing about what does not. Held
 * recipients do not wait; a person decides about them. Part of query.h, whose
 * rules hold.
 */
#ifndef STORE_QUERY_DRAIN_H
#define STORE_QUERY_DRAIN_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct message_record;
struct reason;
struct store_reader;

/* A short time, for queues that move, and one in which Postfix tries everything
 * once (maximal_backoff_time is 4000 s by default). */
#define DRAIN_SHORT_MINUTES 10
#define DRAIN_LONG_MINUTES 70

struct drain_domain {
	const char *name; /* NULL: addresses without a domain */
	uint64_t waiting; /* recipients in flight or deferred */
	int64_t oldest_wall_ns;
	/* How many left in the last minutes. */
	uint64_t left_short, left_long;
	/* The message that waits longest; NULL: not asked for. */
	const struct message_record *oldest;
};

struct drain_question {
	/* Until when the store tells; the last minutes end there. */
	int64_t now_wall_ns;
	int64_t since_wall_ns; /* as open_question's */
	size_t records;        /* of how many domains `oldest` is read */
};

struct drain_answer {
	struct drain_domain *domains; /* with somebody waiting, most first */
	size_t count;
};

/* All of it lives in `arena`. Files that cannot be read are passed over.
 * Returns 0, or -1 with a reason. */
int store_drain(struct store_reader *reader,
    const struct drain_question *question, struct arena *arena,
    struct drain_answer *answer_r, struct reason *reason);

#endif

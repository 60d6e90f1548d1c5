/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_find: where in a Postfix queue a message is, by looking at its files.
 *
 * Only lstat(2), nothing is opened. A file moves while one looks (incoming to
 * active to deferred and back), so directories are visited twice; an absence
 * that matters must be seen again later all the same. No state; any thread.
 */
#ifndef EXPORTER_QUEUE_QUEUE_FIND_H
#define EXPORTER_QUEUE_QUEUE_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_ID_MAX 32

enum queue_place {
	QUEUE_ABSENT,
	QUEUE_INCOMING,
	QUEUE_ACTIVE,
	QUEUE_DEFERRED,
	QUEUE_HOLD,
	QUEUE_MAILDROP,
	QUEUE_CORRUPT,
	QUEUE_SAVED,
	QUEUE_UNKNOWN, /* could not be found out */
	QUEUE_PLACES
};

/* The directory's name; "absent", "unknown". */
const char *queue_place_name(enum queue_place place);

struct queue_finding {
	enum queue_place place;
	bool committed; /* the mode says that it was received completely */
};

/* A queue_directory and how its directories are split. */
struct queue_directory {
	const char *path;
	unsigned hashed; /* bit 1 << enum queue_place; hash_queue_names */
	unsigned depth;  /* hash_queue_depth */
};

/* The bits for names as in hash_queue_names, apart by commas or blanks; others
 * than the above have no mail in them and are passed over. */
unsigned queue_hashed(const char *names);

/* Whether it can be a queue id of Postfix, short or long: letters and digits
 * only. */
bool queue_id_is_valid(const char *queue_id);

/* QUEUE_UNKNOWN for an invalid id, when the system fails, and when the id is
 * found nowhere but the directory is not a queue either. */
struct queue_finding queue_find(
    const struct queue_directory *directory, const char *queue_id);

#endif

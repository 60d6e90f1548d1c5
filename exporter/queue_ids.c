/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table by instance and queue id; whoever bears the same is in a list.
 * Owned by open_messages.c, on the ingest thread.
 */
#include "exporter/queue_ids.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

struct bearer {
	int64_t since_wall_ns;
	struct tracked *tracked;
	struct bearer *next;
};

struct bearers {
	struct bearer *first;
	UT_hash_handle hh;
	unsigned key_size;
	char key[]; /* queue id, NUL, instance */
};

struct queue_ids {
	struct bearers *table;
};

/* A key as text in a buffer that is on the stack unless it is long. */
struct key_text {
	char *text;
	unsigned size;
	char room[200];
};

static void
key_make(struct key_text *key, const char *instance, const char *queue_id)
{
	size_t first = strlen(queue_id) + 1, second = strlen(instance);

	key->size = (unsigned)(first + second);
	key->text = key->room;
	if (key->size > sizeof(key->room))
		key->text = memory_zeroed(key->size, 1);
	memcpy(key->text, queue_id, first);
	memcpy(key->text + first, instance, second);
}

static void
key_free(struct key_text *key)
{
	if (key->text != key->room)
		free(key->text);
}

struct queue_ids *
queue_ids_new(void)
{
	return memory_zeroed(1, sizeof(struct queue_ids));
}

void
queue_ids_free(struct queue_ids **ids)
{
	struct bearers *bearers, *next;

	if (*ids == NULL)
		return;
	HASH_ITER(hh, (*ids)->table, bearers, next)
	{
		HASH_DEL((*ids)->table, bearers);
		while (bearers->first != NULL) {
			struct bearer *bearer = bearers->first;

			bearers->first = bearer->next;
			free(bearer);
		}
		free(bearers);
	}
	free(*ids);
	*ids = NULL;
}

static struct bearers *
find(const struct queue_ids *ids, const char *instance, const char *queue_id)
{
	struct bearers *bearers;
	struct key_text key;

	key_make(&key, instance, queue_id);
	HASH_FIND(hh, ids->table, key.text, key.size, bearers);
	key_free(&key);
	return bearers;
}

static struct bearers *
add(struct queue_ids *ids, const char *instance, const char *queue_id)
{
	struct bearers *bearers;
	struct key_text key;

	key_make(&key, instance, queue_id);
	bearers = memory_zeroed(1, sizeof(*bearers) + key.size);
	bearers->key_size = key.size;
	memcpy(bearers->key, key.text, key.size);
	HASH_ADD(hh, ids->table, key, bearers->key_size, bearers);
	key_free(&key);
	return bearers;
}

void
queue_ids_add(struct queue_ids *ids, const struct queue_id_claim *claim,
    struct tracked *tracked)
{
	struct bearers *bearers = find(ids, claim->instance, claim->queue_id);
	struct bearer *bearer = memory_zeroed(1, sizeof(*bearer));

	if (bearers == NULL)
		bearers = add(ids, claim->instance, claim->queue_id);
	bearer->since_wall_ns = claim->since_wall_ns;
	bearer->tracked = tracked;
	bearer->next = bearers->first;
	bearers->first = bearer;
}

void
queue_ids_remove(struct queue_ids *ids, const struct queue_id_claim *claim,
    const struct tracked *tracked)
{
	struct bearers *bearers = find(ids, claim->instance, claim->queue_id);
	struct bearer **link, *bearer;

	if (bearers == NULL)
		return;
	for (link = &bearers->first; (bearer = *link) != NULL;
	     link = &bearer->next)
		if (bearer->tracked == tracked)
			break;
	if (bearer != NULL) {
		*link = bearer->next;
		free(bearer);
	}
	if (bearers->first == NULL) {
		HASH_DEL(ids->table, bearers);
		free(bearers);
	}
}

struct tracked *
queue_ids_find(const struct queue_ids *ids, const struct queue_id_key *key,
    queue_id_fits *fits, const void *context)
{
	const struct bearers *bearers = find(ids, key->instance, key->queue_id);
	const struct bearer *best = NULL, *bearer;

	if (bearers == NULL)
		return NULL;
	for (bearer = bearers->first; bearer != NULL; bearer = bearer->next) {
		int64_t since = bearer->since_wall_ns;

		if (since <= key->before_wall_ns &&
		    (best == NULL || since > best->since_wall_ns) &&
		    (fits == NULL || fits(context, bearer->tracked, since)))
			best = bearer;
	}
	return best != NULL ? best->tracked : NULL;
}

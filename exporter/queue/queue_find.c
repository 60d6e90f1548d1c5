/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths of queue files and a look at them. Called by the queue helper in
 * its own process.
 */
#include "exporter/queue/queue_find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A long queue id: seconds, four digits of microseconds in base 52, the letter
 * that is no digit of base 51, the inode. */
#define LONG_SEPARATOR 'z'
#define LONG_SEPARATOR_MIN 10
#define LONG_MICROSECOND_DIGITS 4
#define SHORT_ID_MIN 5

#define DEPTH_MAX 8

static const char *const names[QUEUE_PLACES] = {
    [QUEUE_ABSENT] = "absent",
    [QUEUE_INCOMING] = "incoming",
    [QUEUE_ACTIVE] = "active",
    [QUEUE_DEFERRED] = "deferred",
    [QUEUE_HOLD] = "hold",
    [QUEUE_MAILDROP] = "maildrop",
    [QUEUE_CORRUPT] = "corrupt",
    [QUEUE_SAVED] = "saved",
    [QUEUE_UNKNOWN] = "unknown",
};

static const char base52[] =
    "0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz";

const char *
queue_place_name(enum queue_place place)
{
	return names[place];
}

static unsigned
hashed_bit(const char *name, size_t size)
{
	for (unsigned i = QUEUE_INCOMING; i <= QUEUE_SAVED; i++)
		if (strlen(names[i]) == size &&
		    memcmp(names[i], name, size) == 0)
			return 1u << i;
	return 0;
}

unsigned
queue_hashed(const char *list)
{
	static const char between[] = ", \t";
	unsigned bits = 0;

	for (list += strspn(list, between); *list != '\0';
	     list += strspn(list, between)) {
		size_t size = strcspn(list, between);

		bits |= hashed_bit(list, size);
		list += size;
	}
	return bits;
}

bool
queue_id_is_valid(const char *queue_id)
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz";
	size_t size = strnlen(queue_id, QUEUE_ID_MAX + 1);

	return size >= SHORT_ID_MIN && size <= QUEUE_ID_MAX &&
	       strspn(queue_id, letters) == size;
}

#define HASH_KEY_SIZE sizeof("0123456789abcdef")

/* What directories are split by: the id, or of a long one its microseconds as
 * a short one would begin with. */
static const char *
hash_key(const char *queue_id, char key[HASH_KEY_SIZE])
{
	const char *separator = strrchr(queue_id, LONG_SEPARATOR);
	const char *digit, *place;
	unsigned long microseconds = 0;

	if (separator == NULL || separator - queue_id < LONG_SEPARATOR_MIN)
		return queue_id;
	for (digit = separator - LONG_MICROSECOND_DIGITS; digit < separator;
	     digit++) {
		place = strchr(base52, *digit);
		if (place == NULL)
			return queue_id;
		microseconds = microseconds * (sizeof(base52) - 1) +
			       (unsigned long)(place - base52);
	}
	snprintf(key, HASH_KEY_SIZE, "%05lX", microseconds);
	return key;
}

/* Writes "A/3/" for a depth of 2; a key that is too short goes on with "_". */
static void
hash_path(const char *key, unsigned depth, char path[2 * DEPTH_MAX + 1])
{
	size_t size = 0;

	for (unsigned i = 0; i < depth && i < DEPTH_MAX; i++) {
		path[size++] = *key != '\0' ? *key++ : '_';
		path[size++] = '/';
	}
	path[size] = '\0';
}

/* Returns 1 when it is there, 0 when not, -1 when nobody knows. */
static int
look(const struct queue_directory *directory, enum queue_place place,
    const char *queue_id, struct queue_finding *finding_r)
{
	unsigned depth = directory->hashed & 1u << place ? directory->depth : 0;
	char key[HASH_KEY_SIZE], hash[2 * DEPTH_MAX + 1], path[PATH_MAX];
	struct stat status;

	hash_path(hash_key(queue_id, key), depth, hash);
	snprintf(path, sizeof(path), "%s/%s/%s%s", directory->path,
	    names[place], hash, queue_id);
	if (lstat(path, &status) != 0)
		return errno == ENOENT ? 0 : -1;
	finding_r->place = place;
	finding_r->committed = (status.st_mode & S_IXUSR) != 0;
	return 1;
}

static bool
is_directory(const struct queue_directory *directory, enum queue_place place)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", directory->path, names[place]);
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Of an unmounted or moved queue, nothing can be said. */
static bool
is_queue(const struct queue_directory *directory)
{
	for (unsigned i = QUEUE_INCOMING; i <= QUEUE_HOLD; i++)
		if (!is_directory(directory, (enum queue_place)i))
			return false;
	return true;
}

struct queue_finding
queue_find(const struct queue_directory *directory, const char *queue_id)
{
	static const enum queue_place order[] = {QUEUE_DEFERRED, QUEUE_INCOMING,
	    QUEUE_ACTIVE, QUEUE_HOLD, QUEUE_DEFERRED, QUEUE_INCOMING,
	    QUEUE_ACTIVE, QUEUE_HOLD, QUEUE_MAILDROP, QUEUE_CORRUPT,
	    QUEUE_SAVED};
	struct queue_finding finding = {.place = QUEUE_ABSENT};
	int trouble = 0;

	if (!queue_id_is_valid(queue_id))
		return (struct queue_finding){.place = QUEUE_UNKNOWN};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		int there = look(directory, order[i], queue_id, &finding);

		if (there == 1)
			return finding;
		trouble |= there;
	}
	if (trouble != 0 || !is_queue(directory))
		finding.place = QUEUE_UNKNOWN;
	return finding;
}

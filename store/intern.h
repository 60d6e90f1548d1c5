/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intern: strings that come back often, kept once a file and known by number.
 *
 * One object belongs to one connection. It remembers what it saw lately, within
 * a fixed amount of memory. Number 0 stands for no string (NULL). Failures
 * stick to the connection.
 *
 * Domains and local parts are indexed by the hash of their lower case, so that
 * one that is written in several ways can be found in all of them.
 */
#ifndef STORE_INTERN_H
#define STORE_INTERN_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct intern;
struct statement;

enum intern_kind {
	INTERN_DOMAIN,
	INTERN_HOST, /* names and addresses of machines */
	INTERN_TEXT,
	INTERN_ADDRESS, /* of mail, split at its last @ */
	INTERN_KINDS
};

struct intern *intern_new(struct database *database);
void intern_free(struct intern **intern);

/* Forgets what it remembers: after a rollback it may never have been. */
void intern_forget(struct intern *intern);

/* The number of a string, which is added if it is new. */
int64_t intern_string(
    struct intern *intern, enum intern_kind kind, const char *text);
int64_t intern_sized(struct intern *intern, enum intern_kind kind,
    const char *text, size_t size);

/* The string of a number, in `arena`; NULL for 0. A number that the file does
 * not know makes it a damaged one. */
char *intern_read(struct intern *intern, enum intern_kind kind, int64_t number,
    struct arena *arena);

/* An address of which columns `column` and the next are the local part and the
 * domain, NULL when there is no @. NULL when the arena is full. */
char *intern_join_address(
    struct statement *statement, int column, struct arena *arena);

/* Where events come from: an instance and a boot of its machine. */
struct origin {
	int64_t number;
	const char *instance;
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	int64_t boot_ns; /* the wall clock when the monotonic one was 0 */
};

/* The boot_ns of an origin without a boot id: what it tells has no monotonic
 * clock. */
#define INTERN_NO_BOOT INT64_MIN

/* The number of an origin, which is added, with what `seen` says of its boot,
 * if it is new. What is returned lives until the next call. */
const struct origin *intern_origin(struct intern *intern, const char *instance,
    const uint8_t boot_id[CLOCK_BOOT_ID_BYTES], const struct stamp *seen);

/* The origin of a number; instance is in `arena`. */
struct origin intern_read_origin(
    struct intern *intern, int64_t number, struct arena *arena);

/* Only its boot_ns. */
int64_t intern_origin_boot(struct intern *intern, int64_t number);

#endif

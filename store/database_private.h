/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection is. Included by database*.c only. */
#ifndef STORE_DATABASE_PRIVATE_H
#define STORE_DATABASE_PRIVATE_H

#include "store/database.h"

#include <sqlite3.h>

#include "base/reason.h"

struct statement {
	struct database *database;
	sqlite3_stmt *handle;
	int bound;
};

struct database {
	sqlite3 *handle;
	const char *const *sql;
	unsigned count;
	struct statement *statements;
	int wal_pages;
	bool keeps_heads; /* out of commits, which do not wait for the disk */
	int patience_ms;
	enum database_failure failure;
	struct reason reason;
};

/* Keeps the first failure, for database_check(). Returns -1. */
int database_fail(struct database *database, int code);

/* As SQLite has it open; NULL when it has not. */
sqlite3_file *database_file(struct database *database);

#endif

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
	int ahead_pages; /* of the log are in memory, to be written again */
	bool keeps_heads; /* out of commits, which do not wait for the disk */
	int patience_ms;
	enum database_failure failure;
	struct reason reason;
};

/* Keeps the first failure, for database_check(). Returns -1. */
int database_fail(struct database *database, int code);

/* Behind a commit: has the system read what of the log is written next. */
void database_read_log_ahead(struct database *database);

/* As SQLite has it open; NULL when it has not. */
sqlite3_file *database_file(struct database *database);

#endif

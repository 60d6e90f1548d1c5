/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * database: one connection to one SQLite file, and its prepared statements.
 *
 * Everything that the rest of the store knows of SQLite goes through here. The
 * first failure sticks: later calls do nothing and say so, until
 * database_rollback() or the end of a read. A connection belongs to one thread
 * at a time.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct reason;
struct statement;

enum database_mode { DATABASE_WRITE, DATABASE_READ };

/* What kind of failure sticks. */
enum database_failure {
	DATABASE_FINE,
	DATABASE_DAMAGED, /* no database, or a damaged one */
	DATABASE_FAILED   /* disk full, I/O, locked, ... : try again later */
};

/* The file must exist (an empty one is an empty database), and for
 * DATABASE_WRITE be one that can be written. `sql` are the
 * `count` statements that will be asked for by number, prepared when first
 * used; the array must outlive the connection. Returns NULL with a reason and
 * *failure_r. */
struct database *database_open(const char *path, enum database_mode mode,
    const char *const *sql, unsigned count, enum database_failure *failure_r,
    struct reason *reason);

/* Leaves the log as it is, -wal and -shm, and disturbs nobody who reads. */
void database_close(struct database **database);

/* How long to wait for others' locks; else some seconds. */
void database_set_patience(struct database *database, int patience_ms);

/* Lets statements call `function` as name(text). Returns 0 or -1. */
typedef int64_t database_function(const char *text, size_t size);
int database_define(
    struct database *database, const char *name, database_function *function);

/* Runs statements without results. Returns 0 or -1. */
int database_execute(struct database *database, const char *sql);

/* Runs a query whose answer is one number; no row reads as 0. Returns 0 or -1.
 */
int database_read_integer(
    struct database *database, const char *sql, int64_t *value_r);

/* Makes the file write-ahead logged. Each commit is on disk when it returns if
 * `sync_each_commit`; otherwise a power cut may take the last ones. Returns 0
 * or -1. */
int database_set_up_writer(struct database *database, bool sync_each_commit);

/* Begins a transaction to write. Unless each commit waits for the disk anyway,
 * none does: where this one would have to, because the log is empty or copied
 * to its end, a page is written as it was in one of its own before. Nor for the
 * disk to read what it writes over in the log: behind each commit that is read
 * ahead. Returns 0, 1 when it has waited for a page, or -1. */
int database_begin_write(struct database *database);

int database_begin_read(struct database *database);
int database_commit(struct database *database);

/* Gives back the memory of pages that are not in use. Outside a transaction. */
void database_release_memory(struct database *database);

/* Ends the transaction, if there is one, and forgets the failure. */
void database_rollback(struct database *database);

/* Returns 0 when nothing failed; else -1 with the reason. */
int database_check(const struct database *database, struct reason *reason);
enum database_failure database_failure(const struct database *database);

/* Makes the connection fail with DATABASE_DAMAGED: for blobs that cannot be
 * what was written. */
void database_damaged(struct database *database, const char *what);

/* Pages that the write-ahead log held after the last commit of this connection.
 */
int database_wal_pages(const struct database *database);

/* Copies from the log into the file what can be copied without waiting;
 * `truncate` also empties the log, waiting for readers no longer than ingest
 * may stand still. Returns 0, or -1 when something is left. */
int database_checkpoint(struct database *database, bool truncate);

/* Copies what is left of the log, and begins to write: to a log that is copied,
 * and that nobody reads, SQLite writes from its beginning again.
 * database_wal_pages() is 1 then. Waits for the disk; not in a transaction. */
void database_begin_log_anew(struct database *database);

/* The log of the file at `path`, to be read, or synced, and closed. It may be
 * beside SQLite: its locks are on the file and the log's index. Returns -1 with
 * errno when it cannot be opened. */
int database_log_open(const char *path);

/* From now on the disk takes what this connection copies in small parts, so
 * that others do not wait behind all of it. */
void database_pace(struct database *database);

/* Copies what can be copied without waiting, and has the disk take it: SQLite
 * itself does that only when nothing was written to the log meanwhile. Returns
 * 0, 1 when readers are in the way, or -1; *pages_r is how many pages the log
 * had when that began. */
int database_copy_log(struct database *database, int *pages_r);

/* Rows that the last statement of this connection inserted or changed. */
int database_changes(const struct database *database);

/* The row that the last INSERT of this connection made. */
int64_t database_last_row(const struct database *database);

/* Statement `number`, ready to be bound from its first parameter on. */
struct statement *database_statement(
    struct database *database, unsigned number);

/* Each binds the next parameter. Bytes are text if they are valid UTF-8 without
 * NUL, a blob otherwise; NULL is NULL. What is pointed to must live until the
 * statement was run. */
void bind_integer(struct statement *statement, int64_t value);
void bind_null(struct statement *statement);
void bind_text(struct statement *statement, const void *text, size_t size);
void bind_string(struct statement *statement, const char *text);
void bind_blob(struct statement *statement, const void *data, size_t size);

/* Returns 1 with a row, 0 at the end, -1. The statement is reset at the end and
 * on failure; statement_end() does it earlier. */
int statement_step(struct statement *statement);
void statement_end(struct statement *statement);

/* For statements without results. Returns 0 or -1. */
int statement_run(struct statement *statement);

/* Columns of the current row, from 0. Bytes live until the next step. */
int64_t column_integer(struct statement *statement, int column);
bool column_is_null(struct statement *statement, int column);
const void *column_bytes(
    struct statement *statement, int column, size_t *size_r);

/* A copy in `arena`; NULL for NULL, or when the arena is full. */
char *column_string(
    struct statement *statement, int column, struct arena *arena);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to SQLite. Called by the writer on the ingest thread, by the
 * checkpoint thread and by readers, each with connections of its own: SQLite's
 * own locking is left out (NOMUTEX).
 *
 * No memory mapping: a file truncated by hand would be a SIGBUS. A file that
 * SQLite has open must never be opened and closed by other means in the same
 * process: closing it would drop SQLite's POSIX locks.
 */
#include "store/database_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reason.h"
#include "base/text.h"
#include "store/disk.h"

#define PATIENCE_MS 5000

static enum database_failure
classify(int code)
{
	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return DATABASE_DAMAGED;
	default:
		return DATABASE_FAILED;
	}
}

int
database_fail(struct database *database, int code)
{
	if (database->failure == DATABASE_FINE) {
		database->failure = classify(code);
		reason_set(&database->reason, "%s",
		    database->handle != NULL ? sqlite3_errmsg(database->handle)
					     : sqlite3_errstr(code));
	}
	return -1;
}

static int
note_wal(void *context, sqlite3 *handle, const char *schema, int pages)
{
	struct database *database = context;

	(void)handle;
	(void)schema;
	if (pages < database->wal_pages) /* begun anew */
		database->ahead_pages = 0;
	database->wal_pages = pages;
	return SQLITE_OK;
}

/* What SQLite allocates is not counted: it would take a lock each time. Too
 * late when the process has used SQLite already, and no harm. */
static void
set_up_library(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static int
configure(struct database *database)
{
	database_set_patience(database, PATIENCE_MS);
	sqlite3_extended_result_codes(database->handle, 1);
	/* To copy the log it would lock the file, and readers who come then and
	 * do not wait would fail. It would remove the log, too, which readers
	 * without the right to create it need. */
	sqlite3_db_config(
	    database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_wal_hook(database->handle, note_wal, database);
	return database_execute(database,
	    /* A pool reads many files. What it reads again soon is in the
	     * system's cache; here each connection would keep its own. */
	    "PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF;"
	    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -256;");
}

/* Where the right to write is missing SQLite opens the file to read, and would
 * not write it after it was given. */
static int
check_mode(const struct database *database, enum database_mode mode,
    const char *path, struct reason *reason)
{
	if (mode == DATABASE_READ ||
	    sqlite3_db_readonly(database->handle, "main") != 1)
		return 0;
	errno = EROFS;
	access(path, W_OK);
	return reason_set_errno(reason, "cannot be written");
}

struct database *
database_open(const char *path, enum database_mode mode, const char *const *sql,
    unsigned count, enum database_failure *failure_r, struct reason *reason)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct database *database = memory_zeroed(1, sizeof(*database));
	int flags =
	    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
	    (mode == DATABASE_WRITE ? SQLITE_OPEN_READWRITE
				    : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	char *name = mode == DATABASE_WRITE ? memory_string(path)
					    : disk_reading_name(path);
	int code;

	pthread_once(&once, set_up_library);
	code = sqlite3_open_v2(name, &database->handle, flags, NULL);
	free(name);
	database->sql = sql;
	database->count = count;
	database->statements =
	    memory_zeroed(count, sizeof(*database->statements));
	if (code != SQLITE_OK)
		database_fail(database, code);
	else if (check_mode(database, mode, path, &database->reason) != 0)
		database->failure = DATABASE_FAILED;
	else
		configure(database);
	*failure_r = database->failure;
	if (database->failure != DATABASE_FINE) {
		reason_set(reason, "%s: %s", path, database->reason.text);
		database_close(&database);
	}
	return database;
}

void
database_close(struct database **database)
{
	if (*database == NULL)
		return;
	for (unsigned i = 0; i < (*database)->count; i++)
		sqlite3_finalize((*database)->statements[i].handle);
	sqlite3_close((*database)->handle);
	free((*database)->statements);
	free(*database);
	*database = NULL;
}

/* A pointer to a function does not fit one to data. */
struct definition {
	database_function *function;
};

static void
call(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct definition *definition = sqlite3_user_data(context);
	const void *text = sqlite3_value_blob(values[0]);
	size_t size = (size_t)sqlite3_value_bytes(values[0]);

	(void)count;
	sqlite3_result_int64(
	    context, definition->function(text != NULL ? text : "", size));
}

int
database_define(
    struct database *database, const char *name, database_function *function)
{
	struct definition *definition = memory_zeroed(1, sizeof(*definition));
	int code;

	definition->function = function;
	code = sqlite3_create_function_v2(database->handle, name, 1,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC, definition, call, NULL, NULL,
	    free);
	return code == SQLITE_OK ? 0 : database_fail(database, code);
}

void
database_set_patience(struct database *database, int patience_ms)
{
	database->patience_ms = patience_ms;
	sqlite3_busy_timeout(database->handle, patience_ms);
}

int
database_execute(struct database *database, const char *sql)
{
	int code;

	if (database->failure != DATABASE_FINE)
		return -1;
	code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : database_fail(database, code);
}

int
database_read_integer(
    struct database *database, const char *sql, int64_t *value_r)
{
	sqlite3_stmt *query = NULL;
	int code;

	*value_r = 0;
	if (database->failure != DATABASE_FINE)
		return -1;
	code = sqlite3_prepare_v2(database->handle, sql, -1, &query, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		*value_r = sqlite3_column_int64(query, 0);
	else if (code != SQLITE_DONE)
		database_fail(database, code);
	sqlite3_finalize(query);
	return database->failure == DATABASE_FINE ? 0 : -1;
}

int
database_set_up_writer(struct database *database, bool sync_each_commit)
{
	database_execute(database,
	    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
	    "PRAGMA secure_delete = FAST; PRAGMA cache_size = -12288;");
	/* The automatic checkpoint and the hook are one mechanism. */
	sqlite3_wal_hook(database->handle, note_wal, database);
	database->keeps_heads = !sync_each_commit;
	return database_execute(database, sync_each_commit
					      ? "PRAGMA synchronous = FULL"
					      : "PRAGMA synchronous = NORMAL");
}

int
database_begin_read(struct database *database)
{
	return database_execute(database, "BEGIN");
}

int
database_commit(struct database *database)
{
	int result = database_execute(database, "COMMIT");

	if (database->keeps_heads)
		database_read_log_ahead(database);
	return result;
}

void
database_release_memory(struct database *database)
{
	sqlite3_db_release_memory(database->handle);
}

void
database_rollback(struct database *database)
{
	for (unsigned i = 0; i < database->count; i++)
		sqlite3_reset(database->statements[i].handle);
	if (!sqlite3_get_autocommit(database->handle))
		sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
	database->failure = DATABASE_FINE;
	database->reason.text[0] = '\0';
}

int
database_check(const struct database *database, struct reason *reason)
{
	if (database->failure == DATABASE_FINE)
		return 0;
	return reason_set(reason, "%s: %s",
	    sqlite3_db_filename(database->handle, "main"),
	    database->reason.text);
}

enum database_failure
database_failure(const struct database *database)
{
	return database->failure;
}

void
database_damaged(struct database *database, const char *what)
{
	if (database->failure != DATABASE_FINE)
		return;
	database->failure = DATABASE_DAMAGED;
	reason_set(&database->reason, "damaged %s", what);
}

int
database_changes(const struct database *database)
{
	return sqlite3_changes(database->handle);
}

int64_t
database_last_row(const struct database *database)
{
	return sqlite3_last_insert_rowid(database->handle);
}

struct statement *
database_statement(struct database *database, unsigned number)
{
	struct statement *statement = &database->statements[number];
	int code = SQLITE_OK;

	statement->database = database;
	statement->bound = 0;
	if (database->failure != DATABASE_FINE)
		return statement;
	if (statement->handle == NULL)
		code = sqlite3_prepare_v3(database->handle,
		    database->sql[number], -1, SQLITE_PREPARE_PERSISTENT,
		    &statement->handle, NULL);
	else
		sqlite3_reset(statement->handle);
	if (code != SQLITE_OK)
		database_fail(database, code);
	return statement;
}

static bool
is_fine(const struct statement *statement)
{
	return statement->database->failure == DATABASE_FINE;
}

static void
bound(struct statement *statement, int code)
{
	if (code != SQLITE_OK)
		database_fail(statement->database, code);
}

void
bind_integer(struct statement *statement, int64_t value)
{
	int index = ++statement->bound;

	if (is_fine(statement))
		bound(statement,
		    sqlite3_bind_int64(statement->handle, index, value));
}

void
bind_null(struct statement *statement)
{
	int index = ++statement->bound;

	if (is_fine(statement))
		bound(statement, sqlite3_bind_null(statement->handle, index));
}

void
bind_text(struct statement *statement, const void *text, size_t size)
{
	int index;

	if (text == NULL || !text_is_utf8(text, size)) {
		bind_blob(statement, text, size);
		return;
	}
	index = ++statement->bound;
	if (is_fine(statement))
		bound(statement, sqlite3_bind_text64(statement->handle, index,
				     text, size, SQLITE_STATIC, SQLITE_UTF8));
}

void
bind_blob(struct statement *statement, const void *data, size_t size)
{
	int index = ++statement->bound;

	if (is_fine(statement))
		bound(statement, sqlite3_bind_blob64(statement->handle, index,
				     data, size, SQLITE_STATIC));
}

int
statement_step(struct statement *statement)
{
	int code;

	if (!is_fine(statement)) {
		sqlite3_reset(statement->handle);
		return -1;
	}
	code = sqlite3_step(statement->handle);
	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		database_fail(statement->database, code);
	sqlite3_reset(statement->handle);
	return code == SQLITE_DONE ? 0 : -1;
}

void
statement_end(struct statement *statement)
{
	sqlite3_reset(statement->handle);
}

int64_t
column_integer(struct statement *statement, int column)
{
	return sqlite3_column_int64(statement->handle, column);
}

bool
column_is_null(struct statement *statement, int column)
{
	return sqlite3_column_type(statement->handle, column) == SQLITE_NULL;
}

const void *
column_bytes(struct statement *statement, int column, size_t *size_r)
{
	const void *data = sqlite3_column_blob(statement->handle, column);

	*size_r = (size_t)sqlite3_column_bytes(statement->handle, column);
	return data;
}

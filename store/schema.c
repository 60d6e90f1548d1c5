/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a day file, and the functions that look at, make
 * or upgrade a file.
 *
 * A message's row number is the microsecond of its UTC day in which its id was
 * made, moved on to the next free one: rows lie in the order of time without a
 * column or index for it, and an id is found by its own time. A recipient's is
 * the message's shifted by 20 bits plus its number. Queue ids, Message-IDs
 * and the entries of dictionaries are found by a 32-bit hash.
 */
#include "store/schema.h"

#include <stdint.h>
#include <stdio.h>

#include "store/database.h"
#include "store/hash.h"
#include "store/schema_archive.h"
#include "store/schema_control.h"

/* clang-format off */
#define DICTIONARY(name)                                                      \
	"CREATE TABLE " name "("                                              \
	"id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, text ANY NOT NULL"    \
	") STRICT;"                                                           \
	"CREATE INDEX " name "_hash ON " name "(hash);"

#define CELLS(name)                                                           \
	"CREATE TABLE " name "("                                              \
	"series INTEGER NOT NULL, time INTEGER NOT NULL,"                     \
	"count INTEGER NOT NULL, sum_ns INTEGER NOT NULL, cells BLOB NOT NULL,"\
	"PRIMARY KEY(series, time)) STRICT, WITHOUT ROWID;"

/* What version 2 added. original: the address that a recipient's had before
 * aliases. attempt: a message's row shifted like a recipient's, and a number in
 * the order of the log. queue_id: those that a message got later. */
#define OPEN_INDEX							      \
    "CREATE INDEX recipient_open ON recipient(state)"			      \
	"WHERE " SCHEMA_OPEN ";"					      \
    "CREATE INDEX recipient_missing ON recipient(state)"		      \
	"WHERE " SCHEMA_MISSING ";"
#define LOG_TABLES							      \
    "CREATE TABLE original("						      \
	"key INTEGER PRIMARY KEY, address INTEGER NOT NULL) STRICT;"	      \
    "CREATE TABLE attempt("						      \
	"key INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;"	      \
    "CREATE TABLE queue_id("						      \
	"message INTEGER NOT NULL, instance ANY NOT NULL,"		      \
	"queue_id ANY NOT NULL, hash INTEGER NOT NULL,"			      \
	"since INTEGER NOT NULL, PRIMARY KEY(message, instance, queue_id))"   \
	"STRICT, WITHOUT ROWID;"					      \
    "CREATE INDEX queue_id_hash ON queue_id(hash);"

/* What version 3 added: what operators said of messages. time: wall clock in
 * nanoseconds. And latencies got routes: before, only mailboxes had any. */
#define OPERATION_TABLE							      \
    "CREATE TABLE operation("						      \
	"message INTEGER NOT NULL, time INTEGER NOT NULL,"		      \
	"kind INTEGER NOT NULL, who ANY, comment ANY,"			      \
	"PRIMARY KEY(message, time)) STRICT, WITHOUT ROWID;"
/* How many recipients left the queue after they had waited in it, by minute
 * since 1970 and domain. */
#define DEPARTURE_TABLE							      \
    "CREATE TABLE departure("						      \
	"minute INTEGER NOT NULL, domain INTEGER NOT NULL,"		      \
	"count INTEGER NOT NULL, PRIMARY KEY(minute, domain))"		      \
	"STRICT, WITHOUT ROWID;"
#define LATENCY_ROUTE							      \
    "UPDATE series SET name = name || '{route=\"inbound\"}'"		      \
	" WHERE name = 'postlag_delivery_latency_seconds';"

/* Addresses are found by their domain alone, too. */
#define ADDRESS_INDEX							      \
    "CREATE INDEX address_domain_hash ON address(domain, hash);"

/* And for searches; of the states, those that are not common. */
#define SEARCH_INDEXES							      \
    "CREATE INDEX recipient_address ON recipient(address);"		      \
    "CREATE INDEX recipient_ended ON recipient(state)"			      \
	"WHERE " SCHEMA_ENDED ";"					      \
    "CREATE INDEX original_address ON original(address);"		      \
    "CREATE INDEX message_sender ON message(sender);"			      \
    "CREATE INDEX leg_alone ON leg(row) WHERE message IS NULL;"

/* What version 4 added: how many recipients of the messages that began in a
 * minute, or hour, of the file's day are in a state. See day_outcomes.h. */
#define OUTCOME_TABLES							      \
    "CREATE TABLE outcome_minute("					      \
	"time INTEGER NOT NULL, state INTEGER NOT NULL,"		      \
	"count INTEGER NOT NULL, PRIMARY KEY(time, state))"		      \
	"STRICT, WITHOUT ROWID;"					      \
    "CREATE TABLE outcome_hour("					      \
	"time INTEGER NOT NULL, state INTEGER NOT NULL,"		      \
	"count INTEGER NOT NULL, PRIMARY KEY(time, state))"		      \
	"STRICT, WITHOUT ROWID;"
#define OUTCOMES_OF_ROWS						      \
    "INSERT INTO outcome_minute"					      \
	" SELECT min((key >> 20) / 60000000, 1439), state, count(*)"	      \
	" FROM recipient GROUP BY 1, 2;"				      \
    "INSERT INTO outcome_hour SELECT time / 60, state, sum(count)"	      \
	" FROM outcome_minute GROUP BY 1, 2;"

/* And what was done to recipients lately, a row a commit; see feed.h.
 * time: of the commit, as in operation. */
#define FEED_TABLE							      \
    "CREATE TABLE feed("						      \
	"number INTEGER PRIMARY KEY, time INTEGER NOT NULL,"		      \
	"packed BLOB NOT NULL) STRICT;"

/* Hashes of domains and local parts were those of what is written. */
#define FOLD(table, column)						      \
    "UPDATE " table " SET hash = folded_hash(" column ")"		      \
	"WHERE typeof(" column ") = 'blob' OR " column " GLOB '*[A-Z]*';"

/* Likewise. filing: what Dovecot did with a recipient's mail; name: in `text`
 * for a mailbox, in `address` for others, or 0. session: recipients by the hash
 * of the LMTP session id in their reply. */
#define FILING_TABLES							      \
    "CREATE TABLE filing("						      \
	"recipient INTEGER NOT NULL, action INTEGER NOT NULL,"		      \
	"name INTEGER NOT NULL, PRIMARY KEY(recipient, action, name))"	      \
	"STRICT, WITHOUT ROWID;"					      \
    "CREATE TABLE session("						      \
	"hash INTEGER NOT NULL, recipient INTEGER NOT NULL,"		      \
	"PRIMARY KEY(hash, recipient)) STRICT, WITHOUT ROWID;"

static const char day_tables[] =
    DICTIONARY("domain")
    DICTIONARY("host")
    DICTIONARY("text")
    "CREATE TABLE address("
	"id INTEGER PRIMARY KEY, hash INTEGER NOT NULL,"
	"domain INTEGER NOT NULL, local ANY NOT NULL) STRICT;"
    ADDRESS_INDEX
    /* boot_ns: the wall clock when the monotonic one was 0, as first seen;
     * stamps are kept relative to it. */
    "CREATE TABLE origin("
	"id INTEGER PRIMARY KEY, boot_id BLOB NOT NULL,"
	"instance ANY NOT NULL, boot_ns INTEGER NOT NULL,"
	"UNIQUE(boot_id, instance)) STRICT;"

    "CREATE TABLE message("
	"row INTEGER PRIMARY KEY, id BLOB NOT NULL,"
	"queue_hash INTEGER, queue_id ANY,"
	"message_id_hash INTEGER, message_id_domain INTEGER,"
	"message_id_local ANY, origin INTEGER NOT NULL,"
	"client INTEGER NOT NULL, sender INTEGER NOT NULL,"
	"packed BLOB NOT NULL, log BLOB) STRICT;"
    "CREATE INDEX message_queue_id ON message(queue_hash)"
	"WHERE queue_hash IS NOT NULL;"
    "CREATE INDEX message_message_id ON message(message_id_hash)"
	"WHERE message_id_hash IS NOT NULL;"

    /* leg: how many rows after the message's. position: which recipient of
     * it decided; -1: none did. evidence: see recipient_row.c. */
    "CREATE TABLE recipient("
	"key INTEGER PRIMARY KEY, address INTEGER NOT NULL,"
	"state INTEGER NOT NULL, attempts INTEGER NOT NULL,"
	"leg INTEGER NOT NULL, position INTEGER NOT NULL,"
	"packed BLOB NOT NULL, evidence INTEGER NOT NULL DEFAULT 2) STRICT;"
    OPEN_INDEX
    LOG_TABLES
    OPERATION_TABLE
    DEPARTURE_TABLE

    /* message: how many rows before the leg's own. queue_hash and
     * message_id_hash only where the message's do not find it. */
    "CREATE TABLE leg("
	"row INTEGER PRIMARY KEY, id BLOB NOT NULL, state INTEGER NOT NULL,"
	"message INTEGER, queue_hash INTEGER, message_id_hash INTEGER,"
	"origin INTEGER NOT NULL, packed BLOB NOT NULL) STRICT;"
    "CREATE INDEX leg_waiting ON leg(state) WHERE state = 0;"
    "CREATE INDEX leg_queue_id ON leg(queue_hash)"
	"WHERE queue_hash IS NOT NULL;"
    "CREATE INDEX leg_message_id ON leg(message_id_hash)"
	"WHERE message_id_hash IS NOT NULL;"
    /* Legs of a message that none of its recipients names. */
    "CREATE TABLE undecided("
	"message INTEGER NOT NULL, leg INTEGER NOT NULL,"
	"PRIMARY KEY(message, leg)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE leg_part("
	"leg INTEGER NOT NULL, part INTEGER NOT NULL, packed BLOB NOT NULL,"
	"PRIMARY KEY(leg, part)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE position("
	"source ANY PRIMARY KEY, segment INTEGER NOT NULL,"
	"offset INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE counter("
	"name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
	"STRICT, WITHOUT ROWID;"
    "CREATE TABLE series("
	"id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE total("
	"series INTEGER PRIMARY KEY, count INTEGER NOT NULL,"
	"sum_ns INTEGER NOT NULL, buckets BLOB NOT NULL) STRICT;"
    CELLS("minute")
    CELLS("hour");
/* A string literal is at most 4095 bytes long. */
static const char further_day_tables[] =
    FILING_TABLES OUTCOME_TABLES FEED_TABLE SEARCH_INDEXES;

/* Evidence and states as numbers of exporter/join/fate.h and store/record.h,
 * derived as far as version 1 knew: named and refused recipients, the hook's
 * replies; accepted messages, those that the hook saw. */
static const char day_to_version2[] =
    "DROP INDEX recipient_in_flight;"
    OPEN_INDEX
    LOG_TABLES
    "ALTER TABLE message ADD COLUMN log BLOB;"
    "ALTER TABLE recipient ADD COLUMN evidence INTEGER NOT NULL DEFAULT 2;"
    "UPDATE recipient SET evidence = 2"
	" + CASE WHEN state = 3 THEN 2"
	" ELSE hex(substr(packed, 1, 1)) IN ('01', '03') END"
	" + CASE state WHEN 1 THEN 4 WHEN 2 THEN 8"
	" WHEN 0 THEN 16 * (attempts > 0) ELSE 0 END;"
    "UPDATE message SET log = CASE WHEN EXISTS(SELECT * FROM recipient"
	" WHERE key BETWEEN row << 20 AND (row << 20) + 1048575"
	" AND attempts > 0) THEN x'03' ELSE x'01' END"
	" WHERE EXISTS(SELECT * FROM recipient"
	" WHERE key BETWEEN row << 20 AND (row << 20) + 1048575"
	" AND state < 3);";

/* What turns the version before into this one; NULL: nothing needs to. */
static const char *const day_upgrades[SCHEMA_VERSION + 1] = {
    [2] = day_to_version2,
    [3] = "DROP INDEX recipient_open; DROP INDEX recipient_missing;" OPEN_INDEX
	OPERATION_TABLE DEPARTURE_TABLE FILING_TABLES LATENCY_ROUTE
	SEARCH_INDEXES
	FOLD("domain", "text") FOLD("address", "local"),
    [4] = "DROP INDEX address_hash;" ADDRESS_INDEX
	"DROP INDEX IF EXISTS address_domain;"
	OUTCOME_TABLES OUTCOMES_OF_ROWS FEED_TABLE,
};
/* clang-format on */

static const struct {
	const char *tables, *further_tables;
	const char *const *upgrades;
} kinds[SCHEMA_KINDS] = {
    [SCHEMA_DAY] = {day_tables, further_day_tables, day_upgrades},
    [SCHEMA_CONTROL] = {schema_control_tables, NULL, schema_control_upgrades},
    [SCHEMA_ARCHIVE] = {schema_archive_tables, NULL, schema_archive_upgrades},
};

int
schema_inspect(struct database *database, enum schema_state *state_r)
{
	int64_t tables, application, version;

	*state_r = SCHEMA_EMPTY;
	if (database_read_integer(
		database, "SELECT count(*) FROM sqlite_schema", &tables) != 0 ||
	    database_read_integer(
		database, "PRAGMA application_id", &application) != 0 ||
	    database_read_integer(database, "PRAGMA user_version", &version) !=
		0)
		return -1;
	if (application == SCHEMA_APPLICATION_ID)
		*state_r = version > SCHEMA_VERSION   ? SCHEMA_NEWER
			   : version < SCHEMA_VERSION ? SCHEMA_OLDER
						      : SCHEMA_CURRENT;
	else if (tables > 0 || application != 0)
		*state_r = SCHEMA_FOREIGN;
	return 0;
}

/* Marks the file as one of this version and ends the transaction. */
static int
mark_and_commit(struct database *database)
{
	char pragmas[128];

	snprintf(pragmas, sizeof(pragmas),
	    "PRAGMA application_id = %d; PRAGMA user_version = %d;",
	    SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	database_execute(database, pragmas);
	return database_commit(database);
}

int
schema_create(struct database *database, enum schema_kind kind)
{
	database_begin_write(database);
	database_execute(database, kinds[kind].tables);
	if (kinds[kind].further_tables != NULL)
		database_execute(database, kinds[kind].further_tables);
	return mark_and_commit(database);
}

int
schema_upgrade(struct database *database, enum schema_kind kind)
{
	const char *const *upgrades = kinds[kind].upgrades;
	int64_t version = SCHEMA_VERSION;

	database_define(database, "folded_hash", hash_for_index_folded);
	database_begin_write(database);
	database_read_integer(database, "PRAGMA user_version", &version);
	while (version++ < SCHEMA_VERSION)
		if (upgrades[version] != NULL)
			database_execute(database, upgrades[version]);
	return mark_and_commit(database);
}

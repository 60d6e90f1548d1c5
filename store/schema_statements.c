/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every statement made on the tables of schema.c. Data only.
 */
#include "store/schema.h"

#define FIND_TEXT(table) "SELECT id FROM " table " WHERE hash = ? AND text = ?"
#define ADD_TEXT(table) "INSERT INTO " table "(hash, text) VALUES(?, ?)"
#define READ_TEXT(table) "SELECT text FROM " table " WHERE id = ?"
#define HASHES(table) "SELECT hash FROM " table
#define ADD_WITHOUT_CONFLICT " ON CONFLICT DO NOTHING"
#define CELL_READ(table)                                                       \
	"SELECT count, sum_ns, cells FROM " table                              \
	" WHERE series = ? AND time = ?"
#define CELLS_READ(table)                                                      \
	"SELECT time, count, sum_ns, cells FROM " table                        \
	" WHERE series = ? AND time >= ? AND time < ?"
#define OUTCOME_ADD(table)                                                     \
	"INSERT INTO " table " VALUES(?, ?, ?)"                                \
	" ON CONFLICT DO UPDATE SET count = count + excluded.count"
#define OUTCOMES_READ(table)                                                   \
	"SELECT time, state, count FROM " table                                \
	" WHERE time >= ? AND time < ?"
#define CELL_WRITE(table) "REPLACE INTO " table " VALUES(?, ?, ?, ?, ?)"
#define MESSAGE_COLUMNS                                                        \
	"row, id, queue_id, message_id_domain, message_id_local, origin,"      \
	" client, sender, packed, log"
/* For lists: recipients by state, then messages, whose rows are keys shifted.
 */
#define OF_RECIPIENTS(states)                                                  \
	" FROM recipient WHERE " states " AND key >= ?1 AND key < ?2"
#define COUNT_STATES(states)                                                   \
	"SELECT state, count(*)" OF_RECIPIENTS(states) " GROUP BY state"
#define COUNT_MESSAGES(states)                                                 \
	"SELECT count(DISTINCT key >> 20)" OF_RECIPIENTS(states)
#define LIST_MESSAGES(states)                                                  \
	"SELECT DISTINCT key >> 20" OF_RECIPIENTS(states) " ORDER BY 1"
/* Those that are deleted (11) because an operator said so, by the reason that
 * recipient_row.c puts above the evidence. */
#define OF_ACKNOWLEDGED                                                        \
	" FROM (SELECT DISTINCT message FROM operation) JOIN recipient"        \
	" ON key BETWEEN message << 20 AND (message << 20) + 1048575"          \
	" WHERE state = 11 AND (evidence - 2) >> 24 IN (8, 9)"                 \
	" AND key >= ?1 AND key < ?2"
#define EVER_MISSING                                                           \
	"SELECT key >> 20" OF_RECIPIENTS(                                      \
	    SCHEMA_MISSING) " UNION SELECT key >> 20" OF_ACKNOWLEDGED
/* For searches: of one state, which must be of the index's. */
#define AND_KEYS " AND key >= ? AND key < ?"
#define SEARCH_STATES(states)                                                  \
	"SELECT key FROM recipient WHERE " states " AND state = ?" AND_KEYS
#define LEG_COLUMNS "row, id, state, row - message, origin, packed"

#define REMOVE(table, column)                                                  \
	"DELETE FROM " table " WHERE " column " >= ?1 AND " column " < ?2"

const char *const day_sql[DAY_STATEMENTS] = {
    [SQL_DOMAIN_FIND] = FIND_TEXT("domain"),
    [SQL_DOMAIN_ADD] = ADD_TEXT("domain"),
    [SQL_DOMAIN_READ] = READ_TEXT("domain"),
    [SQL_DOMAIN_HASHES] = HASHES("domain"),
    [SQL_HOST_FIND] = FIND_TEXT("host"),
    [SQL_HOST_ADD] = ADD_TEXT("host"),
    [SQL_HOST_READ] = READ_TEXT("host"),
    [SQL_HOST_HASHES] = HASHES("host"),
    [SQL_TEXT_FIND] = FIND_TEXT("text"),
    [SQL_TEXT_ADD] = ADD_TEXT("text"),
    [SQL_TEXT_READ] = READ_TEXT("text"),
    [SQL_TEXT_HASHES] = HASHES("text"),
    [SQL_ADDRESS_FIND] =
	"SELECT id FROM address WHERE hash = ? AND local = ? AND domain = ?",
    [SQL_ADDRESS_ADD] =
	"INSERT INTO address(hash, local, domain) VALUES(?, ?, ?)",
    [SQL_ADDRESS_READ] =
	"SELECT address.local, domain.text FROM address"
	" LEFT JOIN domain ON domain.id = address.domain WHERE address.id = ?",
    [SQL_ADDRESS_HASHES] = HASHES("address"),
    [SQL_DOMAIN_FIND_FOLDED] = FIND_TEXT("domain") " COLLATE NOCASE",
    [SQL_ADDRESS_FIND_FOLDED] =
	"SELECT id FROM address WHERE hash = ? AND local = ? COLLATE NOCASE"
	" AND domain = ?",
    [SQL_ADDRESSES_OF_DOMAIN] = "SELECT id FROM address WHERE domain = ?",
    [SQL_ADDRESSES_ALL] =
	"SELECT address.id, address.local, domain.text FROM address"
	" LEFT JOIN domain ON domain.id = address.domain",
    [SQL_ORIGIN_FIND] =
	"SELECT id, boot_ns FROM origin WHERE boot_id = ? AND instance = ?",
    [SQL_ORIGIN_ADD] =
	"INSERT INTO origin(boot_id, instance, boot_ns) VALUES(?, ?, ?)",
    [SQL_ORIGIN_READ] =
	"SELECT boot_id, instance, boot_ns FROM origin WHERE id = ?",

    [SQL_MESSAGE_ADD] = "INSERT INTO message VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, "
			"?, ?, ?)",
    [SQL_MESSAGE_LARGEST] = "SELECT max(row) FROM message",
    [SQL_MESSAGE_READ] =
	"SELECT " MESSAGE_COLUMNS " FROM message WHERE row = ?",
    [SQL_MESSAGE_SCAN] =
	"SELECT row, id FROM message WHERE row >= ? ORDER BY row",
    [SQL_MESSAGE_BY_QUEUE_ID] =
	"SELECT row, queue_id FROM message WHERE queue_hash = ?"
	" ORDER BY row DESC",
    [SQL_MESSAGE_BY_MESSAGE_ID] =
	"SELECT row FROM message WHERE message_id_hash = ? ORDER BY row DESC",
    [SQL_MESSAGE_LOG] = "SELECT log FROM message WHERE row = ?",
    [SQL_MESSAGE_LOG_CHANGE] = "UPDATE message SET log = ? WHERE row = ?",
    [SQL_MESSAGE_QUEUE_ID] = "SELECT queue_id FROM message WHERE row = ?",
    [SQL_QUEUE_ID_ADD] =
	"INSERT INTO queue_id(message, instance, queue_id, hash, since)"
	" VALUES(?, ?, ?, ?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_QUEUE_ID_ANY] = "SELECT 1 FROM queue_id LIMIT 1",
    [SQL_QUEUE_IDS_READ] =
	"SELECT instance, queue_id, since FROM queue_id WHERE message = ?"
	" ORDER BY since",
    [SQL_QUEUE_ID_FIND] =
	"SELECT message, instance, queue_id, since FROM queue_id"
	" WHERE hash = ? ORDER BY message DESC",
    [SQL_RECIPIENT_ADD] =
	"INSERT INTO recipient VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_RECIPIENT_CHANGE] =
	"UPDATE recipient SET state = ?, attempts = ?, leg = ?, position = ?,"
	" evidence = ? WHERE key = ?",
    [SQL_RECIPIENTS_READ] =
	"SELECT recipient.key, recipient.address, state, attempts, leg,"
	" position, packed, evidence, original.address FROM recipient"
	" LEFT JOIN original ON original.key = recipient.key"
	" WHERE recipient.key >= ? AND recipient.key < ?"
	" ORDER BY recipient.key",
    [SQL_RECIPIENTS_OPEN] =
	"SELECT key FROM recipient WHERE " SCHEMA_OPEN " ORDER BY key",
    [SQL_OPEN_COUNTS] = COUNT_STATES(SCHEMA_OPEN),
    [SQL_OPEN_MESSAGES] = COUNT_MESSAGES(SCHEMA_OPEN),
    [SQL_OPEN_OLDEST] = LIST_MESSAGES(SCHEMA_OPEN) " LIMIT ?3",
    [SQL_MISSING_COUNTS] = COUNT_STATES(SCHEMA_MISSING),
    [SQL_MISSING_MESSAGES] = COUNT_MESSAGES(SCHEMA_MISSING),
    [SQL_MISSING_NEWEST] = LIST_MESSAGES(SCHEMA_MISSING) " DESC LIMIT ?3",
    [SQL_EVER_MISSING_COUNTS] = COUNT_STATES(
	SCHEMA_MISSING) " UNION ALL SELECT 11, count(*)" OF_ACKNOWLEDGED,
    [SQL_EVER_MISSING_MESSAGES] = "SELECT count(*) FROM (" EVER_MISSING ")",
    [SQL_EVER_MISSING_NEWEST] = EVER_MISSING " ORDER BY 1 DESC LIMIT ?3",
    [SQL_RECIPIENT_BRIEF] =
	"SELECT address, leg, position FROM recipient WHERE key = ?",
    [SQL_ORIGINAL_WRITE] = "REPLACE INTO original VALUES(?, ?)",
    [SQL_ATTEMPT_LAST] = "SELECT key FROM attempt WHERE key >= ? AND key < ?"
			 " ORDER BY key DESC LIMIT 1",
    [SQL_ATTEMPT_ADD] = "INSERT INTO attempt VALUES(?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_ATTEMPTS_READ] = "SELECT packed FROM attempt"
			  " WHERE key >= ? AND key < ? ORDER BY key",
    [SQL_DEPARTURE_ADD] =
	"INSERT INTO departure SELECT ?, domain, 1 FROM address WHERE id = ?"
	" ON CONFLICT DO UPDATE SET count = count + 1",
    [SQL_DEPARTURES_READ] =
	"SELECT domain.text, sum(count) FILTER (WHERE minute >= ?2), sum(count)"
	" FROM departure LEFT JOIN domain ON domain.id = departure.domain"
	" WHERE minute >= ?1 GROUP BY departure.domain",
    /* Through the index of open recipients, however many others there are, and
     * by address before by domain, which are fewer. */
    [SQL_WAITING_READ] =
	"SELECT domain.text, sum(waiting), min(first) >> 20 FROM"
	" (SELECT address AS number, count(*) AS waiting, min(key) AS first"
	" FROM recipient INDEXED BY recipient_open"
	" WHERE " SCHEMA_OPEN " AND state <> 6 GROUP BY address)"
	" CROSS JOIN address ON address.id = number"
	" LEFT JOIN domain ON domain.id = address.domain"
	" GROUP BY address.domain",
    [SQL_OPERATION_ADD] =
	"INSERT INTO operation VALUES(?, ?, ?, ?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_OPERATIONS_READ] =
	"SELECT time, kind, who, comment FROM operation WHERE message = ?"
	" ORDER BY time",
    [SQL_FILING_ADD] =
	"INSERT INTO filing VALUES(?, ?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_FILINGS_READ] = "SELECT recipient, action, name FROM filing"
			 " WHERE recipient >= ? AND recipient < ?"
			 " ORDER BY recipient, action, name",
    [SQL_SESSION_ADD] = "INSERT INTO session VALUES(?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_SESSION_FIND] = "SELECT recipient FROM session WHERE hash = ?",

    [SQL_LEG_ADD] =
	"INSERT INTO leg VALUES(?, ?, ?, ?, ?, ?, ?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_LEG_READ] = "SELECT " LEG_COLUMNS " FROM leg WHERE row = ?",
    [SQL_LEG_SCAN] = "SELECT row, id FROM leg WHERE row >= ? ORDER BY row",
    [SQL_LEG_SETTLE] = "UPDATE leg SET state = ?, message = ? WHERE row = ?"
		       " AND message IS NULL",
    [SQL_LEG_PART_ADD] =
	"INSERT INTO leg_part VALUES(?, ?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_LEG_PACKED] =
	"SELECT packed FROM leg WHERE row = ? AND length(packed) <= 65536",
    [SQL_LEG_PARTS_READ] =
	"SELECT part, packed FROM leg_part WHERE leg = ? ORDER BY part",
    [SQL_UNDECIDED_ADD] =
	"INSERT INTO undecided VALUES(?, ?)" ADD_WITHOUT_CONFLICT,
    [SQL_UNDECIDED_READ] = "SELECT leg FROM undecided WHERE message = ?",
    [SQL_LEGS_WAITING] = "SELECT row FROM leg WHERE state = 0 ORDER BY row",
    [SQL_LEG_BY_QUEUE_ID] = "SELECT row, row - message FROM leg WHERE "
			    "queue_hash = ? ORDER BY row DESC",
    [SQL_LEG_BY_MESSAGE_ID] =
	"SELECT row, row - message FROM leg WHERE message_id_hash = ?"
	" ORDER BY row DESC",

    [SQL_SEARCH_QUEUE_ID] = "SELECT row FROM message WHERE queue_hash = ?",
    [SQL_SEARCH_FURTHER_QUEUE_ID] =
	"SELECT message FROM queue_id WHERE hash = ?",
    [SQL_SEARCH_LEG_QUEUE_ID] =
	"SELECT row - message FROM leg WHERE queue_hash = ?",
    [SQL_SEARCH_LONE_QUEUE_ID] =
	"SELECT row FROM leg WHERE queue_hash = ? AND message IS NULL",
    [SQL_SEARCH_MESSAGE_ID] =
	"SELECT row FROM message WHERE message_id_hash = ?",
    [SQL_SEARCH_LEG_MESSAGE_ID] =
	"SELECT row - message FROM leg WHERE message_id_hash = ?",
    [SQL_SEARCH_OPEN] = SEARCH_STATES(SCHEMA_OPEN),
    [SQL_SEARCH_MISSING] = SEARCH_STATES(SCHEMA_MISSING),
    [SQL_SEARCH_ENDED] = SEARCH_STATES(SCHEMA_ENDED),
    [SQL_SEARCH_RECIPIENT] =
	"SELECT key FROM recipient WHERE address = ?" AND_KEYS,
    [SQL_SEARCH_ORIGINAL] =
	"SELECT key FROM original WHERE address = ?" AND_KEYS,
    [SQL_SEARCH_SENDER] =
	"SELECT row FROM message WHERE sender = ? AND row >= ? AND row < ?",
    [SQL_SEARCH_MESSAGES] = "SELECT row FROM message WHERE row >= ? AND row < ?"
			    " ORDER BY row DESC LIMIT ?",
    [SQL_SEARCH_LEGS] = "SELECT row FROM leg WHERE message IS NULL"
			" AND row >= ? AND row < ? ORDER BY row DESC LIMIT ?",
    [SQL_FILINGS_REMOVE] = REMOVE("filing", "recipient"),
    [SQL_SESSION_REMOVE] = REMOVE("session", "recipient") " AND hash = ?3",
    [SQL_OPERATIONS_REMOVE] = REMOVE("operation", "message"),
    [SQL_MESSAGE_NEWEST] = "SELECT coalesce((SELECT max(row) FROM message), 0),"
			   " coalesce((SELECT max(since) FROM queue_id), 0)",
    [SQL_MESSAGE_REMOVE] = REMOVE("message", "row"),
    [SQL_QUEUE_IDS_REMOVE] = REMOVE("queue_id", "message"),
    [SQL_RECIPIENTS_REMOVE] = REMOVE("recipient", "key"),
    [SQL_ORIGINALS_REMOVE] = REMOVE("original", "key"),
    [SQL_ATTEMPTS_REMOVE] = REMOVE("attempt", "key"),
    [SQL_UNDECIDED_REMOVE] = REMOVE("undecided", "message"),
    [SQL_LEG_DETACH] =
	"UPDATE leg SET state = ?, message = NULL, queue_hash = ?,"
	" message_id_hash = ?, packed = ? WHERE row = ?",

    [SQL_FEED_END] = "SELECT coalesce(max(number), 0) FROM feed",
    [SQL_FEED_ADD] = "INSERT INTO feed VALUES(?, ?, ?)",
    [SQL_FEED_TRIM] = "DELETE FROM feed WHERE number <= ?",
    [SQL_FEED_READ] = "SELECT number, time, packed FROM feed WHERE number > ?"
		      " ORDER BY number",
    [SQL_POSITIONS_READ] = "SELECT source, segment, offset FROM position",
    [SQL_POSITION_WRITE] = "REPLACE INTO position VALUES(?, ?, ?)",
    [SQL_COUNTERS_READ] = "SELECT name, value FROM counter",
    [SQL_COUNTER_ADD] =
	"INSERT INTO counter VALUES(?, ?)"
	" ON CONFLICT DO UPDATE SET value = value + excluded.value",
    [SQL_SERIES_READ] = "SELECT id, name FROM series",
    [SQL_SERIES_ADD] =
	"INSERT INTO series(name) VALUES(?)"
	" ON CONFLICT DO UPDATE SET name = name RETURNING id",
    [SQL_TOTALS_READ] = "SELECT name, count, sum_ns, buckets FROM total"
			" JOIN series ON series.id = total.series",
    [SQL_TOTAL_READ] = "SELECT * FROM total WHERE series = ?",
    [SQL_TOTAL_WRITE] = "REPLACE INTO total VALUES(?, ?, ?, ?)",
    [SQL_MINUTE_READ] = CELL_READ("minute"),
    [SQL_MINUTE_WRITE] = CELL_WRITE("minute"),
    [SQL_HOUR_READ] = CELL_READ("hour"),
    [SQL_HOUR_WRITE] = CELL_WRITE("hour"),
    [SQL_MINUTES_READ] = CELLS_READ("minute"),
    [SQL_HOURS_READ] = CELLS_READ("hour"),
    [SQL_OUTCOME_MINUTE_ADD] = OUTCOME_ADD("outcome_minute"),
    [SQL_OUTCOME_HOUR_ADD] = OUTCOME_ADD("outcome_hour"),
    [SQL_OUTCOME_MINUTES_READ] = OUTCOMES_READ("outcome_minute"),
    [SQL_OUTCOME_HOURS_READ] = OUTCOMES_READ("outcome_hour"),
};

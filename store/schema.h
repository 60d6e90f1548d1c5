/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema: the tables of a day file and every statement made on them.
 *
 * Dictionaries (domain, address, host, text) hold each string once; rows hold
 * their ids. Text is TEXT where it is valid UTF-8 and BLOB where it is not
 * (type ANY), so that it comes back as it came. What is only ever read together
 * with its row is packed into one blob: see message_row.h and leg_row.h.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

struct database;
struct reason;

#define SCHEMA_APPLICATION_ID 0x506f4c67 /* "PoLg" */
#define SCHEMA_VERSION 4

/* Of the states in record.h, those that have indexes of their own. Queries must
 * say them in the same words. Written with IN, each row that is written would
 * cost a table of its own in which its state is looked up. */
#define SCHEMA_OPEN "(state = 0 OR state = 5 OR state = 6)"
#define SCHEMA_MISSING "(state = 13 OR state = 14)"
#define SCHEMA_ENDED                                                           \
	"(state BETWEEN 2 AND 4 OR state BETWEEN 9 AND 12"                     \
	" OR state BETWEEN 15 AND 16)"

enum day_sql {
	/* Dictionaries. */
	SQL_DOMAIN_FIND,
	SQL_DOMAIN_ADD,
	SQL_DOMAIN_READ,
	SQL_DOMAIN_HASHES,
	SQL_HOST_FIND,
	SQL_HOST_ADD,
	SQL_HOST_READ,
	SQL_HOST_HASHES,
	SQL_TEXT_FIND,
	SQL_TEXT_ADD,
	SQL_TEXT_READ,
	SQL_TEXT_HASHES,
	SQL_ADDRESS_FIND,
	SQL_ADDRESS_ADD,
	SQL_ADDRESS_READ,
	SQL_ADDRESS_HASHES,
	SQL_DOMAIN_FIND_FOLDED,
	SQL_ADDRESS_FIND_FOLDED,
	SQL_ADDRESSES_OF_DOMAIN,
	SQL_ADDRESSES_ALL,
	SQL_ORIGIN_FIND,
	SQL_ORIGIN_ADD,
	SQL_ORIGIN_READ,

	SQL_MESSAGE_ADD,
	SQL_MESSAGE_LARGEST,
	SQL_MESSAGE_READ,
	SQL_MESSAGE_SCAN,
	SQL_MESSAGE_BY_QUEUE_ID,
	SQL_MESSAGE_BY_MESSAGE_ID,
	SQL_MESSAGE_LOG,
	SQL_MESSAGE_LOG_CHANGE,
	SQL_MESSAGE_QUEUE_ID,
	SQL_MESSAGE_REMOVE,
	SQL_MESSAGE_NEWEST,
	SQL_QUEUE_ID_ADD,
	SQL_QUEUE_ID_ANY,
	SQL_QUEUE_IDS_READ,
	SQL_QUEUE_ID_FIND,
	SQL_QUEUE_IDS_REMOVE,
	SQL_RECIPIENT_ADD,
	SQL_RECIPIENT_CHANGE,
	SQL_RECIPIENTS_REMOVE,
	SQL_RECIPIENTS_READ,
	SQL_RECIPIENTS_OPEN,
	SQL_OPEN_COUNTS,
	SQL_OPEN_MESSAGES,
	SQL_OPEN_OLDEST,
	SQL_MISSING_COUNTS,
	SQL_MISSING_MESSAGES,
	SQL_MISSING_NEWEST,
	SQL_EVER_MISSING_COUNTS,
	SQL_EVER_MISSING_MESSAGES,
	SQL_EVER_MISSING_NEWEST,
	SQL_RECIPIENT_BRIEF,
	SQL_ORIGINAL_WRITE,
	SQL_ORIGINALS_REMOVE,
	SQL_ATTEMPT_LAST,
	SQL_ATTEMPT_ADD,
	SQL_ATTEMPTS_READ,
	SQL_DEPARTURE_ADD,
	SQL_DEPARTURES_READ,
	SQL_WAITING_READ,
	SQL_OPERATION_ADD,
	SQL_OPERATIONS_READ,
	SQL_FILING_ADD,
	SQL_FILINGS_READ,
	SQL_FILINGS_REMOVE,
	SQL_SESSION_ADD,
	SQL_SESSION_FIND,
	SQL_SESSION_REMOVE,
	SQL_OPERATIONS_REMOVE,
	SQL_ATTEMPTS_REMOVE,

	SQL_LEG_ADD,
	SQL_LEG_READ,
	SQL_LEG_SCAN,
	SQL_LEG_SETTLE,
	SQL_LEG_DETACH,
	SQL_LEG_PART_ADD,
	SQL_LEG_PACKED,
	SQL_LEG_PARTS_READ,
	SQL_UNDECIDED_ADD,
	SQL_UNDECIDED_READ,
	SQL_UNDECIDED_REMOVE,
	SQL_LEGS_WAITING,
	SQL_LEG_BY_QUEUE_ID,
	SQL_LEG_BY_MESSAGE_ID,

	SQL_SEARCH_QUEUE_ID,
	SQL_SEARCH_FURTHER_QUEUE_ID,
	SQL_SEARCH_LEG_QUEUE_ID,
	SQL_SEARCH_LONE_QUEUE_ID,
	SQL_SEARCH_MESSAGE_ID,
	SQL_SEARCH_LEG_MESSAGE_ID,
	SQL_SEARCH_OPEN,
	SQL_SEARCH_MISSING,
	SQL_SEARCH_ENDED,
	SQL_SEARCH_RECIPIENT,
	SQL_SEARCH_ORIGINAL,
	SQL_SEARCH_SENDER,
	SQL_SEARCH_MESSAGES,
	SQL_SEARCH_LEGS,

	SQL_FEED_END,
	SQL_FEED_ADD,
	SQL_FEED_TRIM,
	SQL_FEED_READ,
	SQL_POSITIONS_READ,
	SQL_POSITION_WRITE,
	SQL_COUNTERS_READ,
	SQL_COUNTER_ADD,
	SQL_SERIES_READ,
	SQL_SERIES_ADD,
	SQL_TOTALS_READ,
	SQL_TOTAL_READ,
	SQL_TOTAL_WRITE,
	SQL_MINUTE_READ,
	SQL_MINUTE_WRITE,
	SQL_HOUR_READ,
	SQL_HOUR_WRITE,
	SQL_MINUTES_READ,
	SQL_HOURS_READ,
	SQL_OUTCOME_MINUTE_ADD,
	SQL_OUTCOME_HOUR_ADD,
	SQL_OUTCOME_MINUTES_READ,
	SQL_OUTCOME_HOURS_READ,
	DAY_STATEMENTS
};

/* Indexed by enum day_sql. */
extern const char *const day_sql[DAY_STATEMENTS];

enum schema_kind { SCHEMA_DAY, SCHEMA_CONTROL, SCHEMA_ARCHIVE, SCHEMA_KINDS };

enum schema_state {
	SCHEMA_EMPTY,
	SCHEMA_CURRENT,
	SCHEMA_OLDER,  /* schema_upgrade() makes it current */
	SCHEMA_NEWER,  /* of a later version of this program */
	SCHEMA_FOREIGN /* somebody else's database */
};

/* Looks whose file it is. Returns 0, or -1 when the connection failed. */
int schema_inspect(struct database *database, enum schema_state *state_r);

/* Makes the tables in an empty file, in a transaction of its own. Returns 0 or
 * -1. */
int schema_create(struct database *database, enum schema_kind kind);

/* Turns an older file of ours into a current one, in a transaction of its own.
 * Returns 0 or -1. */
int schema_upgrade(struct database *database, enum schema_kind kind);

#endif

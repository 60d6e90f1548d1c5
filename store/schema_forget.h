/* SPDX-License-Identifier: BSD-2-Clause */
/* schema_forget: the statements by which a day file forgets an address. */
#ifndef STORE_SCHEMA_FORGET_H
#define STORE_SCHEMA_FORGET_H

/* Where bytes may name an address: a table to be read on from two keys, and one
 * to be changed by them. */
enum forget_table {
	FORGET_RECIPIENTS,
	FORGET_LEGS,
	FORGET_LEG_PARTS,
	FORGET_ATTEMPTS,
	FORGET_TEXTS, /* dictionaries: these have a hash, too */
	FORGET_HOSTS,
	FORGET_TABLES
};

enum forget_sql {
	SQL_FORGET_READ = 0,
	SQL_FORGET_CHANGE = FORGET_TABLES,
	SQL_FORGET_ADDRESSES = 2 * FORGET_TABLES, /* of a hash */
	SQL_FORGET_MESSAGES,                      /* of an address: how many */
	SQL_FORGET_MARK,
	FORGET_STATEMENTS
};

extern const char *const forget_sql[FORGET_STATEMENTS];

#endif

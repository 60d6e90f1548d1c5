/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema_control: the tables of control.db and every statement made on them.
 */
#ifndef STORE_SCHEMA_CONTROL_H
#define STORE_SCHEMA_CONTROL_H

#include "store/schema.h"

extern const char schema_control_tables[];

/* What turns the version before into this one; NULL: nothing needs to. */
extern const char *const schema_control_upgrades[SCHEMA_VERSION + 1];

enum control_sql {
	SQL_BOUNDS_READ,
	SQL_BOUND_WRITE,
	SQL_NOTES_READ,
	SQL_NOTE_READ,
	SQL_NOTE_WRITE,
	CONTROL_STATEMENTS
};

extern const char *const control_sql[CONTROL_STATEMENTS];

#endif

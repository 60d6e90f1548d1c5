/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema_control: the tables of control.db, as SQL.
 *
 * Included by schema.c, which makes and upgrades files; control_sql is
 * declared in schema.h.
 */
#ifndef STORE_SCHEMA_CONTROL_H
#define STORE_SCHEMA_CONTROL_H

#include "store/schema.h"

extern const char schema_control_tables[];

/* What turns the version before into this one; NULL: nothing needs to. */
extern const char *const schema_control_upgrades[SCHEMA_VERSION + 1];

#endif

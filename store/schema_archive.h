/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema_archive: the tables of archive.db and every statement made on them.
 */
#ifndef STORE_SCHEMA_ARCHIVE_H
#define STORE_SCHEMA_ARCHIVE_H

#include "store/schema.h"

/* What is older than hours are kept is of this day. */
#define ARCHIVE_SUM_DAY 0

extern const char schema_archive_tables[];

/* What turns the version before into this one; NULL: nothing needs to. */
extern const char *const schema_archive_upgrades[SCHEMA_VERSION + 1];

/* Of archive.db; ?1 is a day unless said otherwise. ATTACH takes a day file's
 * path; what is copied comes from there. */
enum archive_sql {
	SQL_ARCHIVE_ATTACH,
	SQL_ARCHIVE_DETACH,
	/* These make up a copy, in this order. */
	SQL_ARCHIVE_FORGET_COUNTERS,
	SQL_ARCHIVE_FORGET_TOTALS,
	SQL_ARCHIVE_FORGET_HOURS,
	SQL_ARCHIVE_FORGET_OUTCOMES,
	SQL_ARCHIVE_COPY_SERIES,
	SQL_ARCHIVE_COPY_COUNTERS,
	SQL_ARCHIVE_COPY_TOTALS,
	SQL_ARCHIVE_COPY_HOURS,
	SQL_ARCHIVE_COPY_OUTCOMES,
	SQL_ARCHIVE_NOTE_DAY,
	/* Of all up to this day. */
	SQL_ARCHIVE_EXPIRE_HOURS,
	SQL_ARCHIVE_EXPIRE_OUTCOMES,
	SQL_ARCHIVE_FOLD_COUNTERS,
	SQL_ARCHIVE_EXPIRE_COUNTERS,
	SQL_ARCHIVE_TOTALS_UNTIL,
	SQL_ARCHIVE_EXPIRE_TOTALS,
	SQL_ARCHIVE_EXPIRE_DAYS,
	SQL_ARCHIVE_SUM_WRITE, /* series, count, sum_ns, buckets */
	SQL_ARCHIVE_DAYS,      /* no parameter */
	SQL_ARCHIVE_COUNTERS_READ,
	SQL_ARCHIVE_TOTALS_READ,
	SQL_ARCHIVE_SERIES_READ,   /* no parameter */
	SQL_ARCHIVE_HOURS_READ,    /* day, series, since, until */
	SQL_ARCHIVE_OUTCOMES_READ, /* day, since, until */
	ARCHIVE_STATEMENTS
};

extern const char *const archive_sql[ARCHIVE_STATEMENTS];

#endif

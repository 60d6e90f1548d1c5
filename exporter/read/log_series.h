/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_series: the files that a log was rotated into, as they lie in its
 * directory at one moment.
 *
 *     mail.log  mail.log.1  mail.log.2.gz  mail.log-20261130  mail.log.old
 *     mail.log.20261130-074742.gz  mail-20261130.log.gz
 *
 * Each is held open, so that it stays what it is when it is renamed meanwhile.
 * A directory of its own for rotated files (logrotate's olddir) is not looked
 * into. Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_SERIES_H
#define EXPORTER_READ_LOG_SERIES_H

#include "exporter/read/log_catalog.h"
#include "exporter/read/log_file.h"

struct reason;

struct log_candidate {
	struct log_file *file; /* NULL: cannot be read; or taken */
	struct log_head head;  /* all zero: it has no whole line yet */
	int64_t changed_wall_ns;
	uint64_t device, inode, bytes;
	int64_t born_wall_ns; /* 0: not told */
	bool is_path;         /* the log itself */
	bool is_compressed;   /* in whatever way */
};

/* A zeroed struct is an empty series. */
struct log_series {
	struct log_candidate *items;
	size_t count;
};

/* Whether a file of this name may be one of those that the log `base` was
 * rotated into, or the log itself. */
bool log_series_includes(const char *base, const char *name);

/* Fills an empty series. Files other than the log that cannot be opened are in
 * it without `file`. None is left out because it is renamed meanwhile, nor what
 * the log held because it is copied and truncated. Returns 0; or -1 when the
 * directory cannot be read, or the log is there and cannot be. */
int log_series_scan(struct log_series *series, const char *directory,
    const char *base, struct reason *reason);

/* The best file to read a generation from: the log itself, before plain files,
 * before compressed ones. NULL: there is none. */
struct log_candidate *log_series_match(
    const struct log_series *series, const struct log_generation *generation);

/* Whether the file is the inode that a generation was read from first. */
bool log_candidate_is_inode_of(const struct log_candidate *candidate,
    const struct log_generation *generation);

/* The log itself; NULL when it does not exist. */
struct log_candidate *log_series_path(const struct log_series *series);

/* The oldest file that is no generation of the catalog and began after
 * `generation`, which was read up to a line of `read_wall_ns`. NULL: there is
 * none. */
struct log_candidate *log_series_after(const struct log_series *series,
    const struct log_catalog *catalog, const struct log_generation *generation,
    int64_t read_wall_ns);

/* A file whose first line is of this microsecond; NULL: there is none. */
struct log_candidate *log_series_began_at(
    const struct log_series *series, uint64_t wall_us);

/* How exactly compressors keep the time of a file's last change. */
#define LOG_TIME_GRAIN_NS INT64_C(2000000000)

/* Whether there is a file that cannot be read and was last changed later than
 * one and earlier than the other. */
bool log_series_hides(const struct log_series *series, int64_t after_wall_ns,
    int64_t before_wall_ns);

void log_series_free(struct log_series *series);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_settings: the options of a producer's journal.
 *
 * Every producer's configuration section has the same ones; each places
 * JOURNAL_CONFIG_ITEMS in its table and a struct journal_settings in its
 * settings.
 */
#ifndef PROTO_JOURNAL_SETTINGS_H
#define PROTO_JOURNAL_SETTINGS_H

#include "proto/journal_writer.h"

#include <stdint.h>

struct reason;

struct journal_settings {
	char *directory;
	char *source;
	char *instance; /* empty: the host name */
	int64_t segment_bytes;
	int64_t segment_age_ns;
	int64_t limit_bytes;
	int64_t sync_interval_ns;
	int64_t heartbeat_interval_ns;
};

/* clang-format off */
/* To be placed in a program's config_item table; `type` is its settings struct
 * and `member` the name of the struct journal_settings in it. */
#define JOURNAL_CONFIG_ITEMS(type, member, default_source)                     \
	{"journal", CONFIG_STRING, offsetof(type, member.directory),           \
	    "/var/lib/postlag/journal", 0, 0, NULL,                            \
	    "Directory of all journals."},                                     \
	{"source", CONFIG_STRING, offsetof(type, member.source),               \
	    default_source, 0, 0, NULL,                                        \
	    "Name of this program's own journal, a directory in it."},         \
	{"instance", CONFIG_STRING, offsetof(type, member.instance), "", 0, 0, \
	    NULL,                                                              \
	    "Which Postfix this is, by its myhostname; empty: the host name."},\
	{"segment_size", CONFIG_SIZE, offsetof(type, member.segment_bytes),    \
	    "16M", 64 << 10, INT64_C(1) << 30, NULL,                           \
	    "Size at which a new file of the journal is begun."},              \
	{"segment_age", CONFIG_DURATION, offsetof(type, member.segment_age_ns),\
	    "1h", INT64_C(1000000000), INT64_C(86400000000000), NULL,          \
	    "Age at which a new file of the journal is begun."},               \
	{"journal_limit", CONFIG_SIZE, offsetof(type, member.limit_bytes),     \
	    "1G", 128 << 10, INT64_C(1) << 44, NULL,                           \
	    "Size of the journal at which new events are dropped and counted; "\
	    "mail goes on."},                                                  \
	{"sync_interval", CONFIG_DURATION,                                     \
	    offsetof(type, member.sync_interval_ns), "1s", 0,                  \
	    INT64_C(3600000000000), NULL,                                      \
	    "What a power cut may take from the journal at most; 0 syncs "     \
	    "before the mail goes on."},                                       \
	{"heartbeat_interval", CONFIG_DURATION,                                \
	    offsetof(type, member.heartbeat_interval_ns), "10s",               \
	    INT64_C(10000000), INT64_C(3600000000000), NULL,                   \
	    "Time between the journal's signs of life, which carry counts."}
/* clang-format on */

/* Returns 0, or -1 when the source's name cannot be a directory's. */
int journal_settings_check(
    const struct journal_settings *settings, struct reason *reason);

/* What an empty `instance` stands for: the host name; static. To be called
 * before threads start. */
const char *journal_default_instance(void);

/* What journal_writer_open() takes; `program` is kept. The strings are those of
 * the settings, or static. To be called before threads start. */
struct journal_writer_settings journal_settings_for_writer(
    const struct journal_settings *settings, const char *program);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logs: all logs of Postfix's that are read, as the settings name them.
 *
 * For the ingest thread.
 */
#ifndef EXPORTER_LOGS_H
#define EXPORTER_LOGS_H

struct join;
struct log_instances;
struct log_trust;
struct reason;
struct sources;
struct store;

struct logs_settings {
	const char *paths;         /* separated by commas; empty: none */
	const char *instances;     /* see log_instances.h */
	const char *limit_root;    /* see log_source_look_for_limits() */
	const char *dovecot_paths; /* of Dovecot's own; as paths */
};

/* Whether this build can read them, and knows whose they are. Returns 0, or -1.
 */
int logs_check(const struct logs_settings *settings, struct reason *reason);

/* Both are NULL when no log of Postfix's is read. */
struct logs {
	struct log_instances *instances;
	struct log_trust *trust;
};

/* Makes them sources, and tells the join. Returns 0, or -1. */
int logs_open(const struct logs_settings *settings, struct store *store,
    struct sources *sources, struct join *join, struct logs *logs_r,
    struct reason *reason);

/* Saves what is known of them; before positions in them are. Returns 0, or -1.
 */
int logs_save(struct logs *logs, struct store *store, struct reason *reason);

void logs_close(struct logs *logs);

#endif

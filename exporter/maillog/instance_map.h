/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * instance_map: an option that says something of several Postfix instances.
 *
 *     /var/spool/postfix
 *     mx.example.org=/var/spool/postfix, out.example.org=/var/spool/postfix-out
 *
 * What has no name in front is the default instance's, that of the host name,
 * like a producer's option `instance` left empty. Read at start.
 */
#ifndef EXPORTER_MAILLOG_INSTANCE_MAP_H
#define EXPORTER_MAILLOG_INSTANCE_MAP_H

#include <stddef.h>

struct reason;

struct instance_entry {
	char *instance;
	char *value;
};

struct instance_map {
	struct instance_entry *entries;
	size_t count;
};

/* `option` is named in reasons. Returns 0, or -1 for an empty name or value,
 * or an instance named twice; the map is then empty. */
int instance_map_parse(const char *option, const char *text,
    struct instance_map *map_r, struct reason *reason);

/* NULL when it says nothing of the instance. */
const char *instance_map_find(
    const struct instance_map *map, const char *instance);

void instance_map_clear(struct instance_map *map);

#endif

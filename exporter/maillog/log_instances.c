/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A short list of names, searched in order. Bounded: what a log could add
 * beyond that is one instance. Called by the join on the ingest thread.
 */
#include "exporter/maillog/log_instances.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reason.h"

#define INSTANCES_MAX 64
#define DEFAULT_NAME "postfix"

struct log_instance {
	char *name; /* of syslog_name */
	char *instance;
};

struct log_instances {
	struct log_instance items[INSTANCES_MAX];
	size_t count;
};

static struct maillog_view
trim(const char *text, size_t size)
{
	while (size > 0 && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	return (struct maillog_view){text, size};
}

static char *
copy(struct maillog_view view)
{
	char *text = memory_zeroed(view.size + 1, 1);

	memcpy(text, view.at, view.size);
	return text;
}

static void
add(struct log_instances *instances, struct maillog_view name,
    struct maillog_view instance)
{
	instances->items[instances->count++] =
	    (struct log_instance){copy(name), copy(instance)};
}

static const char *
find(const struct log_instances *instances, struct maillog_view name)
{
	for (size_t i = 0; i < instances->count; i++) {
		const char *known = instances->items[i].name;

		if (strlen(known) == name.size &&
		    memcmp(known, name.at, name.size) == 0)
			return log_instances_find_instance(
			    instances, instances->items[i].instance);
	}
	return NULL;
}

static int
add_pair(struct log_instances *instances, struct maillog_view pair,
    struct reason *reason)
{
	const char *equals = memchr(pair.at, '=', pair.size);
	struct maillog_view name, instance;

	if (equals == NULL)
		return reason_set(reason,
		    "maillog_instances: \"%.*s\" is not name=instance",
		    (int)pair.size, pair.at);
	name = trim(pair.at, (size_t)(equals - pair.at));
	instance = trim(equals + 1, pair.size - (size_t)(equals + 1 - pair.at));
	if (name.size == 0 || instance.size == 0 ||
	    instances->count >= INSTANCES_MAX - 1)
		return reason_set(reason,
		    "maillog_instances: \"%.*s\" lacks a name, or there are "
		    "too "
		    "many",
		    (int)pair.size, pair.at);
	if (find(instances, name) != NULL)
		return reason_set(reason,
		    "maillog_instances: %.*s is named twice", (int)name.size,
		    name.at);
	add(instances, name, instance);
	return 0;
}

static int
add_pairs(
    struct log_instances *instances, const char *text, struct reason *reason)
{
	while (*text != '\0') {
		size_t size = strcspn(text, ",");
		struct maillog_view pair = trim(text, size);

		if (pair.size > 0 && add_pair(instances, pair, reason) != 0)
			return -1;
		text += size + (text[size] == ',');
	}
	return 0;
}

struct log_instances *
log_instances_new(const char *text, const char *host, struct reason *reason)
{
	static const struct maillog_view name = MAILLOG_LITERAL(DEFAULT_NAME);
	struct log_instances *instances = memory_zeroed(1, sizeof(*instances));

	if (add_pairs(instances, text, reason) != 0) {
		log_instances_free(&instances);
		return NULL;
	}
	if (find(instances, name) == NULL)
		add(instances, name, maillog_view_of(host));
	return instances;
}

void
log_instances_free(struct log_instances **instances)
{
	if (*instances == NULL)
		return;
	for (size_t i = 0; i < (*instances)->count; i++) {
		free((*instances)->items[i].name);
		free((*instances)->items[i].instance);
	}
	free(*instances);
	*instances = NULL;
}

const char *
log_instances_find(
    struct log_instances *instances, struct maillog_view syslog_name)
{
	struct maillog_view name = syslog_name;
	const char *slash, *known;

	if (name.size == 0)
		return NULL;
	slash = memchr(name.at, '/', name.size);
	if (slash != NULL)
		name.size = (size_t)(slash - name.at);
	known = find(instances, name);
	if (known == NULL && instances->count < INSTANCES_MAX) {
		add(instances, name, name);
		known = find(instances, name);
	}
	return known != NULL ? known
			     : instances->items[INSTANCES_MAX - 1].instance;
}

const char *
log_instances_find_instance(
    const struct log_instances *instances, const char *instance)
{
	for (size_t i = 0; i < instances->count; i++)
		if (strcmp(instances->items[i].instance, instance) == 0)
			return instances->items[i].instance;
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the two ways a question goes. Opened by main.c before it gives up
 * root, used by loss.c on the ingest thread.
 */
#include "exporter/queue/queue_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reason.h"
#include "exporter/maillog/instance_map.h"
#include "exporter/queue/queue_list.h"

#define POSTQUEUE_TIMEOUT_NS (300 * CLOCK_NS_PER_SECOND)
#define HELPER_ABSENCES 2
#define LIST_ABSENCES 3

/* Numbers of instances are indices into `instances`. */
struct queue_lookup {
	struct instance_map directories, configs;
	size_t count;
	const char **instances;
	const char **config_directories;
	char *postqueue;
	struct queue_helper helper;
	struct queue_list *list;
};

/* What has a directory comes first, in its order. */
static void
number_instances(struct queue_lookup *lookup)
{
	const struct instance_map *directories = &lookup->directories;
	const struct instance_map *configs = &lookup->configs;
	size_t most = directories->count + configs->count;

	lookup->instances = memory_zeroed(most, sizeof(*lookup->instances));
	lookup->config_directories =
	    memory_zeroed(most, sizeof(*lookup->config_directories));
	for (size_t i = 0; i < directories->count; i++)
		lookup->instances[lookup->count++] =
		    directories->entries[i].instance;
	for (size_t i = 0; i < configs->count; i++)
		if (instance_map_find(
			directories, configs->entries[i].instance) == NULL)
			lookup->instances[lookup->count++] =
			    configs->entries[i].instance;
	for (size_t i = 0; i < lookup->count; i++)
		lookup->config_directories[i] =
		    instance_map_find(configs, lookup->instances[i]);
}

static int
start_helper(struct queue_lookup *lookup,
    const struct queue_lookup_settings *settings, struct reason *reason)
{
	size_t count = lookup->directories.count;
	struct queue_directory *directories =
	    memory_zeroed(count, sizeof(*directories));
	const struct queue_helper_settings helper = {
	    .user = settings->user,
	    .directories = directories,
	    .directory_count = count,
	};
	int result;

	for (size_t i = 0; i < count; i++)
		directories[i] = (struct queue_directory){
		    .path = lookup->directories.entries[i].value,
		    .hashed = queue_hashed(settings->hash_names),
		    .depth = (unsigned)settings->hash_depth,
		};
	result = queue_helper_start(&helper, &lookup->helper, reason);
	free(directories);
	return result;
}

static int
begin(struct queue_lookup *lookup, const struct queue_lookup_settings *settings,
    struct reason *reason)
{
	const struct queue_list_settings list = {
	    .command = lookup->postqueue,
	    .config_directories = lookup->config_directories,
	    .pause_ns = settings->postqueue_pause_ns,
	    .timeout_ns = POSTQUEUE_TIMEOUT_NS,
	};

	lookup->list = queue_list_new(&list);
	if (lookup->directories.count == 0)
		return 0;
	if (queue_helper_is_possible(settings->user))
		return start_helper(lookup, settings, reason);
	log_warn("option=queue_directories reason=\"started neither by root "
		 "nor with CAP_SETUID and CAP_SETGID, so that the queue can "
		 "only be looked at by %s\"",
	    lookup->postqueue);
	return 0;
}

/* A relative path would depend on who starts us. */
static int
parse_directories(const char *option, const char *text,
    struct instance_map *map_r, struct reason *reason)
{
	if (instance_map_parse(option, text, map_r, reason) != 0)
		return -1;
	for (size_t i = 0; i < map_r->count; i++) {
		const char *path = map_r->entries[i].value;

		if (*path == '/')
			continue;
		reason_set(
		    reason, "%s: \"%s\" is no absolute path", option, path);
		instance_map_clear(map_r);
		return -1;
	}
	return 0;
}

static int
parse_maps(const struct queue_lookup_settings *settings,
    struct instance_map *directories_r, struct instance_map *configs_r,
    struct reason *reason)
{
	*configs_r = (struct instance_map){.entries = NULL};
	if (parse_directories("queue_directories", settings->directories,
		directories_r, reason) != 0)
		return -1;
	return parse_directories("config_directories",
	    settings->config_directories, configs_r, reason);
}

int
queue_lookup_check(
    const struct queue_lookup_settings *settings, struct reason *reason)
{
	struct instance_map directories, configs;
	int result = parse_maps(settings, &directories, &configs, reason);

	instance_map_clear(&directories);
	instance_map_clear(&configs);
	return result;
}

int
queue_lookup_open(const struct queue_lookup_settings *settings,
    struct queue_lookup **lookup_r, struct reason *reason)
{
	struct queue_lookup *lookup = memory_zeroed(1, sizeof(*lookup));
	int result;

	*lookup_r = NULL;
	lookup->helper.fd = -1;
	lookup->postqueue = memory_string(settings->postqueue);
	result = parse_maps(
	    settings, &lookup->directories, &lookup->configs, reason);
	if (result == 0)
		number_instances(lookup);
	if (result == 0 && lookup->count > 0)
		result = begin(lookup, settings, reason);
	if (result == 0 && lookup->count > 0)
		*lookup_r = lookup;
	else
		queue_lookup_close(&lookup);
	return result;
}

void
queue_lookup_close(struct queue_lookup **lookup)
{
	if (*lookup == NULL)
		return;
	queue_helper_end(&(*lookup)->helper);
	queue_list_free(&(*lookup)->list);
	instance_map_clear(&(*lookup)->directories);
	instance_map_clear(&(*lookup)->configs);
	free((*lookup)->instances);
	free((*lookup)->config_directories);
	free((*lookup)->postqueue);
	free(*lookup);
	*lookup = NULL;
}

static bool
by_helper(const struct queue_lookup *lookup, size_t number)
{
	return lookup->helper.fd >= 0 && number < lookup->directories.count;
}

/* Returns the instance's number, or `count` when nobody can be asked. */
static size_t
find(const struct queue_lookup *lookup, const char *instance)
{
	for (size_t i = 0; i < lookup->count; i++)
		if (strcmp(lookup->instances[i], instance) == 0)
			return by_helper(lookup, i) ||
				       lookup->config_directories[i] != NULL
				   ? i
				   : lookup->count;
	return lookup->count;
}

bool
queue_lookup_knows(const struct queue_lookup *lookup, const char *instance)
{
	return find(lookup, instance) < lookup->count;
}

static int
helper_died(int result)
{
	if (result < 0)
		log_error("reason=\"the queue helper has died; a restart "
			  "brings it back\"");
	return result;
}

int
queue_lookup_ask(struct queue_lookup *lookup, const struct queue_ticket *ticket,
    const char *instance, const char *queue_id)
{
	size_t number = find(lookup, instance);
	int result = -1;

	if (by_helper(lookup, number))
		result = helper_died(queue_helper_ask(
		    &lookup->helper, ticket, number, queue_id));
	if (result >= 0)
		return result;
	number = find(lookup, instance);
	return number < lookup->count
		   ? queue_list_ask(lookup->list, ticket, number, queue_id)
		   : 0;
}

int
queue_lookup_answer(struct queue_lookup *lookup, int64_t now_ns,
    struct queue_ticket *ticket_r, struct queue_finding *finding_r)
{
	if (lookup->helper.fd >= 0 &&
	    helper_died(
		queue_helper_answer(&lookup->helper, ticket_r, finding_r)) == 1)
		return 1;
	queue_list_work(lookup->list, now_ns);
	return queue_list_answer(lookup->list, ticket_r, finding_r);
}

unsigned
queue_lookup_absences(const struct queue_lookup *lookup, const char *instance)
{
	return by_helper(lookup, find(lookup, instance)) ? HELPER_ABSENCES
							 : LIST_ABSENCES;
}

void
queue_lookup_fds(const struct queue_lookup *lookup, int fds_r[QUEUE_LOOKUP_FDS])
{
	fds_r[0] = lookup->helper.fd;
	fds_r[1] = queue_list_fd(lookup->list);
}

int64_t
queue_lookup_deadline(const struct queue_lookup *lookup)
{
	return queue_list_deadline(lookup->list);
}

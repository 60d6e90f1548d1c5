/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postlag-exporter: reads the journals, joins them into the store, and serves
 * what it knows over HTTP. Wiring only: settings, order of start and stop. The
 * main thread waits for signals; ingest has a thread, HTTP has a few.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/daemon.h"
#include "base/endpoint.h"
#include "exporter/ingest.h"
#include "exporter/logs.h"
#include "exporter/metrics/metrics.h"
#include "exporter/privacy/privacy.h"
#include "exporter/queue/queue_lookup.h"
#include "exporter/serve/api.h"
#include "exporter/serve/http.h"
#include "exporter/serve/published.h"
#include "exporter/serve/routes.h"
#include "exporter/settings.h"
#include "store/pseudonym.h"
#include "store/settings.h"
#include "store/store.h"
#include "store/totals.h"

#define FIRST_INHERITED_FD 3

static struct exporter_settings settings;
static struct store_settings store_settings;
static struct config_section sections[2];

static int listen_fd = -1;
static struct queue_lookup *lookup;
static struct totals *totals;
static struct store *store;
static struct pseudonym_key *key;
static struct privacy privacy;
static struct published *published;
static struct ingest *ingest;
static struct routes_context context;
static struct http_server *http;

static int
check(struct reason *reason)
{
	const struct queue_lookup_settings queue =
	    exporter_settings_lookup(&settings);
	const struct logs_settings logs = exporter_settings_logs(&settings);
	struct endpoint endpoint;

	if (exporter_settings_endpoint(&settings, &endpoint, reason) != 0 ||
	    queue_lookup_check(&queue, reason) != 0 ||
	    store_settings_check(&store_settings, reason) != 0)
		return -1;
	return logs_check(&logs, reason);
}

static int
open_listener(struct reason *reason)
{
	struct endpoint endpoint;

	if (daemon_inherited_sockets() > 0) {
		listen_fd = FIRST_INHERITED_FD;
		return 0;
	}
	if (exporter_settings_endpoint(&settings, &endpoint, reason) != 0)
		return -1;
	listen_fd = endpoint_listen(&endpoint, 0660, reason);
	return listen_fd >= 0 ? 0 : -1;
}

/* What needs the rights that we are started with. */
static int
open_all(struct reason *reason)
{
	const struct queue_lookup_settings queue =
	    exporter_settings_lookup(&settings);

	if (queue_lookup_open(&queue, &lookup, reason) != 0)
		return -1;
	return open_listener(reason);
}

/* The store's directory is there. */
static int
start_privacy(struct reason *reason)
{
	if (pseudonym_key_open(store_settings.directory, true, &key, reason) !=
	    1)
		return -1;
	privacy.mode = (enum privacy_mode)store_settings.privacy;
	privacy.key = key;
	return 0;
}

/* Readers that nobody uses at the moment would keep the disk full. */
static void
close_gone(bool waits)
{
	api_close_gone(context.api, waits);
}

static int
start_ingest(struct reason *reason)
{
	const struct ingest_settings ingest_settings = {
	    .journal = settings.journal,
	    .logs = exporter_settings_logs(&settings),
	    .commit_interval_ns = settings.commit_interval_ns,
	    .commit_events = settings.commit_events,
	    .stamp_wait_ns = settings.stamp_wait_ns,
	    .loss = settings.loss,
	    .privacy = &privacy,
	    .lookup = lookup,
	    .close_gone = close_gone,
	};

	totals = totals_new(metrics_names());
	store = store_open(&store_settings, totals, reason);
	if (store == NULL || start_privacy(reason) != 0)
		return -1;
	published = published_new(totals);
	ingest = ingest_start(&ingest_settings, store, published, reason);
	return ingest != NULL ? 0 : -1;
}

static int
start(struct reason *reason)
{
	const struct http_settings http_settings = {
	    .listen_fd = listen_fd,
	    .idle_seconds =
		(unsigned)(settings.http_timeout_ns / CLOCK_NS_PER_SECOND),
	    .routes = routes,
	    .route_count = route_count,
	    .context = &context,
	};

	context.api = api_new(store_settings.directory);
	if (start_ingest(reason) != 0)
		return -1;
	context.published = published;
	http = http_start(&http_settings, reason);
	return http != NULL ? 0 : -1;
}

static int
run(void)
{
	while (daemon_wait() != DAEMON_STOP)
		daemon_reload();
	return 0;
}

/* In the reverse order of start(). */
static void
stop(void)
{
	http_stop(&http);
	ingest_stop(&ingest);
	api_free(&context.api);
	published_free(&published);
	store_close(&store);
	pseudonym_key_free(&key);
	totals_free(&totals);
	queue_lookup_close(&lookup);
	close(listen_fd);
}

static const struct daemon_program program = {
    .name = "postlag-exporter",
    .summary = "joins the journals and serves metrics and messages over HTTP\n"
	       "(postlag-exporter -m prints the reference of its metrics)",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .settings = &settings.daemon,
    .check = check,
    .open = open_all,
    .start = start,
    .run = run,
    .stop = stop,
};

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "-m") == 0) {
		metrics_print_reference(stdout);
		return 0;
	}
	sections[0] = (struct config_section){
	    "exporter", exporter_items, exporter_item_count, &settings};
	sections[1] = (struct config_section){"store", store_config_items,
	    store_config_item_count, &store_settings};
	return daemon_main(argc, argv, &program);
}

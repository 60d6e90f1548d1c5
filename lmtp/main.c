/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postlag-lmtp: stands between Postfix's lmtp client and the LMTP server and
 * records every transaction. Wiring only: settings, order of start and stop.
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "base/config.h"
#include "base/daemon.h"
#include "base/endpoint.h"
#include "base/log.h"
#include "base/reason.h"
#include "lmtp/server.h"
#include "lmtp/settings.h"
#include "proto/event.h"
#include "proto/journal_writer.h"

#define LISTENERS_MAX 16
#define INHERITED_FIRST_FD 3

static struct lmtp_settings settings;
static struct config_section section;
static struct server_settings server_settings;
static char backend_text[sizeof(struct sockaddr_storage) + 8];

static int listening[LISTENERS_MAX];
static size_t listening_count;
static struct journal_writer *journal;
static struct server *server;

static int
check(struct reason *reason)
{
	return lmtp_settings_check(&settings, reason);
}

/* A listening socket that a supervisor made may block. */
static int
inherit(int count, struct reason *reason)
{
	if (count > LISTENERS_MAX)
		return reason_set(reason, "%d sockets handed over, at most %d",
		    count, LISTENERS_MAX);
	for (int i = 0; i < count; i++) {
		int fd = INHERITED_FIRST_FD + i;

		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		listening[listening_count++] = fd;
	}
	return 0;
}

/* Two descriptors a connection, and those that a process has anyway. */
static void
raise_descriptor_limit(void)
{
	rlim_t wanted = (rlim_t)settings.max_connections * 2 + 64;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted;
	if (limit.rlim_max < wanted)
		limit.rlim_max = wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
		log_warn("max_connections=%lld reason=too few descriptors",
		    (long long)settings.max_connections);
}

static int
open_sockets(struct reason *reason)
{
	struct endpoint endpoint;
	int inherited = daemon_inherited_sockets();
	int fd;

	raise_descriptor_limit();
	if (inherited > 0)
		return inherit(inherited, reason);
	if (endpoint_parse(settings.listen, &endpoint, reason) == -1)
		return -1;
	fd = endpoint_listen(&endpoint, lmtp_socket_mode(&settings), reason);
	if (fd == -1)
		return -1;
	listening[listening_count++] = fd;
	return 0;
}

static void
log_delivery(const struct delivery_event *delivery)
{
	char id[UUID_TEXT_SIZE];

	uuid_format(&delivery->id, id);
	log_debug("id=%s part=%u queue_id=%s session=%llu recipients=%zu "
		  "ending=%s",
	    id, delivery->part,
	    delivery->queue_id != NULL ? delivery->queue_id : "",
	    (unsigned long long)delivery->session, delivery->recipient_count,
	    delivery_ending_name(delivery->ending));
}

static void
record(void *context, const struct delivery_event *delivery)
{
	const struct event event = {
	    .type = EVENT_DELIVERY,
	    .delivery = *delivery,
	};

	journal_writer_append(journal, &event, JOURNAL_SHARE_ALL);
	if (settings.daemon.log_level >= LOG_LEVEL_DEBUG)
		log_delivery(delivery);
}

static int
configure(struct reason *reason)
{
	struct connection_settings *connection = &server_settings.connection;
	int64_t *timeout_ns = connection->timeout_ns;

	if (endpoint_parse(settings.backend, &connection->backend, reason) ==
	    -1)
		return -1;
	endpoint_format(
	    &connection->backend, backend_text, sizeof(backend_text));
	connection->dialogue = (struct dialogue_settings){
	    .names = {.host = lmtp_host_name(&settings),
		.stamp = settings.header},
	    .backend = backend_text,
	    .record = record,
	};
	timeout_ns[DIALOGUE_WAITS_FOR_CLIENT] = settings.client_timeout_ns;
	timeout_ns[DIALOGUE_WAITS_FOR_GREETING] =
	    settings.backend_connect_timeout_ns;
	timeout_ns[DIALOGUE_WAITS_FOR_REPLY] =
	    settings.backend_reply_timeout_ns;
	timeout_ns[DIALOGUE_WAITS_FOR_FINAL_REPLY] =
	    settings.backend_final_timeout_ns;
	server_settings.max_connections = (uint64_t)settings.max_connections;
	server_settings.drain_timeout_ns = settings.drain_timeout_ns;
	return 0;
}

static int
start(struct reason *reason)
{
	const struct journal_writer_settings writer =
	    journal_settings_for_writer(
		&settings.journal, "postlag-lmtp " POSTLAG_VERSION);

	if (configure(reason) == -1)
		return -1;
	journal = journal_writer_open(&writer, reason);
	if (journal == NULL)
		return -1;
	server =
	    server_new(&server_settings, listening, listening_count, reason);
	return server == NULL ? -1 : 0;
}

static int
run(void)
{
	return server_run(server) == -1;
}

static void
stop(void)
{
	server_free(&server);
	journal_writer_close(&journal);
}

static const struct daemon_program program = {
    .name = "postlag-lmtp",
    .summary = "passes LMTP on to the real server and records its times",
    .sections = &section,
    .section_count = 1,
    .settings = &settings.daemon,
    .check = check,
    .open = open_sockets,
    .start = start,
    .run = run,
    .stop = stop,
};

int
main(int argc, char **argv)
{
	section = lmtp_section(&settings);
	return daemon_main(argc, argv, &program);
}

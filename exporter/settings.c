/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exporter's options and what must hold between them. Called at start and
 * by -t, on the main thread.
 */
#include "exporter/settings.h"

#include <stddef.h>

#include "base/endpoint.h"
#include "base/reason.h"

#define SECOND INT64_C(1000000000)

#define MEMBER(member) offsetof(struct exporter_settings, member)

const struct config_item exporter_items[] = {
    DAEMON_CONFIG_ITEMS(struct exporter_settings, daemon, "postlag-exporter"),
    {"journal", CONFIG_STRING, MEMBER(journal), "/var/lib/postlag/journal", 0,
	0, NULL, "Directory of all journals; each directory in it is one."},
    {"maillog", CONFIG_STRING, MEMBER(maillog), "", 0, 0, NULL,
	"Files with Postfix's log, separated by commas, as maillog_file or "
	"syslog writes them; journal is the systemd journal, "
	"journal:/directory one elsewhere; empty: none is read."},
    {"maillog_instances", CONFIG_STRING, MEMBER(maillog_instances), "", 0, 0,
	NULL,
	"Which instance's lines begin with a syslog_name, as in "
	"postfix=mx.example.org, postfix-out=out.example.org; by default "
	"postfix is the host name, any other its own."},
    {"rate_limit_root", CONFIG_STRING, MEMBER(rate_limit_root), "/", 0, 0, NULL,
	"Directory in which etc/systemd/journald.conf and etc/rsyslog.conf are "
	"looked at for rate limits that would drop lines of these logs; empty: "
	"they are not."},
    {"dovecot_log", CONFIG_STRING, MEMBER(dovecot_log), "", 0, 0, NULL,
	"Files with Dovecot's log, separated by commas, where it has its own "
	"(log_path); what it logs with syslog is read from maillog. Empty: "
	"none."},
    {"listen", CONFIG_STRING, MEMBER(listen), "inet:127.0.0.1:9154", 0, 0, NULL,
	"Where to serve HTTP: inet:host:port or unix:/path."},
    {"insecure_listen", CONFIG_BOOLEAN, MEMBER(insecure_listen), "no", 0, 0,
	NULL,
	"Serve other machines too, although everybody who can connect can "
	"look up every message."},
    {"http_timeout", CONFIG_DURATION, MEMBER(http_timeout_ns), "10s", SECOND,
	3600 * SECOND, NULL,
	"How long an HTTP connection may be idle; whole seconds."},
    {"commit_interval", CONFIG_DURATION, MEMBER(commit_interval_ns), "200ms",
	SECOND / 1000, 60 * SECOND, NULL,
	"Time after which what was read becomes visible and durable."},
    {"commit_events", CONFIG_INTEGER, MEMBER(commit_events), "10000", 1, 100000,
	NULL,
	"The same by number of events, when there are many. While commits "
	"take long, fewer are enough."},
    {"stamp_wait", CONFIG_DURATION, MEMBER(stamp_wait_ns), "60s", 0,
	86400 * SECOND, NULL,
	"How long a delivery waits for the message that its stamp names "
	"before the stamp counts as foreign."},
    {"queue_directories", CONFIG_STRING, MEMBER(queue_directories), "", 0, 0,
	NULL,
	"Postfix's queue_directory, to look for messages that nothing is "
	"heard of; of several instances INSTANCE=DIRECTORY, .... A helper "
	"process does this, which the exporter can start when it is started "
	"by root or, as the packaged unit does, with CAP_SETUID and "
	"CAP_SETGID. Empty: none."},
    {"queue_user", CONFIG_STRING, MEMBER(queue_user), "postfix", 0, 0, NULL,
	"Postfix's mail_owner, which that helper becomes."},
    {"hash_queue_names", CONFIG_STRING, MEMBER(hash_queue_names),
	"deferred, defer", 0, 0, NULL, "As in Postfix's main.cf."},
    {"hash_queue_depth", CONFIG_INTEGER, MEMBER(hash_queue_depth), "1", 0, 8,
	NULL, "As in Postfix's main.cf."},
    {"config_directories", CONFIG_STRING, MEMBER(config_directories), "", 0, 0,
	NULL,
	"Postfix's config_directory, of several instances INSTANCE=DIRECTORY, "
	"...: where the queue cannot be looked at, postqueue is asked, which "
	"reads all of it each time. Empty: it is not."},
    {"postqueue", CONFIG_STRING, MEMBER(postqueue), "/usr/sbin/postqueue", 0, 0,
	NULL, "Path of postqueue(1)."},
    {"postqueue_interval", CONFIG_DURATION, MEMBER(postqueue_interval_ns),
	"60s", SECOND / 10, 86400 * SECOND, NULL,
	"Time between runs of postqueue, at least; also 20 times as long as "
	"a run takes."},
    {"loss_after", CONFIG_DURATION, MEMBER(loss.after_ns), "10m", SECOND,
	86400 * SECOND, NULL,
	"Age from which a message of which nothing is heard is looked for in "
	"the queue, and may be lost."},
    {"loss_confirm", CONFIG_DURATION, MEMBER(loss.confirm_ns), "2m", SECOND,
	86400 * SECOND, NULL,
	"How long a message must be absent from the queue to be lost."},
    {"ghost_after", CONFIG_DURATION, MEMBER(loss.ghost_after_ns), "60s", SECOND,
	86400 * SECOND, NULL,
	"The same as loss_after for messages that Postfix has not shown to "
	"have queued; more than twice the content_timeout of milters."},
    {"looks_per_second", CONFIG_INTEGER, MEMBER(loss.looks_per_second), "500",
	1, 100000, NULL,
	"Messages that are looked for in the queue a second, at most."},
};

const size_t exporter_item_count =
    sizeof(exporter_items) / sizeof(exporter_items[0]);

int
exporter_settings_endpoint(const struct exporter_settings *settings,
    struct endpoint *endpoint_r, struct reason *reason)
{
	if (endpoint_parse(settings->listen, endpoint_r, reason) != 0)
		return -1;
	if (endpoint_is_local(endpoint_r) || settings->insecure_listen)
		return 0;
	return reason_set(reason,
	    "listen: \"%s\" can be reached from other machines, which could "
	    "look up every message; insecure_listen = yes allows it",
	    settings->listen);
}

struct logs_settings
exporter_settings_logs(const struct exporter_settings *settings)
{
	return (struct logs_settings){
	    .paths = settings->maillog,
	    .instances = settings->maillog_instances,
	    .limit_root = settings->rate_limit_root,
	    .dovecot_paths = settings->dovecot_log,
	};
}

struct queue_lookup_settings
exporter_settings_lookup(const struct exporter_settings *settings)
{
	return (struct queue_lookup_settings){
	    .directories = settings->queue_directories,
	    .config_directories = settings->config_directories,
	    .hash_names = settings->hash_queue_names,
	    .hash_depth = settings->hash_queue_depth,
	    .user = settings->queue_user,
	    .postqueue = settings->postqueue,
	    .postqueue_pause_ns = settings->postqueue_interval_ns,
	};
}

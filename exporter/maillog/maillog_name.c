/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of what a record can say. Pure. */
#include <string.h>

#include "exporter/maillog/maillog_field.h"
#include "exporter/maillog/maillog_kind.h"
#include "exporter/maillog/maillog_shape.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kinds[] = {
    [MAILLOG_OTHER] = "other",
    [MAILLOG_CLIENT] = "client",
    [MAILLOG_PICKUP] = "pickup",
    [MAILLOG_MESSAGE_ID] = "message_id",
    [MAILLOG_RESENT_MESSAGE_ID] = "resent_message_id",
    [MAILLOG_ACTIVE] = "active",
    [MAILLOG_DELIVERY] = "delivery",
    [MAILLOG_EXPIRED] = "expired",
    [MAILLOG_REMOVED] = "removed",
    [MAILLOG_SKIPPED] = "skipped",
    [MAILLOG_CORRUPT] = "corrupt",
    [MAILLOG_MISSING] = "missing",
    [MAILLOG_REFUSED] = "refused",
    [MAILLOG_PASSING] = "passing",
    [MAILLOG_TROUBLE] = "trouble",
    [MAILLOG_NOTIFICATION] = "notification",
    [MAILLOG_NO_NOTIFICATION] = "no_notification",
    [MAILLOG_REQUEUED] = "requeued",
    [MAILLOG_HELD] = "held",
    [MAILLOG_RELEASED] = "released",
    [MAILLOG_FORCED_TO_EXPIRE] = "forced_to_expire",
    [MAILLOG_SUMMARY] = "summary",
    [MAILLOG_RESTRICTION] = "restriction",
    [MAILLOG_CONTENT] = "content",
    [MAILLOG_MILTER] = "milter",
    [MAILLOG_MILTER_CONTENT] = "milter_content",
    [MAILLOG_PROXY] = "proxy",
    [MAILLOG_CONNECT] = "connect",
    [MAILLOG_DISCONNECT] = "disconnect",
    [MAILLOG_BROKEN] = "broken",
    [MAILLOG_STARTED] = "started",
    [MAILLOG_STOPPED] = "stopped",
    [MAILLOG_RELOADED] = "reloaded",
    [MAILLOG_PROCESS_FAILED] = "process_failed",
    [MAILLOG_MILTER_FAILED] = "milter_failed",
    [MAILLOG_WARNING] = "warning",
    [MAILLOG_REPEATED] = "repeated",
    [MAILLOG_LOST] = "lost",
    [MAILLOG_LOGGER] = "logger",
    [MAILLOG_STORED] = "stored",
    [MAILLOG_NOT_STORED] = "not_stored",
    [MAILLOG_SIEVE_DISCARDED] = "sieve_discarded",
    [MAILLOG_SIEVE_FORWARDED] = "sieve_forwarded",
    [MAILLOG_SIEVE_NOT_FORWARDED] = "sieve_not_forwarded",
    [MAILLOG_SIEVE_REJECTED] = "sieve_rejected",
    [MAILLOG_SIEVE_ANSWERED] = "sieve_answered",
    [MAILLOG_SIEVE_NOT_ANSWERED] = "sieve_not_answered",
    [MAILLOG_SIEVE_OTHER] = "sieve_other",
};

static const char *const programs[] = {
    [MAILLOG_PROGRAM_UNKNOWN] = "unknown",
    [MAILLOG_PROGRAM_ANVIL] = "anvil",
    [MAILLOG_PROGRAM_BOUNCE] = "bounce",
    [MAILLOG_PROGRAM_CLEANUP] = "cleanup",
    [MAILLOG_PROGRAM_DISCARD] = "discard",
    [MAILLOG_PROGRAM_DOVECOT] = "dovecot",
    [MAILLOG_PROGRAM_ERROR] = "error",
    [MAILLOG_PROGRAM_JOURNALD] = "systemd-journald",
    [MAILLOG_PROGRAM_LMTP] = "lmtp",
    [MAILLOG_PROGRAM_LOCAL] = "local",
    [MAILLOG_PROGRAM_MASTER] = "master",
    [MAILLOG_PROGRAM_PICKUP] = "pickup",
    [MAILLOG_PROGRAM_PIPE] = "pipe",
    [MAILLOG_PROGRAM_POSTFIX_SCRIPT] = "postfix-script",
    [MAILLOG_PROGRAM_POSTSCREEN] = "postscreen",
    [MAILLOG_PROGRAM_POSTSUPER] = "postsuper",
    [MAILLOG_PROGRAM_QMGR] = "qmgr",
    [MAILLOG_PROGRAM_QMQPD] = "qmqpd",
    [MAILLOG_PROGRAM_RSYSLOGD] = "rsyslogd",
    [MAILLOG_PROGRAM_SMTP] = "smtp",
    [MAILLOG_PROGRAM_SMTPD] = "smtpd",
    [MAILLOG_PROGRAM_VIRTUAL] = "virtual",
    [MAILLOG_PROGRAM_POSTFIX] = "postfix",
};

static const char *const severities[] = {
    [MAILLOG_INFO] = "info",
    [MAILLOG_SEVERITY_WARNING] = "warning",
    [MAILLOG_SEVERITY_ERROR] = "error",
    [MAILLOG_SEVERITY_FATAL] = "fatal",
    [MAILLOG_SEVERITY_PANIC] = "panic",
};

static const char *const actions[] = {
    [MAILLOG_NO_ACTION] = "none",
    [MAILLOG_ACCEPT] = "accept",
    [MAILLOG_BCC] = "bcc",
    [MAILLOG_DELAY] = "delay",
    [MAILLOG_DELETE] = "delete",
    [MAILLOG_DISCARD] = "discard",
    [MAILLOG_EXPIRE] = "expire",
    [MAILLOG_FILTER] = "filter",
    [MAILLOG_HANGUP] = "hangup",
    [MAILLOG_HOLD] = "hold",
    [MAILLOG_INFORM] = "info",
    [MAILLOG_PASS] = "pass",
    [MAILLOG_PERMIT] = "permit",
    [MAILLOG_PREPEND] = "prepend",
    [MAILLOG_REDIRECT] = "redirect",
    [MAILLOG_REJECT] = "reject",
    [MAILLOG_RELEASE] = "release",
    [MAILLOG_RENAME] = "rename",
    [MAILLOG_REPLACE] = "replace",
    [MAILLOG_REQUEUE] = "requeue",
    [MAILLOG_STRIP] = "strip",
    [MAILLOG_WARN] = "warn",
};

static const char *const statuses[] = {
    [MAILLOG_NO_STATUS] = "none",
    [MAILLOG_SENT] = "sent",
    [MAILLOG_DEFERRED] = "deferred",
    [MAILLOG_BOUNCED] = "bounced",
    [MAILLOG_SOFT_BOUNCED] = "SOFTBOUNCE",
    [MAILLOG_DELIVERABLE] = "deliverable",
    [MAILLOG_UNDELIVERABLE] = "undeliverable",
    [MAILLOG_UNDELIVERABLE_NOT_CACHED] = "undeliverable-but-not-cached",
    [MAILLOG_STATUS_EXPIRED] = "expired",
    [MAILLOG_STATUS_FORCE_EXPIRED] = "force-expired",
    [MAILLOG_STATUS_UNKNOWN] = "unknown",
};

static const char *const fields[] = {
    [MAILLOG_TO] = "to",
    [MAILLOG_ORIG_TO] = "orig_to",
    [MAILLOG_FROM] = "from",
    [MAILLOG_RELAY] = "relay",
    [MAILLOG_CONN_USE] = "conn_use",
    [MAILLOG_DELAY_SECONDS] = "delay",
    [MAILLOG_DELAYS] = "delays",
    [MAILLOG_DSN] = "dsn",
    [MAILLOG_STATUS] = "status",
    [MAILLOG_TEXT] = "text",
    [MAILLOG_SIZE] = "size",
    [MAILLOG_NRCPT] = "nrcpt",
    [MAILLOG_UID] = "uid",
    [MAILLOG_ORIG_ID] = "orig_id",
    [MAILLOG_MESSAGE_ID_TEXT] = "message_id",
    [MAILLOG_CLIENT_PEER] = "client",
    [MAILLOG_SASL_METHOD] = "sasl_method",
    [MAILLOG_SASL_USERNAME] = "sasl_username",
    [MAILLOG_SASL_SENDER] = "sasl_sender",
    [MAILLOG_ORIG_QUEUE_ID] = "orig_queue_id",
    [MAILLOG_ORIG_CLIENT] = "orig_client",
    [MAILLOG_WHERE] = "where",
    [MAILLOG_CODE] = "code",
    [MAILLOG_PROTO] = "proto",
    [MAILLOG_HELO] = "helo",
    [MAILLOG_PART] = "part",
    [MAILLOG_COMMANDS] = "commands",
    [MAILLOG_NEW_QUEUE_ID] = "new_queue_id",
    [MAILLOG_REPORT] = "report",
    [MAILLOG_WHOM] = "whom",
    [MAILLOG_TRANSPORT] = "transport",
    [MAILLOG_COUNT] = "count",
    [MAILLOG_SESSION] = "session",
    [MAILLOG_USER] = "user",
    [MAILLOG_MAILBOX] = "mailbox",
};

static const char *
name_of(const char *const *names, size_t count, unsigned value)
{
	return value < count ? names[value] : "unknown";
}

const char *
maillog_kind_name(enum maillog_kind kind)
{
	return name_of(kinds, COUNT(kinds), kind);
}

const char *
maillog_program_name(enum maillog_program program)
{
	return name_of(programs, COUNT(programs), program);
}

const char *
maillog_severity_name(enum maillog_severity severity)
{
	return name_of(severities, COUNT(severities), severity);
}

const char *
maillog_action_name(enum maillog_action action)
{
	return name_of(actions, COUNT(actions), action);
}

const char *
maillog_status_name(enum maillog_status status)
{
	return name_of(statuses, COUNT(statuses), status);
}

const char *
maillog_field_name(enum maillog_field field)
{
	return name_of(fields, COUNT(fields), field);
}

static bool
is_word(struct maillog_view view, const char *word)
{
	return view.size == strlen(word) &&
	       memcmp(view.at, word, view.size) == 0;
}

enum maillog_action
maillog_action_find(struct maillog_view word)
{
	static const struct {
		const char *word;
		enum maillog_action action;
	} others[] = {
	    {"warning", MAILLOG_WARN}, {"reject_warning", MAILLOG_WARN}};

	if (word.size == 0)
		return MAILLOG_NO_ACTION;
	for (unsigned i = MAILLOG_NO_ACTION + 1; i < MAILLOG_ACTIONS; i++)
		if (is_word(word, actions[i]))
			return (enum maillog_action)i;
	for (size_t i = 0; i < COUNT(others); i++)
		if (is_word(word, others[i].word))
			return others[i].action;
	return MAILLOG_NO_ACTION;
}

enum maillog_status
maillog_status_find(struct maillog_view word)
{
	if (word.size == 0)
		return MAILLOG_NO_STATUS;
	for (unsigned i = MAILLOG_SENT; i < MAILLOG_STATUS_UNKNOWN; i++)
		if (is_word(word, statuses[i]))
			return (enum maillog_status)i;
	return MAILLOG_STATUS_UNKNOWN;
}

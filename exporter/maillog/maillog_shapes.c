/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the lines of Postfix 3.5 and later look, program by program. An empty
 * prefix fits every text, so such a row stands last.
 */
#include "exporter/maillog/maillog_shape.h"

#define TEXT MAILLOG_LITERAL

static const struct maillog_shape nothing[] = {MAILLOG_SHAPES_END};

/* Delivery agents, and programs that we do not know. */
static const struct maillog_shape agent[] = {
    {TEXT("to=<"), MAILLOG_DELIVERY, maillog_read_delivery, 0},
    {TEXT("passing <"), MAILLOG_PASSING, maillog_read_passing, 0},
    MAILLOG_SHAPES_END};

/* What smtp(8) and lmtp(8) say besides is about a server that is not the last
 * one to be tried. */
static const struct maillog_shape client_agent[] = {
    {TEXT("to=<"), MAILLOG_DELIVERY, maillog_read_delivery, 0},
    {TEXT("passing <"), MAILLOG_PASSING, maillog_read_passing, 0},
    {TEXT(""), MAILLOG_TROUBLE, maillog_read_text, 0}, MAILLOG_SHAPES_END};

static const struct maillog_shape qmgr[] = {
    {TEXT("from=<"), MAILLOG_ACTIVE, maillog_read_sender, 0},
    {TEXT("removed"), MAILLOG_REMOVED, maillog_read_nothing, 0},
    {TEXT("to=<"), MAILLOG_DELIVERY, maillog_read_delivery, 0},
    {TEXT("skipped, still being delivered"), MAILLOG_SKIPPED,
	maillog_read_nothing, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape smtpd[] = {
    {TEXT("client="), MAILLOG_CLIENT, maillog_read_comma_pairs, 0},
    {TEXT("milter-"), MAILLOG_MILTER, maillog_read_milter, 0},
    {TEXT(""), MAILLOG_RESTRICTION, maillog_read_restriction, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape smtpd_session[] = {
    {TEXT("connect from "), MAILLOG_CONNECT, maillog_read_session, 0},
    {TEXT("disconnect from "), MAILLOG_DISCONNECT, maillog_read_session, 0},
    {TEXT("lost connection after "), MAILLOG_BROKEN, maillog_read_broken, 0},
    {TEXT("timeout after "), MAILLOG_BROKEN, maillog_read_broken, 0},
    {TEXT("too many errors after "), MAILLOG_BROKEN, maillog_read_broken, 0},
    {TEXT("proxy-accept: "), MAILLOG_PROXY, maillog_read_proxy, MAILLOG_ACCEPT},
    {TEXT("proxy-reject: "), MAILLOG_PROXY, maillog_read_proxy, MAILLOG_REJECT},
    {TEXT("milter-"), MAILLOG_MILTER, maillog_read_milter, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape postscreen[] = {
    {TEXT("reject: "), MAILLOG_RESTRICTION, maillog_read_restriction, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape pickup[] = {
    {TEXT("uid="), MAILLOG_PICKUP, maillog_read_blank_pairs, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape cleanup[] = {
    {TEXT("message-id="), MAILLOG_MESSAGE_ID, maillog_read_rest,
	MAILLOG_MESSAGE_ID_TEXT},
    {TEXT("resent-message-id="), MAILLOG_RESENT_MESSAGE_ID, maillog_read_rest,
	MAILLOG_MESSAGE_ID_TEXT},
    {TEXT("milter-"), MAILLOG_MILTER, maillog_read_milter, 0},
    {TEXT("to=<"), MAILLOG_DELIVERY, maillog_read_delivery, 0},
    {TEXT(""), MAILLOG_CONTENT, maillog_read_content, 0}, MAILLOG_SHAPES_END};

static const struct maillog_shape bounce[] = {
    {TEXT("sender "), MAILLOG_NOTIFICATION, maillog_read_notification, 0},
    {TEXT("postmaster "), MAILLOG_NOTIFICATION, maillog_read_notification, 0},
    {TEXT("not sending trace/success notification"), MAILLOG_NO_NOTIFICATION,
	maillog_read_text, 0},
    {TEXT("no trace file -- not sending a notification"),
	MAILLOG_NO_NOTIFICATION, maillog_read_nothing, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape postsuper[] = {
    {TEXT("removed"), MAILLOG_REMOVED, maillog_read_nothing, 0},
    {TEXT("requeued"), MAILLOG_REQUEUED, maillog_read_nothing, 0},
    {TEXT("placed on hold"), MAILLOG_HELD, maillog_read_nothing, 0},
    {TEXT("released from hold"), MAILLOG_RELEASED, maillog_read_nothing, 0},
    {TEXT("expired"), MAILLOG_FORCED_TO_EXPIRE, maillog_read_nothing, 0},
    MAILLOG_SHAPES_END};

static const struct maillog_shape postsuper_summary[] = {
    {TEXT("Deleted: "), MAILLOG_SUMMARY, maillog_read_summary, MAILLOG_DELETE},
    {TEXT("Requeued: "), MAILLOG_SUMMARY, maillog_read_summary,
	MAILLOG_REQUEUE},
    {TEXT("Placed on hold: "), MAILLOG_SUMMARY, maillog_read_summary,
	MAILLOG_HOLD},
    {TEXT("Released from hold: "), MAILLOG_SUMMARY, maillog_read_summary,
	MAILLOG_RELEASE},
    {TEXT("Force-expired: "), MAILLOG_SUMMARY, maillog_read_summary,
	MAILLOG_EXPIRE},
    {TEXT("Renamed to match inode number: "), MAILLOG_SUMMARY,
	maillog_read_summary, MAILLOG_RENAME},
    MAILLOG_SHAPES_END};

static const struct maillog_shape master[] = {
    {TEXT("daemon started"), MAILLOG_STARTED, maillog_read_text, 0},
    {TEXT("terminating on signal "), MAILLOG_STOPPED, maillog_read_text, 0},
    {TEXT("reload"), MAILLOG_RELOADED, maillog_read_text, 0},
    MAILLOG_SHAPES_END};

const struct maillog_shape maillog_warnings_with_id[] = {
    {TEXT("queue file size limit exceeded"), MAILLOG_REFUSED, maillog_read_text,
	0},
    {TEXT("message rejected: "), MAILLOG_REFUSED, maillog_read_text, 0},
    {TEXT("write queue file"), MAILLOG_REFUSED, maillog_read_text, 0},
    {TEXT("rename from "), MAILLOG_MISSING, maillog_read_text, 0},
    {TEXT(""), MAILLOG_REFUSED, maillog_read_not_accepted, 0},
    MAILLOG_SHAPES_END};

const struct maillog_shape maillog_warnings_without_id[] = {
    {TEXT("milter "), MAILLOG_MILTER_FAILED, maillog_read_text, 0},
    {TEXT("connect to Milter service "), MAILLOG_MILTER_FAILED,
	maillog_read_text, 0},
    {TEXT("process "), MAILLOG_PROCESS_FAILED, maillog_read_text, 0},
    {TEXT("saving corrupt file \""), MAILLOG_CORRUPT, maillog_read_quoted_id,
	0},
    {TEXT(""), MAILLOG_MISSING, maillog_read_lost_file, 0}, MAILLOG_SHAPES_END};

/* The most talkative first. */
static const struct maillog_speaker speakers[] = {
    {TEXT("qmgr"), MAILLOG_PROGRAM_QMGR, qmgr, nothing},
    {TEXT("smtpd"), MAILLOG_PROGRAM_SMTPD, smtpd, smtpd_session},
    {TEXT("cleanup"), MAILLOG_PROGRAM_CLEANUP, cleanup, nothing},
    {TEXT("lmtp"), MAILLOG_PROGRAM_LMTP, client_agent, nothing},
    {TEXT("smtp"), MAILLOG_PROGRAM_SMTP, client_agent, nothing},
    {TEXT("postscreen"), MAILLOG_PROGRAM_POSTSCREEN, postscreen, nothing},
    {TEXT("bounce"), MAILLOG_PROGRAM_BOUNCE, bounce, nothing},
    {TEXT("error"), MAILLOG_PROGRAM_ERROR, agent, nothing},
    {TEXT("pickup"), MAILLOG_PROGRAM_PICKUP, pickup, nothing},
    {TEXT("local"), MAILLOG_PROGRAM_LOCAL, agent, nothing},
    {TEXT("virtual"), MAILLOG_PROGRAM_VIRTUAL, agent, nothing},
    {TEXT("pipe"), MAILLOG_PROGRAM_PIPE, agent, nothing},
    {TEXT("discard"), MAILLOG_PROGRAM_DISCARD, agent, nothing},
    {TEXT("anvil"), MAILLOG_PROGRAM_ANVIL, nothing, nothing},
    {TEXT("postsuper"), MAILLOG_PROGRAM_POSTSUPER, postsuper,
	postsuper_summary},
    {TEXT("master"), MAILLOG_PROGRAM_MASTER, nothing, master},
    {TEXT("postfix-script"), MAILLOG_PROGRAM_POSTFIX_SCRIPT, nothing, nothing},
    {TEXT("qmqpd"), MAILLOG_PROGRAM_QMQPD, smtpd, nothing},
    {TEXT("oqmgr"), MAILLOG_PROGRAM_QMGR, qmgr, nothing},
};

static const struct maillog_speaker others[] = {
    {TEXT(""), MAILLOG_PROGRAM_POSTFIX, agent, nothing},
    {TEXT(""), MAILLOG_PROGRAM_UNKNOWN, nothing, nothing},
    {TEXT("dovecot"), MAILLOG_PROGRAM_DOVECOT, nothing, nothing},
    {TEXT("rsyslogd"), MAILLOG_PROGRAM_RSYSLOGD, nothing, nothing},
    {TEXT("systemd-journald"), MAILLOG_PROGRAM_JOURNALD, nothing, nothing},
};

/* Programs without a syslog name are none of Postfix's. */
static const struct maillog_speaker *
other_speaker(const struct maillog_line *line)
{
	for (size_t i = 2; i < sizeof(others) / sizeof(others[0]); i++)
		if (maillog_view_equal(others[i].name, line->tag))
			return &others[i];
	/* A file of Dovecot's own has the tag "lmtp(user)<1><session>". */
	if (line->tag.size > 0 &&
	    memchr(line->tag.at, '(', line->tag.size) != NULL)
		return &others[2];
	return &others[1];
}

const struct maillog_speaker *
maillog_speaker(const struct maillog_line *line)
{
	if (line->syslog_name.size == 0)
		return other_speaker(line);
	for (size_t i = 0; i < sizeof(speakers) / sizeof(speakers[0]); i++)
		if (maillog_view_equal(speakers[i].name, line->program))
			return &speakers[i];
	return &others[0];
}

bool
maillog_shapes_read(const struct maillog_shape *shapes,
    struct maillog_view text, struct maillog_record *record)
{
	for (; shapes->read != NULL; shapes++) {
		if (!maillog_view_begins(text, shapes->prefix))
			continue;
		record->kind = shapes->kind;
		if (shapes->read(shapes, text, record))
			return true;
	}
	record->kind = MAILLOG_OTHER;
	return false;
}

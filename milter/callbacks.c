/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates libmilter's callbacks into calls of session_ and recorder_, and
 * writes the stamp into the message. Callbacks of one session follow each other
 * on different threads of libmilter's pool; none is ever refused or waits.
 */
#include "milter/callbacks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libmilter/mfapi.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "milter/client.h"
#include "milter/envelope.h"
#include "milter/recorder.h"
#include "milter/trusted.h"
#include "proto/producer_counter.h"

#define ACTIONS (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST)

/* No SMFIP_NR_ for commands: Postfix would keep them back and every phase would
 * collapse to nothing. */
#define STEPS (SMFIP_NOBODY | SMFIP_NOUNKNOWN | SMFIP_RCPT_REJ)

/* The end of the header is asked for only because libmilter would not answer
 * the end of a message that has no header at all. Where the other side cannot
 * do without replies, libmilter gives them for us. */
#define UNREPLIED (SMFIP_NR_HDR | SMFIP_NR_EOH)

/* Postfix sends a header with its value as one packet. */
#define PACKET_BYTES_MAX (4u << 20)

/* Incoming stamps that are removed. Each takes Postfix a walk through the
 * header, so that a message made of stamps could hold it up. */
#define REMOVALS_MAX 1000

static struct session_settings session_settings;
static char header_name[64];
static struct trusted trusted;
static atomic_uint_least64_t sessions_begun;
static atomic_uint_least64_t sessions_open;
static atomic_bool failed;

/* The macros we ask for, with the stage that Postfix sends them at. A stage's
 * old ones stay until it sends new ones, hence "j", which it always has, at
 * MAIL FROM. Not const only because libmilter takes names as char *. */
static struct {
	int stage;
	enum session_fact fact; /* SESSION_FACTS: not a fact of the message */
	char name[16];
} macros[] = {
    {SMFIM_CONNECT, SESSION_DAEMON_NAME, "{daemon_name}"},
    {SMFIM_HELO, SESSION_TLS_VERSION, "{tls_version}"},
    {SMFIM_HELO, SESSION_TLS_CIPHER, "{cipher}"},
    {SMFIM_ENVFROM, SESSION_FACTS, "j"},
    {SMFIM_ENVFROM, SESSION_QUEUE_ID, "i"},
    {SMFIM_ENVFROM, SESSION_SASL_METHOD, "{auth_type}"},
    {SMFIM_ENVFROM, SESSION_SASL_USER, "{auth_authen}"},
    {SMFIM_ENVRCPT, SESSION_QUEUE_ID, "i"},
    {SMFIM_ENVRCPT, SESSION_FACTS, "{rcpt_mailer}"},
    {SMFIM_ENVRCPT, SESSION_FACTS, "{rcpt_host}"},
    {SMFIM_ENVRCPT, SESSION_FACTS, "{rcpt_addr}"},
    {SMFIM_DATA, SESSION_QUEUE_ID, "i"},
    {SMFIM_EOM, SESSION_QUEUE_ID, "i"},
};
#define MACROS (sizeof(macros) / sizeof(macros[0]))

static char macro_lists[SMFIM_EOM + 1][MACROS * sizeof(macros[0].name)];

static char rcpt_mailer[] = "{rcpt_mailer}";
static char rcpt_host[] = "{rcpt_host}";
static char rcpt_addr[] = "{rcpt_addr}";

/* Writes the names of each stage's macros into its list. */
static void
list_macros(void)
{
	for (size_t i = 0; i < MACROS; i++) {
		char *list = macro_lists[macros[i].stage];

		if (*list != '\0')
			strcat(list, " ");
		strcat(list, macros[i].name);
	}
}

static void
read_facts(SMFICTX *context, struct session *session, int first, int last)
{
	for (size_t i = 0; i < MACROS; i++)
		if (macros[i].stage >= first && macros[i].stage <= last &&
		    macros[i].fact != SESSION_FACTS)
			session_fact(session, macros[i].fact,
			    smfi_getsymval(context, macros[i].name));
}

static sfsistat
on_negotiate(SMFICTX *context, unsigned long actions, unsigned long steps,
    unsigned long unused_2, unsigned long unused_3, unsigned long *actions_r,
    unsigned long *steps_r, unsigned long *unused_2_r,
    unsigned long *unused_3_r)
{
	*actions_r = ACTIONS & actions;
	*steps_r = (STEPS & steps) | UNREPLIED;
	*unused_2_r = *unused_3_r = 0;
	if (actions & SMFIF_SETSYMLIST)
		for (int stage = SMFIM_CONNECT; stage <= SMFIM_EOM; stage++)
			smfi_setsymlist(context, stage, macro_lists[stage]);
	return SMFIS_CONTINUE;
}

static void
end_message(struct session *session, bool was_open)
{
	if (was_open)
		recorder_ended(
		    session_event(session), session_has_recipient(session));
}

static sfsistat
on_connect(SMFICTX *context, char *name, _SOCK_ADDR *address)
{
	struct stamp at = clock_stamp();
	struct client client;
	struct session *session;

	session = session_new(
	    &session_settings, atomic_fetch_add(&sessions_begun, 1) + 1);
	if (session == NULL || smfi_setpriv(context, session) != MI_SUCCESS) {
		session_free(&session);
		return SMFIS_CONTINUE;
	}
	atomic_fetch_add(&sessions_open, 1);
	producer_count(PRODUCER_SESSIONS, 1);
	client_describe(name, address, &client);
	session_connect(
	    session, &client, trusted_contains(&trusted, &client), at);
	return SMFIS_CONTINUE;
}

static sfsistat
on_helo(SMFICTX *context, char *name)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);

	if (session != NULL && name != NULL)
		session_helo(session, name, at);
	return SMFIS_CONTINUE;
}

static sfsistat
on_mail(SMFICTX *context, char **arguments)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);

	if (session == NULL)
		return SMFIS_CONTINUE;
	end_message(session, session_abort(session, at));
	session_mail(session, arguments, at);
	read_facts(context, session, SMFIM_CONNECT, SMFIM_ENVFROM);
	return SMFIS_CONTINUE;
}

static sfsistat
on_rcpt(SMFICTX *context, char **arguments)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);
	struct envelope_verdict verdict = {
	    .mailer = smfi_getsymval(context, rcpt_mailer),
	    .host = smfi_getsymval(context, rcpt_host),
	    .address = smfi_getsymval(context, rcpt_addr),
	};

	if (session == NULL)
		return SMFIS_CONTINUE;
	read_facts(context, session, SMFIM_ENVRCPT, SMFIM_ENVRCPT);
	if (envelope_is_rejected(arguments, &verdict))
		session_rcpt_rejected(
		    session, arguments, verdict.host, verdict.address, at);
	else
		session_rcpt(session, arguments, at);
	return SMFIS_CONTINUE;
}

static sfsistat
on_data(SMFICTX *context)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);

	if (session == NULL)
		return SMFIS_CONTINUE;
	read_facts(context, session, SMFIM_DATA, SMFIM_DATA);
	session_data(session, at);
	return SMFIS_CONTINUE;
}

static sfsistat
on_header(SMFICTX *context, char *name, char *value)
{
	struct session *session = smfi_getpriv(context);

	if (session != NULL && name != NULL && value != NULL)
		session_header(session, name, value, clock_stamp());
	return SMFIS_NOREPLY;
}

static sfsistat
on_eoh(SMFICTX *context)
{
	return SMFIS_NOREPLY;
}

/* From the last to the first: Postfix renumbers after each removal. */
static void
remove_stamps(SMFICTX *context, uint32_t count)
{
	if (count > REMOVALS_MAX) {
		log_warn("incoming_stamps=%u removed=%d", count, REMOVALS_MAX);
		count = REMOVALS_MAX;
	}
	for (; count > 0; count--)
		smfi_chgheader(context, header_name, (int)count, NULL);
}

static void
insert_stamp(SMFICTX *context, const struct session *session)
{
	char value[STAMP_HEADER_VALUE_SIZE];

	session_stamp(session, value);
	if (smfi_insheader(context, 0, header_name, value) != MI_SUCCESS)
		producer_count(PRODUCER_UNSTAMPED_REFUSED, 1);
}

/* The event first: a stamped message always has its event. */
static sfsistat
on_eom(SMFICTX *context)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);
	bool recorded;

	if (session == NULL) {
		producer_count(PRODUCER_EVENTS_DROPPED_MEMORY, 1);
		producer_count(PRODUCER_UNSTAMPED_DROPPED, 1);
		return SMFIS_CONTINUE;
	}
	read_facts(context, session, SMFIM_EOM, SMFIM_EOM);
	session_eom(session, at);
	recorded = recorder_accepted(session_event(session));
	remove_stamps(context, session_stamps_seen(session));
	if (recorded)
		insert_stamp(context, session);
	else
		producer_count(PRODUCER_UNSTAMPED_DROPPED, 1);
	return SMFIS_CONTINUE;
}

static sfsistat
on_abort(SMFICTX *context)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);

	if (session != NULL)
		end_message(session, session_abort(session, at));
	return SMFIS_CONTINUE;
}

/* May be a connection's only callback. */
static sfsistat
on_close(SMFICTX *context)
{
	struct stamp at = clock_stamp();
	struct session *session = smfi_getpriv(context);

	if (session == NULL)
		return SMFIS_CONTINUE;
	smfi_setpriv(context, NULL);
	end_message(session, session_close(session, at));
	if (session_event(session) == NULL)
		recorder_empty_session(session_said_helo(session));
	session_free(&session);
	atomic_fetch_sub(&sessions_open, 1);
	return SMFIS_CONTINUE;
}

int
callbacks_register(const struct session_settings *settings,
    const struct trusted *reinjectors, struct reason *reason)
{
	static char program[] = "postlag-milter";
	struct smfiDesc description = {
	    .xxfi_name = program,
	    .xxfi_version = SMFI_VERSION,
	    .xxfi_flags = ACTIONS,
	    .xxfi_connect = on_connect,
	    .xxfi_helo = on_helo,
	    .xxfi_envfrom = on_mail,
	    .xxfi_envrcpt = on_rcpt,
	    .xxfi_header = on_header,
	    .xxfi_eoh = on_eoh,
	    .xxfi_eom = on_eom,
	    .xxfi_abort = on_abort,
	    .xxfi_close = on_close,
	    .xxfi_data = on_data,
	    .xxfi_negotiate = on_negotiate,
	};

	session_settings = *settings;
	trusted = *reinjectors;
	snprintf(header_name, sizeof(header_name), "%s", settings->stamp_name);
	session_settings.stamp_name = header_name;
	list_macros();
	smfi_setmaxdatasize(PACKET_BYTES_MAX);
	if (smfi_register(description) != MI_SUCCESS)
		return reason_set(reason, "libmilter refuses to register");
	return 0;
}

int
callbacks_open_socket(const char *connection, struct reason *reason)
{
	char copy[256];

	if (snprintf(copy, sizeof(copy), "%s", connection) >=
		(int)sizeof(copy) ||
	    smfi_setconn(copy) != MI_SUCCESS ||
	    smfi_opensocket(true) != MI_SUCCESS)
		return reason_set_errno(
		    reason, "cannot listen on %s", connection);
	return 0;
}

/* libmilter's own signal thread waits in here and stops the filter at SIGHUP
 * and SIGTERM, slowly and without ending its sessions. Signals are the main
 * thread's business (base/daemon.h), which takes them with sigwaitinfo(2), so
 * this thread of libmilter's is left to sleep. */
int
sigwait(const sigset_t *set, int *signal_r)
{
	for (;;)
		pause();
}

static void *
serve(void *unused)
{
	smfi_main();
	log_error("reason=libmilter gave up");
	atomic_store(&failed, true);
	kill(getpid(), SIGTERM);
	return NULL;
}

int
callbacks_start(struct reason *reason)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, NULL) != 0)
		return reason_set(reason, "cannot create a thread");
	pthread_detach(thread);
	return 0;
}

bool
callbacks_failed(void)
{
	return atomic_load(&failed);
}

uint64_t
callbacks_open_sessions(void)
{
	return atomic_load(&sessions_open);
}

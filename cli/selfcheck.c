/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag selfcheck`: sends one message, waits for what milter, hook and
 * exporter tell of it, and names the one that does not. Called by main.c.
 */
#include "cli/selfcheck.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/endpoint.h"
#include "base/memory.h"
#include "base/reason.h"
#include "base/uuid.h"
#include "cli/exit_status.h"
#include "cli/exporter_ask.h"
#include "cli/smtp_probe.h"
#include "cli/store_command.h"
#include "store/query.h"
#include "store/record.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define SMTP_DEFAULT "inet:127.0.0.1:25"
#define WAIT_NS (30 * CLOCK_NS_PER_SECOND)
#define LOOK_NS (100 * 1000 * 1000)

enum {
	QUEUE_ID_SIZE = 64,
	MATCHES = 4, /* what milter and hook told may not have been joined */
	LINK_COLUMNS = 9
};

static const struct store_options_help help = {"the address of a mailbox",
    STORE_OPTION_SELFCHECK, false,
    "usage: postlag selfcheck [-c FILE] [--store DIR] [--smtp HOST:PORT]\n"
    "                         [--from ADDRESS] [--wait TIME] ADDRESS\n\n"
    "Sends one small message to ADDRESS, whose mailbox is behind the LMTP "
    "hook,\n"
    "and says what Postfix, the milter, the hook and the exporter made of "
    "it.\n\n" STORE_OPTIONS_TEXT "  --smtp HOST:PORT\n"
    "               Postfix's smtpd (default 127.0.0.1:25)\n"
    "  --from ADDRESS\n"
    "               the sender (default ADDRESS)\n"
    "  --wait TIME  how long to wait for the delivery (default 30s)\n\n"
    "Exit status: 0 all of them saw it, 1 one did not and is named, 2 wrong\n"
    "usage or unreadable store.\n"};

/* What the store says of the message. */
struct sight {
	bool is_known, by_milter, by_hook;
	bool is_joined; /* both of the same message */
	bool is_delivered;
};

static void
see(const struct message_record *record, struct sight *sight)
{
	bool by_milter = uuid_is_set(&record->event.id) &&
			 record->event.ending != MESSAGE_ENDING_LOGGED;

	sight->is_known = true;
	sight->by_milter |= by_milter;
	sight->by_hook |= record->leg_count > 0;
	sight->is_joined |= by_milter && record->leg_count > 0;
	for (size_t i = 0; i < record->recipient_count; i++)
		sight->is_delivered |=
		    record->recipients[i].state == RECIPIENT_DELIVERED;
}

static int
look(const char *directory, const char *message_id, struct sight *sight_r,
    struct reason *reason)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	struct store_reader *reader = store_reader_open(directory, reason);
	struct message_record *records;
	long count = -1;

	*sight_r = (struct sight){.is_known = false};
	if (reader != NULL)
		count = store_find(
		    reader, message_id, MATCHES, arena, &records, reason);
	for (long i = 0; i < count; i++)
		see(&records[i], sight_r);
	store_reader_free(&reader);
	arena_free(&arena);
	return count < 0 ? -1 : 0;
}

/* Until all is well or time is up. */
static int
wait_for_sight(const struct store_options *options, const char *directory,
    const char *message_id, struct sight *sight_r, struct reason *reason)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	int64_t end_ns = clock_stamp().monotonic_ns +
			 (options->wait_ns > 0 ? options->wait_ns : WAIT_NS);

	for (;;) {
		if (look(directory, message_id, sight_r, reason) != 0)
			return -1;
		if ((sight_r->is_joined && sight_r->is_delivered) ||
		    clock_stamp().monotonic_ns > end_ns)
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* Returns whether it works. */
static bool
tell(const char *link, const char *trouble, const char *fine)
{
	printf("%-*s %s: %s\n", LINK_COLUMNS, link,
	    trouble != NULL ? "BROKEN" : "ok",
	    trouble != NULL ? trouble : fine);
	return trouble == NULL;
}

static const char *
trouble_of_milter(const struct sight *sight)
{
	if (sight->by_milter)
		return NULL;
	return "it told nothing of the message; is postlag-milter running, and"
	       " in smtpd_milters?";
}

static const char *
trouble_of_hook(const struct sight *sight)
{
	if (sight->by_hook)
		return NULL;
	if (sight->is_delivered)
		return "Postfix delivered the message past it; is postlag-lmtp"
		       " running, and first in virtual_transport?";
	return "it told of no delivery; is postlag-lmtp running, does this mail"
	       " go to it, and does Postfix deliver it (postlag queue)?";
}

static const char *
trouble_of_join(const struct sight *sight)
{
	if (!sight->is_joined)
		return "milter and hook told of two messages; does the header"
		       " reach the hook, and have both the same instance?";
	return sight->is_delivered ? NULL
				   : "the hook saw the message, but no success;"
				     " see postlag show";
}

/* It need not be asked when it has stored the message. */
static bool
tell_of_exporter(const struct store_options *options, bool is_known)
{
	struct reason why;

	if (is_known)
		return tell("exporter", NULL, "it stored what it was told");
	return tell("exporter",
	    exporter_ask_ready(options, &why) == 0 ? NULL : why.text,
	    "it answers, and has read all there is");
}

static int
diagnose(const struct store_options *options, const struct sight *sight)
{
	bool is_well = tell_of_exporter(options, sight->is_known);

	if (!sight->is_known && !is_well) {
		puts("milter and hook: not known while the exporter does not"
		     " read");
		return EXIT_MISSING;
	}
	is_well &=
	    tell("milter", trouble_of_milter(sight), "it stamped the message");
	is_well &= tell("hook", trouble_of_hook(sight), "it saw the delivery");
	if (sight->by_milter && sight->by_hook)
		is_well &= tell("join", trouble_of_join(sight),
		    "both are one message, delivered");
	return is_well ? EXIT_OK : EXIT_MISSING;
}

/* Returns 1; 0 when Postfix did not take it, which was told; -1. */
static int
send_message(const struct store_options *options, const char *message_id,
    struct reason *reason)
{
	const char *where =
	    options->smtp != NULL ? options->smtp : SMTP_DEFAULT;
	const char *to = options->keys[0];
	const struct smtp_message message = {
	    .from = options->from != NULL ? options->from : to,
	    .to = to,
	    .message_id = message_id,
	};
	char queue_id[QUEUE_ID_SIZE];
	struct endpoint server;
	char *fine;

	if (endpoint_parse(where, &server, reason) != 0)
		return -1;
	if (smtp_probe_send(
		&server, &message, queue_id, sizeof(queue_id), reason) != 0)
		return tell("postfix", reason->text, "");
	fine = memory_format("%s took the message%s%s", where,
	    queue_id[0] != '\0' ? " as " : "", queue_id);
	tell("postfix", NULL, fine);
	free(fine);
	return 1;
}

static int
run(const struct store_options *options, const char *directory)
{
	const struct uuid id = uuid_new(clock_stamp().wall_ns);
	char id_text[UUID_TEXT_SIZE];
	struct sight sight;
	struct reason reason;
	char *message_id;
	int result;

	uuid_format(&id, id_text);
	message_id = memory_format("%s@selfcheck.invalid", id_text);
	result = send_message(options, message_id, &reason);
	fflush(stdout);
	if (result < 0)
		result = store_options_unusable(&reason);
	else if (result == 0)
		result = EXIT_MISSING;
	else if (wait_for_sight(
		     options, directory, message_id, &sight, &reason) != 0)
		result = store_options_unreadable(directory, &reason);
	else
		result = diagnose(options, &sight);
	free(message_id);
	return result;
}

static int
check(const struct store_options *options)
{
	const char *from = options->from;

	if (!smtp_probe_is_address(options->keys[0]) ||
	    (from != NULL && !smtp_probe_is_address(from)))
		return store_options_misused(
		    "selfcheck", "an address has the form local@domain");
	return 0;
}

int
selfcheck_command(int argc, char **argv)
{
	static const struct store_command command = {
	    .help = &help, .check = check, .run = run};

	return store_command(argc, argv, &command);
}

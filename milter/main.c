/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * postlag-milter: stamps each message and records when each command of its SMTP
 * session arrived. Wiring only: settings, order of start and stop, signals. The
 * main thread waits for signals, libmilter's threads do the work.
 */
#include <unistd.h>

#include "base/config.h"
#include "base/daemon.h"
#include "milter/callbacks.h"
#include "milter/listener.h"
#include "milter/recorder.h"
#include "milter/settings.h"
#include "milter/trusted.h"
#include "proto/producer_counter.h"

static struct milter_settings settings;
static struct config_section section;

static int
check(struct reason *reason)
{
	return milter_settings_check(&settings, reason);
}

static int
open_listener(struct reason *reason)
{
	const struct session_settings session = milter_session(&settings);
	struct trusted trusted;

	if (trusted_parse(settings.trusted_reinjectors, &trusted, reason) < 0 ||
	    callbacks_register(&session, &trusted, reason) < 0)
		return -1;
	return listener_open(&settings, reason);
}

static int
start(struct reason *reason)
{
	const struct journal_writer_settings journal =
	    journal_settings_for_writer(
		&settings.journal, "postlag-milter " POSTLAG_VERSION);

	if (recorder_open(&journal, settings.aborts_per_second,
		settings.aborts_burst, reason) < 0)
		return -1;
	return callbacks_start(reason);
}

static int
run(void)
{
	while (daemon_wait() != DAEMON_STOP)
		daemon_reload();
	return callbacks_failed();
}

/* libmilter can neither drain nor stop quickly: open sessions go on without
 * us, and its threads go on until the process has ended. */
static void
stop(void)
{
	producer_count(PRODUCER_UNSTAMPED_STOPPED, callbacks_open_sessions());
	recorder_abandon();
	_exit(callbacks_failed());
}

static const struct daemon_program program = {
    .name = "postlag-milter",
    .summary = "stamps mail on its way into Postfix and records its times",
    .sections = &section,
    .section_count = 1,
    .settings = &settings.daemon,
    .check = check,
    .open = open_listener,
    .start = start,
    .run = run,
    .stop = stop,
};

int
main(int argc, char **argv)
{
	section = milter_section(&settings);
	return daemon_main(argc, argv, &program);
}

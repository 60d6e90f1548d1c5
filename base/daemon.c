/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame around each program: command line, configuration, the order of
 * starting and stopping. main() of the three daemons is one call into here, on
 * the main thread.
 */
#include "base/daemon.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/daemon_process.h"
#include "base/log.h"
#include "base/reason.h"
#include "base/supervisor.h"
#include "base/user.h"

const char *const daemon_log_targets[] = {"auto", "stderr", "syslog", NULL};

const char *const daemon_log_levels[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
    NULL,
};

struct daemon_process daemon_process = {.config_path = CONFIG_DEFAULT_PATH};

enum action {
	ACTION_RUN,
	ACTION_CHECK,
	ACTION_PRINT,
	ACTION_REFERENCE,
	ACTION_VERSION,
	ACTION_HELP,
	ACTION_USAGE,
};

static enum action
parse_arguments(int argc, char **argv)
{
	enum action action = ACTION_RUN;
	int option;

	while ((option = getopt(argc, argv, "c:tpRVh")) != -1) {
		switch (option) {
		case 'c':
			daemon_process.config_path = optarg;
			break;
		case 't':
			action = ACTION_CHECK;
			break;
		case 'p':
			action = ACTION_PRINT;
			break;
		case 'R':
			action = ACTION_REFERENCE;
			break;
		case 'V':
			action = ACTION_VERSION;
			break;
		case 'h':
			action = ACTION_HELP;
			break;
		default:
			return ACTION_USAGE;
		}
	}
	return optind == argc ? action : ACTION_USAGE;
}

static void
print_usage(FILE *out, const struct daemon_program *program)
{
	fprintf(out,
	    "%s: %s\n"
	    "usage: %s [-c FILE] [-t | -p | -R | -V | -h]\n"
	    "  -c FILE  configuration file (" CONFIG_DEFAULT_PATH ")\n"
	    "  -t       check the configuration, exit 0 or 1\n"
	    "  -p       print the effective configuration\n"
	    "  -R       print the reference of the options\n"
	    "  -V, -h   print the version, this help\n"
	    "Without -t to -h it runs in the foreground.\n",
	    program->name, program->summary, program->name);
}

static void
print_reference(const struct daemon_program *program)
{
	for (size_t i = 0; i < program->section_count; i++) {
		if (i > 0)
			putchar('\n');
		config_print_reference(stdout, &program->sections[i]);
	}
}

static int
load(const struct daemon_program *program, struct reason *reason)
{
	if (config_load(daemon_process.config_path, program->sections,
		program->section_count, reason) < 0)
		return -1;
	return program->check != NULL ? program->check(reason) : 0;
}

static int
call(int (*step)(struct reason *), struct reason *reason)
{
	return step != NULL ? step(reason) : 0;
}

static int
become_user(const struct daemon_settings *settings, struct reason *reason)
{
	if (settings->user[0] == '\0' && geteuid() == 0)
		log_warn("user=root reason=the option user is empty");
	return user_become(settings->user, reason);
}

/* Everything up to readiness. What open() needs root for is done once the user
 * is switched. */
static int
begin(const struct daemon_program *program, struct reason *reason)
{
	const struct daemon_settings *settings = program->settings;

	if (log_open(program->name, daemon_log_targets[settings->log_target],
		(enum log_level)settings->log_level, reason) < 0)
		return -1;
	umask(0027);
	daemon_signals_block();
	supervisor_connect();
	if (call(program->open, reason) < 0 ||
	    become_user(settings, reason) < 0 ||
	    call(program->start, reason) < 0)
		return -1;
	log_info("version=%s config=%s reason=started", POSTLAG_VERSION,
	    daemon_process.config_path);
	supervisor_notify("READY=1");
	return 0;
}

static int
run(const struct daemon_program *program)
{
	struct reason reason;
	int status;

	if (begin(program, &reason) < 0) {
		log_error("%s", reason.text);
		return 1;
	}
	status = program->run();
	supervisor_notify("STOPPING=1");
	if (program->stop != NULL)
		program->stop();
	log_info("status=%d reason=stopped", status);
	return status;
}

static int
run_configured(const struct daemon_program *program, enum action action)
{
	struct reason reason;
	int status = 0;

	if (load(program, &reason) < 0) {
		log_error("%s", reason.text);
		status = 1;
	} else if (action == ACTION_PRINT) {
		config_print(stdout, program->sections, program->section_count);
	} else if (action == ACTION_CHECK) {
		printf("%s: OK\n", daemon_process.config_path);
	} else {
		status = run(program);
	}
	config_free(program->sections, program->section_count);
	return status;
}

int
daemon_main(int argc, char **argv, const struct daemon_program *program)
{
	enum action action = parse_arguments(argc, argv);

	daemon_process.program = program;
	log_open(program->name, "stderr", LOG_LEVEL_INFO, NULL);
	switch (action) {
	case ACTION_USAGE:
		print_usage(stderr, program);
		return 1;
	case ACTION_HELP:
		print_usage(stdout, program);
		return 0;
	case ACTION_VERSION:
		printf("%s %s\n", program->name, POSTLAG_VERSION);
		return 0;
	case ACTION_REFERENCE:
		print_reference(program);
		return 0;
	default:
		return run_configured(program, action);
	}
}

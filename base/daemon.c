/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame around each program: command line, configuration, privileges,
 * signals, the order of starting and stopping. main() of the three daemons is
 * one call into here, on the main thread.
 */
#include "base/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/config.h"
#include "base/config_value.h"
#include "base/log.h"
#include "base/reason.h"
#include "base/supervisor.h"
#include "base/user.h"

const char *const daemon_log_targets[] = {"auto", "stderr", "syslog", NULL};

const char *const daemon_log_levels[] = {[LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
    NULL};

/* What the command line asked for; kept for reloads. */
static const struct daemon_program *running;
static const char *config_path = CONFIG_DEFAULT_PATH;
static int signal_fd = -1;

static const struct {
	int number;
	enum daemon_request request;
} signals[] = {{SIGTERM, DAEMON_STOP}, {SIGINT, DAEMON_STOP},
    {SIGHUP, DAEMON_RELOAD}, {SIGUSR1, DAEMON_RELOAD}};

#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

static sigset_t
signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&set, signals[i].number);
	return set;
}

static void
signals_block(void)
{
	sigset_t set = signal_set();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static enum daemon_request
signal_request(int number)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		if (signals[i].number == number)
			return signals[i].request;
	}
	return DAEMON_NOTHING;
}

enum daemon_request
daemon_wait(void)
{
	sigset_t set = signal_set();
	int number;

	do {
		number = sigwaitinfo(&set, NULL);
	} while (number < 0 && errno == EINTR);
	return signal_request(number);
}

int
daemon_signal_fd(void)
{
	sigset_t set = signal_set();

	if (signal_fd < 0)
		signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd;
}

enum daemon_request
daemon_signal_read(void)
{
	struct signalfd_siginfo info;

	if (read(daemon_signal_fd(), &info, sizeof(info)) != sizeof(info))
		return DAEMON_NOTHING;
	return signal_request((int)info.ssi_signo);
}

/* Settings to read a second configuration into, as large as the table says that
 * they are. */
static void *
settings_like(const struct config_section *section)
{
	size_t size = 0;

	for (size_t i = 0; i < section->item_count; i++) {
		if (section->items[i].offset > size)
			size = section->items[i].offset;
	}
	return calloc(1, size + sizeof(int64_t) + sizeof(char *));
}

static bool
same_value(const struct config_item *item, const void *left, const void *right)
{
	struct buffer a = {.limit = 0}, b = {.limit = 0};
	bool same;

	config_value_write(item, left, &a);
	config_value_write(item, right, &b);
	same = !a.failed && !b.failed && a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
	buffer_free(&a);
	buffer_free(&b);
	return same;
}

/* Takes log_level over from the fresh settings; for the others, says that they
 * wait. */
static void
apply_item(const struct config_section *now, const struct config_section *fresh,
    const struct config_item *item)
{
	int *member = (void *)((char *)now->settings + item->offset);

	if (same_value(item, now->settings, fresh->settings))
		return;
	if (member != &running->settings->log_level) {
		log_warn("section=%s option=%s reason=takes effect at restart",
		    now->name, item->name);
		return;
	}
	memcpy(member, (char *)fresh->settings + item->offset, sizeof(*member));
	log_set_level((enum log_level) * member);
}

static void
reload_into(struct config_section *fresh)
{
	struct reason reason;
	size_t count = running->section_count;

	if (config_load(config_path, fresh, count, &reason) < 0) {
		log_error("reload=failed reason=%s", reason.text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < fresh[i].item_count; j++)
			apply_item(&running->sections[i], &fresh[i],
			    &fresh[i].items[j]);
	}
	log_info("reload=done config=%s log_level=%s", config_path,
	    daemon_log_levels[running->settings->log_level]);
}

void
daemon_reload(void)
{
	size_t count = running->section_count;
	struct config_section *fresh = calloc(count, sizeof(*fresh));
	bool complete = fresh != NULL;

	for (size_t i = 0; fresh != NULL && i < count; i++) {
		fresh[i] = running->sections[i];
		fresh[i].settings = settings_like(&fresh[i]);
		if (fresh[i].settings == NULL) {
			fresh[i].item_count = 0;
			complete = false;
		}
	}
	if (complete)
		reload_into(fresh);
	else
		log_error("reload=failed reason=out of memory");
	for (size_t i = 0; fresh != NULL && i < count; i++) {
		config_free(&fresh[i], 1);
		free(fresh[i].settings);
	}
	free(fresh);
}

enum action {
	ACTION_RUN,
	ACTION_CHECK,
	ACTION_PRINT,
	ACTION_REFERENCE,
	ACTION_VERSION,
	ACTION_HELP,
	ACTION_USAGE
};

static enum action
parse_arguments(int argc, char **argv)
{
	enum action action = ACTION_RUN;
	int option;

	while ((option = getopt(argc, argv, "c:tpRVh")) != -1) {
		switch (option) {
		case 'c':
			config_path = optarg;
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
	if (config_load(config_path, program->sections, program->section_count,
		reason) < 0)
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
	if (settings->user[0] != '\0')
		return user_become(settings->user, reason);
	if (geteuid() == 0)
		log_warn("user=root reason=the option user is empty");
	return 0;
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
	signals_block();
	supervisor_connect();
	if (call(program->open, reason) < 0 ||
	    become_user(settings, reason) < 0 ||
	    call(program->start, reason) < 0)
		return -1;
	log_info("version=%s config=%s reason=started", POSTLAG_VERSION,
	    config_path);
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
		printf("%s: OK\n", config_path);
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

	running = program;
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

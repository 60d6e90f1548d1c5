/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon: what starting and stopping mean, once for all programs.
 *
 *     program -c FILE      run in the foreground (a supervisor backgrounds);
 *                          FILE is /etc/postlag/postlag.conf if not given
 *     program -t -c FILE   check the configuration, exit 0 or 1
 *     program -p -c FILE   print the effective configuration
 *     program -R           print the reference of its options
 *     program -V | -h      version, usage
 *
 * Order: read the configuration, open() with the rights the program was started
 * with (listening sockets), become the configured user, start(), tell the
 * supervisor READY=1 (sd_notify(3) protocol through NOTIFY_SOCKET), run(),
 * STOPPING=1, stop(). An error before run() is fatal: one line naming it and
 * exit status 1. After that nothing here ends the process. The umask is 0027
 * and SIGPIPE and SIGXFSZ ignored from before open() on.
 */
#ifndef BASE_DAEMON_H
#define BASE_DAEMON_H

#include <stddef.h>

struct config_section;
struct reason;

struct daemon_program {
	const char *name;
	const char *summary; /* one sentence for -h */
	const struct config_section *sections;
	size_t section_count;
	/* Where `user` and the logging options were read to: the program's own
	 * first section begins with DAEMON_CONFIG_ITEMS. */
	const struct daemon_settings *settings;
	/* Further checks of the settings, also made by -t. May be NULL. */
	int (*check)(struct reason *reason);
	int (*open)(struct reason *reason);  /* may be NULL */
	int (*start)(struct reason *reason); /* may be NULL */
	int (*run)(void);                    /* returns the exit status */
	void (*stop)(void);                  /* may be NULL */
};

/* The options that every daemon has, as the first member of its settings. */
struct daemon_settings {
	char *user;     /* empty: stay who we are */
	int log_target; /* index into daemon_log_targets */
	int log_level;  /* enum log_level, as in daemon_log_levels */
};

extern const char *const daemon_log_targets[];
extern const char *const daemon_log_levels[];

/* To be placed in a program's config_item table; `type` is its settings struct
 * and `member` the name of the struct daemon_settings in it. */
/* clang-format off */
#define DAEMON_CONFIG_ITEMS(type, member, default_user) \
	{"user", CONFIG_STRING, offsetof(type, member.user), default_user, \
	    0, 0, NULL, \
	    "User to become after start; empty stays who started it."}, \
	{"log", CONFIG_CHOICE, offsetof(type, member.log_target), "auto", \
	    0, 0, daemon_log_targets, \
	    "Where to log; auto is stderr, with systemd's priority prefix " \
	    "when its journal reads it."}, \
	{"log_level", CONFIG_CHOICE, offsetof(type, member.log_level), "info", \
	    0, 0, daemon_log_levels, \
	    "Least urgent lines to log; a reload changes it."}
/* clang-format on */

/* The whole of main(). */
int daemon_main(int argc, char **argv, const struct daemon_program *program);

enum daemon_request { DAEMON_NOTHING, DAEMON_STOP, DAEMON_RELOAD };

/* Signals: SIGTERM and SIGINT stop, SIGHUP and SIGUSR1 reload. daemon_main()
 * blocks them before open(), so that every thread inherits the block. A program
 * takes them by one of these two ways.
 *
 * daemon_wait() sleeps in sigwaitinfo(2) until a request comes. To be called on
 * the main thread: the kernel offers a process signal to the main thread first,
 * which is how the milter is faster than libmilter's own signal thread. */
enum daemon_request daemon_wait(void);

/* Or a signalfd(2) for an event loop (created at the first call), and what
 * became readable on it. */
int daemon_signal_fd(void);
enum daemon_request daemon_signal_read(void);

/* What to do for DAEMON_RELOAD: reads the configuration file again. log_level
 * takes effect, also in the settings; each other option that differs is named
 * in a warning, as it needs a restart, and stays as it is, so that no other
 * thread has to mind. With an error in the file nothing changes. */
void daemon_reload(void);

/* Number of listening sockets handed over by the supervisor (LISTEN_FDS and
 * LISTEN_PID, sd_listen_fds(3) protocol), descriptors 3 and up; they are set
 * close-on-exec. 0 when there are none. */
int daemon_inherited_sockets(void);

#endif

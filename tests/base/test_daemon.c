/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame around each program, seen from outside: each test runs a small
 * program of its own in a child.
 */
#include "base/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/reason.h"
#include "tests/lib/capture.h"
#include "tests/lib/unit.h"

static struct settings {
	struct daemon_settings daemon;
	char *listen;
} settings;

static const struct config_item items[] = {
    DAEMON_CONFIG_ITEMS(struct settings, daemon, ""),
    {"listen", CONFIG_STRING, offsetof(struct settings, listen), "unix:/x", 0,
	0, NULL, "Where."},
};

static const struct config_section sections[] = {
    {"milter", items, COUNT(items), &settings},
};

static char directory[] = "/tmp/daemon-XXXXXX";
static char config_path[64], notify_path[64];
static int notify_fd;
static pid_t running; /* the child, or 0 */
static struct capture err, out;

static int
check(struct reason *reason)
{
	if (strcmp(settings.listen, "bad") == 0)
		return reason_set(reason, "listen is bad");
	return 0;
}

static int
fail_to_open(struct reason *reason)
{
	return reason_set(reason, "cannot open");
}

static int
note_open(struct reason *reason)
{
	log_info("step=open uid=%d", (int)geteuid());
	return 0;
}

static int
note_start(struct reason *reason)
{
	mode_t mask = umask(0);

	umask(mask);
	log_info("step=start umask=%04o", (unsigned)mask);
	return 0;
}

static int
run_nothing(void)
{
	log_info("step=run uid=%d", (int)geteuid());
	return 3;
}

static void
note_stop(void)
{
	log_info("step=stop");
}

static int
take_requests_by_waiting(void)
{
	for (;;) {
		switch (daemon_wait()) {
		case DAEMON_STOP:
			return 0;
		case DAEMON_RELOAD:
			daemon_reload();
			log_debug("after reload");
			log_warn("listen=%s", settings.listen);
			break;
		default:
			return 9;
		}
	}
}

static int
take_requests_by_descriptor(void)
{
	struct pollfd wanted = {daemon_signal_fd(), POLLIN, 0};

	for (;;) {
		poll(&wanted, 1, -1);
		switch (daemon_signal_read()) {
		case DAEMON_STOP:
			return 0;
		case DAEMON_RELOAD:
			daemon_reload();
			break;
		default:
			return 9;
		}
	}
}

/* Before READY=1, when nobody has sent a signal. */
static int
expect_no_request(struct reason *reason)
{
	if (daemon_signal_read() != DAEMON_NOTHING)
		return reason_set(reason, "a request that nobody made");
	return 0;
}

static const struct daemon_program simple = {
    .name = "prog",
    .summary = "Tests.",
    .sections = sections,
    .section_count = 1,
    .settings = &settings.daemon,
    .check = check,
    .open = note_open,
    .start = note_start,
    .run = run_nothing,
    .stop = note_stop,
};

static void
write_config(const char *text)
{
	FILE *file = fopen(config_path, "w");

	fputs(text, file);
	fclose(file);
	chmod(config_path, 0644);
}

static pid_t
begin(const struct daemon_program *program, const char *options)
{
	static char copy[200], *arguments[20];
	int count = 0;
	pid_t child;

	snprintf(copy, sizeof(copy), "prog %s", options);
	for (char *at = strtok(copy, " "); at != NULL; at = strtok(NULL, " "))
		arguments[count++] = strcmp(at, "FILE") == 0 ? config_path : at;
	arguments[count] = NULL;
	capture_begin(&err, STDERR_FILENO);
	capture_begin(&out, STDOUT_FILENO);
	child = running = fork();
	if (child == 0) {
		int status = daemon_main(count, arguments, program);

		fflush(NULL);
		_exit(status);
	}
	return child;
}

static int
end(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	running = 0;
	capture_end(&out);
	capture_end(&err);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
run(const struct daemon_program *program, const char *options)
{
	return end(begin(program, options));
}

static void
expect_notice(const char *wanted)
{
	struct pollfd readable = {notify_fd, POLLIN, 0};
	char text[100];
	ssize_t size;

	assert_int_equal(poll(&readable, 1, 30000), 1);
	size = recv(notify_fd, text, sizeof(text) - 1, 0);
	assert_true(size > 0);
	text[size] = '\0';
	assert_string_equal(text, wanted);
}

/* Until the log of the running child has the text. */
static void
expect_log(const char *wanted)
{
	for (int tries = 0; tries < 3000; tries++) {
		ssize_t size =
		    pread(err.file, err.text, sizeof(err.text) - 1, 0);

		err.text[size > 0 ? size : 0] = '\0';
		if (strstr(err.text, wanted) != NULL)
			return;
		poll(NULL, 0, 10);
	}
	fail_msg("not in the log: %s", wanted);
}

static void
version_and_usage_are_printed(void **state)
{
	assert_int_equal(run(&simple, "-V"), 0);
	assert_string_equal(out.text, "prog " POSTLAG_VERSION "\n");
	assert_int_equal(run(&simple, "-h"), 0);
	assert_memory_equal(
	    out.text, "prog: Tests.\nusage: prog [-c FILE]", 34);
	assert_string_equal(err.text, "");
}

static void
a_wrong_command_line_shows_the_usage_as_an_error(void **state)
{
	static const char *const rows[] = {"-x", "-c", "extra", "-t extra"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_row(i, run(&simple, rows[i]) == 1);
		assert_row(i, strstr(err.text, "usage: prog") != NULL);
		assert_row_string(i, out.text, "");
	}
}

static void
the_check_says_ok_or_the_one_error(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *out, *error; /* behind the path */
	} rows[] = {
	    {"[milter]\n", 0, ": OK\n", NULL},
	    {"[milter]\nfoo = 1\n", 1, NULL,
		":2: unknown option foo in [milter]\n"},
	    {"[milter]\nlog = paper\n", 1, NULL,
		":2: log in [milter]: \"paper\" is not auto, stderr or "
		"syslog\n"},
	};
	char wanted[300];

	for (size_t i = 0; i < COUNT(rows); i++) {
		write_config(rows[i].text);
		assert_row(i, run(&simple, "-t -c FILE") == rows[i].status);
		snprintf(wanted, sizeof(wanted), "%s%s", config_path,
		    rows[i].out != NULL ? rows[i].out : "");
		assert_row_string(
		    i, out.text, rows[i].out != NULL ? wanted : "");
		snprintf(wanted, sizeof(wanted), "prog: error: %s%s",
		    config_path, rows[i].error != NULL ? rows[i].error : "");
		assert_row_string(
		    i, err.text, rows[i].error != NULL ? wanted : "");
	}
}

static void
the_programs_own_check_is_part_of_it(void **state)
{
	write_config("[milter]\nlisten = bad\n");
	assert_int_equal(run(&simple, "-t -c FILE"), 1);
	assert_string_equal(err.text, "prog: error: listen is bad\n");
	assert_int_equal(run(&simple, "-c FILE"), 1);
	assert_string_equal(err.text, "prog: error: listen is bad\n");
}

static void
the_effective_configuration_is_printed(void **state)
{
	write_config("[milter]\nlisten = y\n[lmtp]\nany = thing\n");
	assert_int_equal(run(&simple, "-p -c FILE"), 0);
	assert_string_equal(out.text,
	    "[milter]\nuser =\nlog = auto\nlog_level = info\nlisten = y\n");
	assert_int_equal(run(&simple, "-p -c /nonexistent"), 1);
	assert_string_equal(
	    err.text, "prog: error: /nonexistent: No such file or directory\n");
}

static void
the_reference_needs_no_file(void **state)
{
	assert_int_equal(run(&simple, "-R"), 0);
	assert_non_null(strstr(out.text, "| `listen` | `unix:/x` | Where. |"));
}

static void
the_steps_come_in_order_and_run_gives_the_status(void **state)
{
	char wanted[500];

	write_config("[milter]\nlog = stderr\nuser = nobody\n");
	if (geteuid() != 0)
		skip();
	assert_int_equal(run(&simple, "-c FILE"), 3);
	snprintf(wanted, sizeof(wanted),
	    "prog: info: step=open uid=0\n"
	    "prog: info: step=start umask=0027\n"
	    "prog: info: version=" POSTLAG_VERSION " config=%s "
	    "reason=started\n"
	    "prog: info: step=run uid=%d\n"
	    "prog: info: step=stop\n"
	    "prog: info: status=3 reason=stopped\n",
	    config_path, (int)getpwnam("nobody")->pw_uid);
	assert_string_equal(err.text, wanted);
}

static void
a_failure_before_run_is_one_line_and_status_1(void **state)
{
	struct daemon_program program = simple;

	write_config("[milter]\n");
	program.open = fail_to_open;
	assert_int_equal(run(&program, "-c FILE"), 1);
	assert_string_equal(err.text, "prog: error: cannot open\n");
	program.open = NULL;
	program.start = fail_to_open;
	assert_int_equal(run(&program, "-c FILE"), 1);
	assert_non_null(strstr(err.text, "prog: error: cannot open\n"));
	assert_null(strstr(err.text, "step=run"));
}

static void
an_unknown_user_is_fatal_to_root(void **state)
{
	if (geteuid() != 0)
		skip();
	write_config("[milter]\nuser = no-such-user\n");
	assert_int_equal(run(&simple, "-c FILE"), 1);
	assert_string_equal(err.text,
	    "prog: info: step=open uid=0\n"
	    "prog: error: user no-such-user does not exist\n");
}

static int
try_to_get_root_back(void)
{
	gid_t groups[100];
	int count = getgroups(100, groups);

	for (int i = 0; i < count; i++) {
		if (groups[i] == 0)
			return 10;
	}
	if (setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0 ||
	    getegid() == 0 || getgid() == 0 || getuid() == 0)
		return 11;
	return 0;
}

static void
root_is_given_up_for_good(void **state)
{
	struct daemon_program program = simple;

	if (geteuid() != 0)
		skip();
	write_config("[milter]\nuser = nobody\n");
	program.run = try_to_get_root_back;
	assert_int_equal(run(&program, "-c FILE"), 0);
}

static void
staying_root_is_warned_about(void **state)
{
	if (geteuid() != 0)
		skip();
	write_config("[milter]\n");
	run(&simple, "-c FILE");
	assert_non_null(strstr(err.text,
	    "prog: warning: user=root reason=the option user is empty\n"));
}

static void
requests_are_taken(int (*taker)(void))
{
	struct daemon_program program = simple;
	pid_t child;

	program.start = expect_no_request;
	program.run = taker;
	for (int signal = SIGINT;; signal = SIGTERM) {
		write_config("[milter]\nlisten = a\n");
		child = begin(&program, "-c FILE");
		expect_notice("READY=1");
		write_config("[milter]\nlisten = b\nlog_level = debug\n");
		kill(child, signal == SIGINT ? SIGHUP : SIGUSR1);
		expect_log("log_level=debug\n");
		kill(child, signal);
		expect_notice("STOPPING=1");
		assert_int_equal(end(child), 0);
		assert_non_null(strstr(err.text, "step=stop\n"));
		if (signal == SIGTERM)
			return;
	}
}

static void
requests_are_taken_by_waiting(void **state)
{
	requests_are_taken(take_requests_by_waiting);
	assert_non_null(strstr(err.text, "prog: debug: after reload\n"));
	/* The settings in force have not moved. */
	assert_non_null(strstr(err.text, "prog: warning: listen=a\n"));
}

static void
requests_are_taken_by_descriptor(void **state)
{
	requests_are_taken(take_requests_by_descriptor);
}

static void
a_reload_names_what_needs_a_restart(void **state)
{
	requests_are_taken(take_requests_by_waiting);
	assert_non_null(
	    strstr(err.text, "prog: warning: section=milter option=listen "
			     "reason=takes effect at restart\n"));
	assert_null(strstr(err.text, "option=user"));
	assert_null(strstr(err.text, "option=log_level"));
}

static void
a_reload_of_a_broken_file_changes_nothing(void **state)
{
	struct daemon_program program = simple;
	char wanted[200];
	pid_t child;

	program.run = take_requests_by_waiting;
	write_config("[milter]\n");
	child = begin(&program, "-c FILE");
	expect_notice("READY=1");
	write_config("[milter]\nlog_level = debug\nfoo = 1\n");
	kill(child, SIGHUP);
	expect_log("listen=");
	kill(child, SIGTERM);
	expect_notice("STOPPING=1");
	assert_int_equal(end(child), 0);
	snprintf(wanted, sizeof(wanted),
	    "prog: error: reload=failed reason=%s:3: unknown option foo in "
	    "[milter]\n",
	    config_path);
	assert_non_null(strstr(err.text, wanted));
	assert_null(strstr(err.text, "after reload"));
}

static int
stop_before_waiting(void)
{
	kill(getpid(), SIGTERM);
	return take_requests_by_waiting();
}

static void
a_signal_that_comes_early_is_not_lost(void **state)
{
	struct daemon_program program = simple;

	write_config("[milter]\n");
	program.run = stop_before_waiting;
	assert_int_equal(run(&program, "-c FILE"), 0);
	expect_notice("READY=1");
	expect_notice("STOPPING=1");
}

static int
write_to_a_closed_pipe(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		return 1;
	close(ends[0]);
	return write(ends[1], "x", 1) < 0 && errno == EPIPE ? 0 : 2;
}

static void
a_closed_pipe_is_an_error_not_a_death(void **state)
{
	struct daemon_program program = simple;

	write_config("[milter]\n");
	program.run = write_to_a_closed_pipe;
	assert_int_equal(run(&program, "-c FILE"), 0);
	expect_notice("READY=1");
	expect_notice("STOPPING=1");
}

static int
open_notify_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = strlen(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, size);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	size += offsetof(struct sockaddr_un, sun_path);
	assert_int_equal(
	    bind(fd, (struct sockaddr *)&address, (socklen_t)size), 0);
	return fd;
}

static void
an_abstract_notify_socket_works(void **state)
{
	char name[64];
	int saved = notify_fd;

	snprintf(name, sizeof(name), "@postlag-test-%d", (int)getpid());
	notify_fd = open_notify_socket(name);
	setenv("NOTIFY_SOCKET", name, 1);
	write_config("[milter]\n");
	assert_int_equal(run(&simple, "-c FILE"), 3);
	expect_notice("READY=1");
	expect_notice("STOPPING=1");
	close(notify_fd);
	notify_fd = saved;
}

static void
a_notify_socket_that_is_not_there_is_only_logged(void **state)
{
	static const struct {
		const char *path, *reason;
	} rows[] = {
	    {"/nonexistent", "No such file or directory"},
	    {"relative", "Invalid argument"},
	    {"", "Invalid argument"},
	};
	char wanted[200];

	write_config("[milter]\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		setenv("NOTIFY_SOCKET", rows[i].path, 1);
		assert_row(i, run(&simple, "-c FILE") == 3);
		snprintf(wanted, sizeof(wanted),
		    "prog: warning: notify_socket=%s reason=%s\n", rows[i].path,
		    rows[i].reason);
		assert_row(i, strstr(err.text, wanted) != NULL);
	}
}

static int
count_inherited(void)
{
	return daemon_inherited_sockets();
}

static int
inherit_two(struct reason *reason)
{
	char pid[20];

	dup2(STDERR_FILENO, 3);
	dup2(STDERR_FILENO, 4);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	return 0;
}

static int
count_inherited_close_on_exec(void)
{
	int count = daemon_inherited_sockets();

	return count == 2 && (fcntl(3, F_GETFD) & FD_CLOEXEC) &&
		       (fcntl(4, F_GETFD) & FD_CLOEXEC)
		   ? 2
		   : 20;
}

static void
sockets_of_the_supervisor_are_counted(void **state)
{
	struct daemon_program program = simple;

	write_config("[milter]\n");
	program.run = count_inherited;
	assert_int_equal(run(&program, "-c FILE"), 0);
	setenv("LISTEN_FDS", "2", 1);
	setenv("LISTEN_PID", "1", 1);
	assert_int_equal(run(&program, "-c FILE"), 0);
	program.open = inherit_two;
	program.run = count_inherited_close_on_exec;
	assert_int_equal(run(&program, "-c FILE"), 2);
	setenv("LISTEN_FDS", "-3", 1);
	program.run = count_inherited;
	assert_int_equal(run(&program, "-c FILE"), 0);
}

static int
begin_test(void **state)
{
	char text[100];

	setenv("NOTIFY_SOCKET", notify_path, 1);
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("JOURNAL_STREAM");
	while (recv(notify_fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		continue;
	return 0;
}

static int
make_directory(void **state)
{
	if (mkdtemp(directory) == NULL || chmod(directory, 0755) < 0)
		return -1;
	snprintf(config_path, sizeof(config_path), "%s/conf", directory);
	snprintf(notify_path, sizeof(notify_path), "%s/notify", directory);
	notify_fd = open_notify_socket(notify_path);
	return 0;
}

static int
remove_directory(void **state)
{
	close(notify_fd);
	unlink(notify_path);
	unlink(config_path);
	return rmdir(directory);
}

/* What a failed test has left. */
static int
end_test(void **state)
{
	if (running > 0) {
		kill(running, SIGKILL);
		waitpid(running, NULL, 0);
		running = 0;
	}
	if (out.active)
		capture_end(&out);
	if (err.active)
		fputs(capture_end(&err), stderr);
	return 0;
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    test(version_and_usage_are_printed),
	    test(a_wrong_command_line_shows_the_usage_as_an_error),
	    test(the_check_says_ok_or_the_one_error),
	    test(the_programs_own_check_is_part_of_it),
	    test(the_effective_configuration_is_printed),
	    test(the_reference_needs_no_file),
	    test(the_steps_come_in_order_and_run_gives_the_status),
	    test(a_failure_before_run_is_one_line_and_status_1),
	    test(an_unknown_user_is_fatal_to_root),
	    test(root_is_given_up_for_good),
	    test(staying_root_is_warned_about),
	    test(requests_are_taken_by_waiting),
	    test(requests_are_taken_by_descriptor),
	    test(a_reload_names_what_needs_a_restart),
	    test(a_reload_of_a_broken_file_changes_nothing),
	    test(a_signal_that_comes_early_is_not_lost),
	    test(a_closed_pipe_is_an_error_not_a_death),
	    test(an_abstract_notify_socket_works),
	    test(a_notify_socket_that_is_not_there_is_only_logged),
	    test(sockets_of_the_supervisor_are_counted),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

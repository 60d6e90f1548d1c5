/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The helper process and postqueue's listing, in queue directories made for the
 * test and with a script for postqueue.
 */
#include "exporter/queue/queue_lookup.h"

#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "tests/lib/unit.h"

#define PATIENCE_MS 20000

static char root[PATH_MAX - 200], spool[PATH_MAX], script[PATH_MAX];
static char user[64];

static int
remove_one(
    const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	return remove(path);
}

static void
write_file(const char *path, mode_t mode, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void
queue_file(const char *name)
{
	char path[PATH_MAX + 100];

	snprintf(path, sizeof(path), "%s/%s", spool, name);
	write_file(path, 0700, "");
}

/* The queue belongs to a user that is not root, where we are root. */
static void
make_spool(void)
{
	static const char *const names[] = {
	    "", "/incoming", "/active", "/deferred", "/hold"};
	const struct passwd *entry =
	    geteuid() == 0 ? getpwnam("nobody") : getpwuid(geteuid());
	char path[PATH_MAX + 100];

	assert_non_null(entry);
	snprintf(user, sizeof(user), "%s", entry->pw_name);
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s%s", spool, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(chown(path, entry->pw_uid, entry->pw_gid), 0);
	}
}

static int
setup(void **state)
{
	const char *parent = getenv("TMPDIR");

	log_set_level(LOG_LEVEL_ERROR);
	snprintf(root, sizeof(root), "%.200s/lookup.XXXXXX",
	    parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	snprintf(spool, sizeof(spool), "%s/spool", root);
	snprintf(script, sizeof(script), "%s/postqueue", root);
	make_spool();
	return 0;
}

static int
teardown(void **state)
{
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct queue_lookup_settings
settings_for_helper(const char *directories)
{
	return (struct queue_lookup_settings){
	    .directories = directories,
	    .config_directories = "",
	    .hash_names = "",
	    .user = user,
	    .postqueue = script,
	    .postqueue_pause_ns = 1,
	};
}

static struct queue_lookup *
open_lookup(const struct queue_lookup_settings *settings)
{
	struct queue_lookup *lookup;
	struct reason reason;

	if (queue_lookup_open(settings, &lookup, &reason) != 0)
		fail_msg("%s", reason.text);
	return lookup;
}

static struct queue_lookup *
open_helper(void)
{
	char directories[PATH_MAX + 10];
	struct queue_lookup_settings settings =
	    settings_for_helper(directories);

	snprintf(directories, sizeof(directories), "mx=%s", spool);
	return open_lookup(&settings);
}

static int64_t
now_ns(void)
{
	return clock_stamp().monotonic_ns;
}

static bool
answer_within(struct queue_lookup *lookup, struct queue_ticket *ticket_r,
    struct queue_finding *finding_r, int patience_ms)
{
	int64_t end_ns = now_ns() + patience_ms * (CLOCK_NS_PER_SECOND / 1000);

	while (
	    queue_lookup_answer(lookup, now_ns(), ticket_r, finding_r) != 1) {
		struct pollfd wait[QUEUE_LOOKUP_FDS];
		int fds[QUEUE_LOOKUP_FDS];

		if (now_ns() > end_ns)
			return false;
		queue_lookup_fds(lookup, fds);
		for (size_t i = 0; i < QUEUE_LOOKUP_FDS; i++)
			wait[i] = (struct pollfd){fds[i], POLLIN, 0};
		poll(wait, QUEUE_LOOKUP_FDS, 10);
	}
	return true;
}

static void
expect(
    struct queue_lookup *lookup, const char *queue_id, enum queue_place place)
{
	static uint32_t number;
	struct queue_ticket ticket = {.number = ++number};
	struct queue_finding finding;

	assert_int_equal(queue_lookup_ask(lookup, &ticket, "mx", queue_id), 1);
	assert_true(answer_within(lookup, &ticket, &finding, PATIENCE_MS));
	assert_int_equal(ticket.number, number);
	assert_string_equal(
	    queue_place_name(finding.place), queue_place_name(place));
}

static void
without_an_instance_nobody_is_asked(void **state)
{
	struct queue_lookup_settings settings = settings_for_helper("");

	assert_null(open_lookup(&settings));
}

static void
the_helper_tells_where_a_queue_file_is(void **state)
{
	struct queue_lookup *lookup = open_helper();

	assert_true(queue_lookup_knows(lookup, "mx"));
	assert_false(queue_lookup_knows(lookup, "other"));
	assert_int_equal(queue_lookup_absences(lookup, "mx"), 2);
	queue_file("hold/AAAAAA");
	expect(lookup, "AAAAAA", QUEUE_HOLD);
	expect(lookup, "BBBBBB", QUEUE_ABSENT);
	queue_file("active/BBBBBB");
	expect(lookup, "BBBBBB", QUEUE_ACTIVE);
	expect(lookup, "../BBBBBB", QUEUE_UNKNOWN);
	expect(lookup, "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABC", QUEUE_UNKNOWN);
	queue_lookup_close(&lookup);
}

static void
many_questions_are_answered_in_their_order(void **state)
{
	struct queue_lookup *lookup = open_helper();
	struct queue_ticket ticket = {.number = 0};
	struct queue_finding finding;
	uint32_t asked = 0;

	queue_file("active/AAAAAA");
	while (queue_lookup_ask(lookup, &ticket, "mx",
		   asked % 2 == 0 ? "AAAAAA" : "BBBBBB") == 1) {
		ticket.number = ++asked;
		if (asked == 100000)
			break;
	}
	assert_true(asked >= 10);
	for (uint32_t i = 0; i < asked; i++) {
		assert_true(
		    answer_within(lookup, &ticket, &finding, PATIENCE_MS));
		assert_int_equal(ticket.number, i);
		assert_int_equal(
		    finding.place, i % 2 == 0 ? QUEUE_ACTIVE : QUEUE_ABSENT);
	}
	queue_lookup_close(&lookup);
}

/* The helper that was started last; those of other tests may not have left
 * yet. */
static pid_t
helper_pid(void)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "r");
	assert_non_null(file);
	while (fscanf(file, "%d", &pid) == 1)
		continue;
	fclose(file);
	return (pid_t)pid;
}

static void
the_helper_has_no_rights_but_that_users(void **state)
{
	struct queue_lookup *lookup = open_helper();
	char path[64], line[256];
	const struct passwd *entry = getpwnam(user);
	unsigned long long capabilities = ~0ull;
	int no_new_privileges = -1;
	unsigned uid[4] = {0};
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)helper_pid());
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		sscanf(line, "Uid: %u %u %u %u", &uid[0], &uid[1], &uid[2],
		    &uid[3]);
		sscanf(line, "CapPrm: %llx", &capabilities);
		sscanf(line, "NoNewPrivs: %d", &no_new_privileges);
	}
	fclose(file);
	for (size_t i = 0; i < COUNT(uid); i++)
		assert_int_equal(uid[i], entry->pw_uid);
	assert_true(capabilities == 0);
	assert_int_equal(no_new_privileges, 1);
	queue_lookup_close(&lookup);
}

/* A pipe that it had inherited would not end. */
static void
the_helper_has_nothing_open_of_ours(void **state)
{
	struct queue_lookup *lookup;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	lookup = open_helper();
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	queue_lookup_close(&lookup);
}

static void
the_helper_ends_with_its_parent(void **state)
{
	int pipe_fds[2];
	pid_t child, helper = 0;

	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (child == 0) {
		open_helper();
		helper = helper_pid();
		if (write(pipe_fds[1], &helper, sizeof(helper)) < 0)
			_exit(2);
		pause();
	}
	assert_int_equal(
	    read(pipe_fds[0], &helper, sizeof(helper)), sizeof(helper));
	assert_int_equal(kill(helper, 0), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < PATIENCE_MS && kill(helper, 0) == 0; i++) {
		char path[64], text[256] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)helper);
		file = fopen(path, "r");
		if (file == NULL || fgets(text, sizeof(text), file) == NULL ||
		    strstr(text, ") Z") != NULL)
			i = PATIENCE_MS;
		if (file != NULL)
			fclose(file);
		usleep(1000);
		assert_int_not_equal(i, PATIENCE_MS - 1);
	}
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void
a_directory_that_is_no_queue_is_refused_at_start(void **state)
{
	struct queue_lookup_settings settings =
	    settings_for_helper("mx=/nonexistent");
	struct queue_lookup *lookup;
	struct reason reason;

	assert_int_equal(queue_lookup_open(&settings, &lookup, &reason), -1);
	assert_non_null(strstr(reason.text, "/nonexistent"));
	settings.directories = "mx=/a, mx=/b";
	assert_int_equal(queue_lookup_open(&settings, &lookup, &reason), -1);
	assert_non_null(strstr(reason.text, "named twice"));
}

static void
write_postqueue(const char *lines)
{
	char text[4096];

	snprintf(text, sizeof(text),
	    "#!/bin/sh\n[ \"$1 $2 $3\" = '-c /etc/postfix -j' ] || exit 9\n%s",
	    lines);
	write_file(script, 0755, text);
}

static struct queue_lookup *
open_list(void)
{
	struct queue_lookup_settings settings = settings_for_helper("");

	settings.config_directories = "mx=/etc/postfix";
	return open_lookup(&settings);
}

static void
without_rights_the_listing_tells(void **state)
{
	struct queue_lookup *lookup;

	write_postqueue(
	    "echo '{\"queue_name\": \"deferred\", \"queue_id\": \"AAAAAA\"}'\n"
	    "echo '{\"queue_name\": \"hold\", \"queue_id\": \"BBBBBB\"}'\n");
	lookup = open_list();
	assert_int_equal(queue_lookup_absences(lookup, "mx"), 3);
	expect(lookup, "BBBBBB", QUEUE_HOLD);
	expect(lookup, "CCCCCC", QUEUE_ABSENT);
	expect(lookup, "AAAAAA", QUEUE_DEFERRED);
	expect(lookup, "no id", QUEUE_UNKNOWN);
	queue_lookup_close(&lookup);
}

static void
a_listing_that_fails_says_nothing_of_what_it_lacks(void **state)
{
	static const char *const failures[] = {
	    "echo '{\"queue_name\": \"hold\", \"queue_id\": \"BBBBBB\"}'\n"
	    "exit 1\n",
	    "echo '{\"queue_name\": \"hold\", \"queue_id\": \"BBBBBB\"}'\n"
	    "printf '{\"queue_name\": \"ac'\n",
	    "echo '{\"queue_name\": \"hold\", \"queue_id\": \"BBBBBB\"}'\n"
	    "echo '{}'\n",
	};

	log_set_level(LOG_LEVEL_ERROR);
	for (size_t i = 0; i < COUNT(failures); i++) {
		struct queue_lookup *lookup;

		write_postqueue(failures[i]);
		lookup = open_list();
		expect(lookup, "AAAAAA", QUEUE_UNKNOWN);
		expect(lookup, "BBBBBB", QUEUE_HOLD);
		queue_lookup_close(&lookup);
	}
}

static void
a_dead_helper_is_followed_by_the_listing(void **state)
{
	char directories[PATH_MAX + 10];
	struct queue_lookup_settings settings =
	    settings_for_helper(directories);
	struct queue_ticket ticket = {.number = 0};
	struct queue_finding finding;
	struct queue_lookup *lookup;

	write_postqueue("");
	snprintf(directories, sizeof(directories), "mx=%s", spool);
	settings.config_directories = "mx=/etc/postfix";
	lookup = open_lookup(&settings);
	assert_int_equal(queue_lookup_absences(lookup, "mx"), 2);
	assert_int_equal(kill(helper_pid(), SIGKILL), 0);
	assert_false(answer_within(lookup, &ticket, &finding, 200));
	assert_int_equal(queue_lookup_absences(lookup, "mx"), 3);
	expect(lookup, "AAAAAA", QUEUE_ABSENT);
	queue_lookup_close(&lookup);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(without_an_instance_nobody_is_asked),
	    TEST(the_helper_tells_where_a_queue_file_is),
	    TEST(many_questions_are_answered_in_their_order),
	    TEST(the_helper_has_no_rights_but_that_users),
	    TEST(the_helper_has_nothing_open_of_ours),
	    TEST(the_helper_ends_with_its_parent),
	    TEST(a_directory_that_is_no_queue_is_refused_at_start),
	    TEST(without_rights_the_listing_tells),
	    TEST(a_listing_that_fails_says_nothing_of_what_it_lacks),
	    TEST(a_dead_helper_is_followed_by_the_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cut off from power at any system call that writes, cuts or syncs, and started
 * again, the writer ends with the same rows, counters and cells as one that was
 * not (I2, I3), though commits do not wait for the disk, and journals are
 * removed meanwhile.
 *
 * The writer runs in a child. Beside the files a model of the disk is kept:
 * what was written since a file was synced is pending, and of that the disk has
 * any part, in sectors, when the power goes. Then the files become what the
 * disk has. Every n-th call in check, each one with POSTLAG_LONG.
 */
#include "tests/lib/fd_path.h"
#include "tests/store/replay_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STEP_IN_CHECK 7
#define SECTOR 512
#define FILES_MAX 16
#define CUT_STATUS 7
#define LEFT ".left"

struct pending {
	off_t offset;
	size_t size;
	uint8_t *data; /* NULL: the file was cut to `offset` */
};

struct disk_file {
	char path[FD_PATH_SIZE];
	uint8_t *data;
	size_t size, data_capacity;
	struct pending *pending;
	size_t count, capacity;
};

/* The child's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct disk_file disk[FILES_MAX];
static size_t disk_files;
static long calls_left; /* 0: the power stays */
static unsigned seed;
static bool is_modelled;

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset);
int ftruncate64(int fd, off64_t size);
int fdatasync(int fd);
int fsync(int fd);

static void
set_size(struct disk_file *file, size_t size)
{
	if (size >= file->data_capacity) {
		file->data_capacity = 2 * size + 1;
		file->data = realloc(file->data, file->data_capacity);
	}
	if (size > file->size)
		memset(file->data + file->size, 0, size - file->size);
	file->size = size;
}

static void
put(struct disk_file *file, size_t offset, const uint8_t *data, size_t size)
{
	if (offset + size > file->size)
		set_size(file, offset + size);
	memcpy(file->data + offset, data, size);
}

/* As it was when the child began. */
static void
load(struct disk_file *file)
{
	int fd = open(file->path, O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		abort();
	set_size(file, (size_t)status.st_size);
	if (pread(fd, file->data, file->size, 0) != (ssize_t)file->size)
		abort();
	close(fd);
}

static bool
is_of_store(const char *path)
{
	size_t size = strlen(path);

	return size > 4 && (strcmp(path + size - 3, ".db") == 0 ||
			       strcmp(path + size - 4, "-wal") == 0);
}

/* NULL: not one of the store's. To be called before something is done to it. */
static struct disk_file *
file_of(int fd)
{
	char path[FD_PATH_SIZE];

	if (!is_modelled || !is_of_store(fd_path(fd, path)))
		return NULL;
	for (size_t i = 0; i < disk_files; i++)
		if (strcmp(disk[i].path, path) == 0)
			return &disk[i];
	if (disk_files == FILES_MAX)
		abort();
	strcpy(disk[disk_files].path, path);
	load(&disk[disk_files]);
	return &disk[disk_files++];
}

static void
add(struct disk_file *file, off_t offset, const void *data, size_t size)
{
	struct pending *last;

	if (file->count == file->capacity) {
		file->capacity = 2 * file->capacity + 16;
		file->pending = realloc(
		    file->pending, file->capacity * sizeof(*file->pending));
	}
	last = &file->pending[file->count++];
	*last = (struct pending){offset, size, NULL};
	if (data == NULL)
		return;
	last->data = malloc(size + 1);
	memcpy(last->data, data, size);
}

static void
apply_pending(struct disk_file *file, bool (*has)(void))
{
	for (size_t i = 0; i < file->count; i++) {
		const struct pending *pending = &file->pending[i];

		if (pending->data == NULL && has())
			set_size(file, (size_t)pending->offset);
		for (size_t at = 0; pending->data != NULL && at < pending->size;
		     at += SECTOR)
			if (has())
				put(file, (size_t)pending->offset + at,
				    pending->data + at,
				    pending->size - at < SECTOR
					? pending->size - at
					: SECTOR);
	}
	for (size_t i = 0; i < file->count; i++)
		free(file->pending[i].data);
	file->count = 0;
}

static bool
all(void)
{
	return true;
}

static bool
none(void)
{
	return false;
}

static bool
some(void)
{
	return rand_r(&seed) % 4 != 0;
}

/* Each file has its own luck. What is left of it stands beside it until nobody
 * has the file open any more. */
static void
lose(struct disk_file *file)
{
	static bool (*const lucks[])(void) = {all, none, some, some};
	char path[FD_PATH_SIZE + sizeof(LEFT)];
	int fd;

	snprintf(path, sizeof(path), "%s" LEFT, file->path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	apply_pending(file, lucks[rand_r(&seed) % COUNT(lucks)]);
	if (fd < 0 || write(fd, file->data, file->size) != (ssize_t)file->size)
		abort();
}

/* Called with the lock, so that nobody writes any more. */
static void
count_call(void)
{
	if (!is_modelled || calls_left == 0 || --calls_left > 0)
		return;
	for (size_t i = 0; i < disk_files; i++)
		lose(&disk[i]);
	_exit(CUT_STATUS);
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	struct disk_file *file;
	ssize_t result;

	pthread_mutex_lock(&lock);
	file = file_of(fd);
	if (file != NULL) {
		add(file, offset, data, size);
		count_call();
	}
	result = syscall(SYS_pwrite64, fd, data, size, offset);
	pthread_mutex_unlock(&lock);
	return result;
}

int
ftruncate64(int fd, off64_t size)
{
	struct disk_file *file;
	int result;

	pthread_mutex_lock(&lock);
	file = file_of(fd);
	if (file != NULL) {
		add(file, size, NULL, 0);
		count_call();
	}
	result = (int)syscall(SYS_ftruncate, fd, size);
	pthread_mutex_unlock(&lock);
	return result;
}

int
fdatasync(int fd)
{
	struct disk_file *file;

	pthread_mutex_lock(&lock);
	file = file_of(fd);
	if (file != NULL) {
		count_call();
		apply_pending(file, all);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int
fsync(int fd)
{
	return fdatasync(fd);
}

/* The machine starts again. */
static void
forget_boot(const struct fixture *fixture)
{
	char path[FIXTURE_PATH_SIZE];
	sqlite3 *database;

	fixture_path(fixture, "control.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	/* There may not be a table yet. */
	sqlite3_exec(database,
	    "UPDATE note SET value = zeroblob(16) WHERE name = 'boot'", NULL,
	    NULL, NULL);
	sqlite3_close(database);
}

/* Shared memory is gone after a power cut, and files are what is left of them.
 */
static void
lose_memory(const struct fixture *fixture)
{
	DIR *directory = opendir(fixture->directory);
	const struct dirent *entry;
	char path[FIXTURE_PATH_SIZE], left[FIXTURE_PATH_SIZE];

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		size_t size = strlen(entry->d_name);

		fixture_path(fixture, entry->d_name, left);
		if (strstr(entry->d_name, "-shm") != NULL)
			unlink(left);
		if (size <= strlen(LEFT) ||
		    strcmp(entry->d_name + size - strlen(LEFT), LEFT) != 0)
			continue;
		strcpy(path, left);
		path[strlen(path) - strlen(LEFT)] = '\0';
		assert_int_equal(rename(left, path), 0);
	}
	closedir(directory);
}

/* Runs the writer in a child whose power goes at the n-th call. Returns whether
 * it came to its end before. */
static bool
run_child(struct fixture *fixture, long call)
{
	pid_t child;
	int status;

	promised();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		is_modelled = true;
		calls_left = call;
		seed = (unsigned)call;
		run_and_exit(fixture);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CUT_STATUS) {
		lose_memory(fixture);
		forget_boot(fixture);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

/* What was shown does not sink. */
static void
assert_shown(struct fixture *fixture)
{
	fixture_open(fixture);
	if (fixture_counted(fixture, COUNTER_MESSAGES) < promised()->shown)
		fail_msg("%lu of %lu messages are left",
		    (unsigned long)fixture_counted(fixture, COUNTER_MESSAGES),
		    (unsigned long)promised()->shown);
	fixture_close(fixture);
}

static void
cut_off_at_any_call_the_writer_ends_the_same(void **state)
{
	const struct interruption cut = {
	    run_child, assert_shown, STEP_IN_CHECK};

	interrupt_at_each(*state, &cut);
}

static long
a_little_later(long cuts)
{
	return 23 + 3 * cuts;
}

static void
cut_off_again_and_again_the_writer_ends_the_same(void **state)
{
	interrupt_again_and_again(*state, run_child, a_little_later);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		cut_off_at_any_call_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	    cmocka_unit_test_setup_teardown(
		cut_off_again_and_again_the_writer_ends_the_same, setup_closed,
		fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

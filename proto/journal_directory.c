/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directory, lock and size of a source's journal. Called by the journal's
 * writer (any thread, under its mutex) and by readers. No state.
 */
#include "proto/journal_directory.h"

#include "base/reason.h"
#include "proto/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_MODE 02770
#define LOCK_NAME "lock"
/* To lock takes the right to write: the directory's group may both. */
#define LOCK_MODE 0660

int
journal_directory_make(
    const char *directory, const char *source, struct reason *reason)
{
	int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = -1, made;

	if (parent < 0)
		return reason_set_errno(reason, "%s", directory);
	made = mkdirat(parent, source, DIRECTORY_MODE);
	if (made != 0 && errno != EEXIST) {
		reason_set_errno(reason, "%s/%s", directory, source);
		goto out;
	}
	fd = openat(parent, source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		reason_set_errno(reason, "%s/%s", directory, source);
	else if (made == 0 && fchmod(fd, DIRECTORY_MODE) != 0)
		reason_set_errno(reason, "mode of %s/%s", directory, source);
out:
	close(parent);
	return fd;
}

int
journal_lock_take(int directory_fd, struct reason *reason)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(directory_fd, LOCK_NAME,
	    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, LOCK_MODE);

	if (fd < 0)
		return reason_set_errno(reason, "the journal's lock");
	/* Whatever the umask; not our file after a change of user. */
	if (fchmod(fd, LOCK_MODE) != 0 && errno != EPERM) {
		reason_set_errno(reason, "mode of the journal's lock");
		goto out;
	}
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return fd;
	if (errno == EAGAIN || errno == EACCES)
		reason_set(reason, "another process writes this journal");
	else
		reason_set_errno(reason, "the journal's lock");
out:
	close(fd);
	return -1;
}

int
journal_lock_is_free(int directory_fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd =
	    openat(directory_fd, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int is_free;

	if (fd < 0)
		return errno == ENOENT;
	is_free = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
	close(fd);
	return is_free;
}

int64_t
journal_directory_bytes(int directory_fd)
{
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	struct stat status;
	int64_t bytes = 0;
	long count = segment_list(directory_fd, &numbers, NULL);

	for (long i = 0; i < count; i++) {
		segment_name(numbers[i], name);
		if (fstatat(directory_fd, name, &status, 0) == 0)
			bytes += status.st_size;
	}
	free(numbers);
	return count < 0 ? -1 : bytes;
}

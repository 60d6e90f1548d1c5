/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From segment to segment of one source. Used by the exporter and the command
 * line, on one thread.
 *
 * A segment is known to be complete when a newer one exists or no writer lives,
 * and that is asked before the last attempt to read more of it, so that nothing
 * written in between is missed.
 */
#include "proto/journal_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/reason.h"
#include "proto/journal_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those that lie behind the one that is read, but for the newest. They do not
 * grow, so that a long journal need not be looked at as a whole each time. */
struct whole_segments {
	uint64_t first, last;
	long count;
	int64_t bytes;
};

struct journal_reader {
	char *source;
	int parent_fd;
	int directory_fd; /* -1: not there yet */
	struct journal_damage damage;
	struct segment_reader *segment;
	bool is_open; /* a segment */
	bool is_complete;
	char name[SEGMENT_NAME_SIZE];
	struct journal_position position;
	uint64_t next_segment;    /* the least number still to be read */
	int64_t failing_since_ns; /* CLOCK_MONOTONIC; 0: reading works */
	struct whole_segments whole;
	bool told_of_older;
};

struct journal_reader *
journal_reader_open(const char *directory, const char *source,
    struct journal_position from, struct reason *reason)
{
	struct journal_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL) {
		reason_set_errno(reason, "reading journal %s", source);
		return NULL;
	}
	reader->directory_fd = -1;
	reader->position = from;
	reader->next_segment = from.segment;
	reader->parent_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	reader->source = strdup(source);
	reader->segment = segment_reader_new(&reader->damage);
	if (reader->parent_fd < 0) {
		reason_set_errno(reason, "%s", directory);
		journal_reader_free(&reader);
	} else if (reader->source == NULL || reader->segment == NULL) {
		reason_set_errno(reason, "reading journal %s", source);
		journal_reader_free(&reader);
	}
	return reader;
}

/* Returns 1, 0 when the source has no directory yet, -1. */
static int
open_directory(struct journal_reader *reader, struct reason *reason)
{
	struct stat status;

	if (reader->directory_fd >= 0 &&
	    fstat(reader->directory_fd, &status) == 0 && status.st_nlink > 0)
		return 1;
	if (reader->directory_fd >= 0)
		close(reader->directory_fd);
	reader->whole.count = 0;
	reader->directory_fd = openat(reader->parent_fd, reader->source,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->directory_fd >= 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	return reason_set_errno(reason, "journal %s", reader->source);
}

/* Whether this failure, and no success since, is an old one. */
static bool
has_failed_for_long(struct journal_reader *reader)
{
	int64_t now_ns = clock_stamp().monotonic_ns;

	if (reader->failing_since_ns == 0)
		reader->failing_since_ns = now_ns;
	return now_ns - reader->failing_since_ns >= JOURNAL_UNREADABLE_NS;
}

/* A lack of our own passes, and so may a disk's failure; anything else lies in
 * the file. */
static bool
may_pass(struct journal_reader *reader, int error)
{
	if (error == EIO)
		return !has_failed_for_long(reader);
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == EINTR;
}

static int
open_regular(int directory_fd, const char *name)
{
	struct stat status;
	int fd = openat(
	    directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* What is behind the position is counted once; so is a segment that cannot be
 * read, even the newest. */
static void
pass_over(struct journal_reader *reader, uint64_t number, int error)
{
	log_warn("journal=%s segment=%s reason=unreadable: %s", reader->source,
	    reader->name, strerror(error));
	reader->damage.segments++;
	if (number > reader->position.segment)
		reader->position = (struct journal_position){number, 0};
}

/* Returns 1 when the segment is open, 0 when there is nothing in it for us, -1
 * when it may be tried again. */
static int
open_segment(
    struct journal_reader *reader, uint64_t number, struct reason *reason)
{
	struct journal_position from = {number, 0};
	int fd;

	segment_name(number, reader->name);
	fd = open_regular(reader->directory_fd, reader->name);
	if (fd < 0 && may_pass(reader, errno))
		return reason_set_errno(
		    reason, "journal %s: %s", reader->source, reader->name);
	reader->failing_since_ns = 0;
	reader->next_segment = number;
	if (fd < 0) {
		/* Removed since it was listed: that is no damage. */
		if (errno != ENOENT)
			pass_over(reader, number, errno);
		reader->next_segment++;
		return 0;
	}
	if (number == reader->position.segment)
		from.offset = reader->position.offset;
	segment_reader_begin(reader->segment, fd, from, reader->name);
	reader->is_open = true;
	reader->is_complete = false;
	return 1;
}

/* Numbers only grow, and the newest segment is never removed by us. */
static void
warn_of_older(struct journal_reader *reader, uint64_t newest)
{
	if (newest >= reader->position.segment || reader->told_of_older)
		return;
	reader->told_of_older = true;
	log_error("journal=%s reason=all segments are older than what was "
		  "read before; they are not read",
	    reader->source);
}

/* Opens the next segment. Returns 1, 0 when there is none yet, -1. */
static int
advance(struct journal_reader *reader, struct reason *reason)
{
	uint64_t *numbers;
	long count;
	int result = open_directory(reader, reason);

	if (result != 1)
		return result;
	count = segment_list(reader->directory_fd, &numbers, reason);
	if (count > 0)
		warn_of_older(reader, numbers[count - 1]);
	result = count < 0 ? -1 : 0;
	for (long i = 0; i < count && result == 0; i++)
		if (numbers[i] >= reader->next_segment)
			result = open_segment(reader, numbers[i], reason);
	free(numbers);
	return result;
}

/* Whether nothing more will be written to the open segment. */
static bool
ask_complete(const struct journal_reader *reader)
{
	uint64_t *numbers;
	long count = segment_list(reader->directory_fd, &numbers, NULL);
	bool newer = count > 0 && numbers[count - 1] > reader->next_segment;

	free(numbers);
	return newer || journal_lock_is_free(reader->directory_fd);
}

/* As segment_reader_next(), but for what has been unreadable for too long. */
static int
next_record(struct journal_reader *reader, struct journal_record *record_r,
    struct reason *reason)
{
	int result;

	do {
		result = segment_reader_next(
		    reader->segment, reader->is_complete, record_r, reason);
		if (result != -1)
			reader->failing_since_ns = 0;
	} while (result == -1 && has_failed_for_long(reader) &&
		 segment_reader_give_up_unreadable(reader->segment));
	return result;
}

/* Reads from the open segment. Returns 1 with a record, 0 when nothing more is
 * there and more may come, -1; and 0 with the segment closed at its end. */
static int
read_segment(struct journal_reader *reader, struct journal_record *record_r,
    struct reason *reason)
{
	int result;

	for (;;) {
		result = next_record(reader, record_r, reason);
		reader->position = segment_reader_position(reader->segment);
		if (result != 0 || segment_reader_has_ended(reader->segment))
			break;
		reader->is_complete = ask_complete(reader);
		if (!reader->is_complete)
			return 0;
	}
	if (result == 0) {
		segment_reader_end(reader->segment);
		reader->is_open = false;
		reader->next_segment++;
	}
	return result;
}

int
journal_reader_next(struct journal_reader *reader,
    struct journal_record *record_r, struct reason *reason)
{
	int result;

	for (;;) {
		if (!reader->is_open) {
			result = advance(reader, reason);
			if (result != 1)
				return result;
		}
		result = read_segment(reader, record_r, reason);
		if (result != 0 || reader->is_open)
			return result;
	}
}

struct journal_position
journal_reader_position(const struct journal_reader *reader)
{
	return reader->position;
}

const struct journal_damage *
journal_reader_damage(const struct journal_reader *reader)
{
	return &reader->damage;
}

/* The size of a segment, or -1 with errno. */
static int64_t
segment_bytes(const struct journal_reader *reader, uint64_t number)
{
	char name[SEGMENT_NAME_SIZE];
	struct stat status;

	segment_name(number, name);
	if (fstatat(reader->directory_fd, name, &status, 0) != 0)
		return -1;
	return status.st_size;
}

static int64_t
unread_bytes(const struct journal_reader *reader, uint64_t number)
{
	int64_t bytes = segment_bytes(reader, number);

	if (number == reader->position.segment)
		bytes -= (int64_t)reader->position.offset;
	return bytes > 0 ? bytes : 0;
}

static int64_t
whole_bytes(struct journal_reader *reader, const uint64_t *numbers, long count)
{
	struct whole_segments *whole = &reader->whole;

	if (count <= 0)
		return 0;
	if (whole->count == count && whole->first == numbers[0] &&
	    whole->last == numbers[count - 1])
		return whole->bytes;
	*whole = (struct whole_segments){
	    .first = numbers[0], .last = numbers[count - 1], .count = count};
	for (long i = 0; i < count; i++)
		whole->bytes += unread_bytes(reader, numbers[i]);
	return whole->bytes;
}

int64_t
journal_reader_behind_bytes(struct journal_reader *reader)
{
	int result = open_directory(reader, NULL);
	uint64_t *numbers;
	int64_t behind = 0;
	long count, first = 0;

	if (result != 1)
		return result;
	count = segment_list(reader->directory_fd, &numbers, NULL);
	while (first < count && numbers[first] < reader->next_segment)
		first++;
	if (first < count)
		behind =
		    unread_bytes(reader, numbers[first]) +
		    whole_bytes(reader, numbers + first + 1, count - first - 2);
	if (first + 1 < count)
		behind += unread_bytes(reader, numbers[count - 1]);
	free(numbers);
	return count < 0 ? -1 : behind;
}

static bool
lies_behind(const struct journal_reader *reader, uint64_t number,
    struct journal_position position)
{
	if (number != position.segment)
		return number < position.segment;
	return segment_bytes(reader, number) <= (int64_t)position.offset;
}

int
journal_reader_remove(struct journal_reader *reader,
    struct journal_position position, struct reason *reason)
{
	int result = open_directory(reader, reason), removed = 0;
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers;
	long count;

	if (result != 1)
		return result;
	count = segment_list(reader->directory_fd, &numbers, reason);
	result = count < 0 ? -1 : 0;
	for (long i = 0; i < count - 1; i++) {
		if (!lies_behind(reader, numbers[i], position))
			break;
		segment_name(numbers[i], name);
		if (unlinkat(reader->directory_fd, name, 0) == 0)
			removed++;
		else if (errno != ENOENT)
			result = reason_set_errno(reason,
			    "cannot remove %s of journal %s", name,
			    reader->source);
	}
	free(numbers);
	return result != 0 ? -1 : removed;
}

void
journal_reader_free(struct journal_reader **reader)
{
	if (*reader == NULL)
		return;
	segment_reader_free(&(*reader)->segment);
	if ((*reader)->directory_fd >= 0)
		close((*reader)->directory_fd);
	if ((*reader)->parent_fd >= 0)
		close((*reader)->parent_fd);
	free((*reader)->source);
	free(*reader);
	*reader = NULL;
}

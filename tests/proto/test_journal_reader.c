/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading while it is written, from anywhere, whatever is in the way. */
#include "tests/proto/journal_fixture.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/event_codec.h"
#include "proto/frame.h"
#include "proto/journal_directory.h"
#include "proto/segment_file.h"

#include <grp.h>
#include <sys/wait.h>

#define NOBODY 65534

/* A writer in slow motion: takes the lock and appends bytes as told. */
struct hand {
	int directory_fd;
	int lock_fd;
	struct arena *scratch;
	struct buffer bytes;
	struct segment_header header;
	struct segment_file file;
};

static void
hand_segment(struct hand *hand)
{
	hand->header = (struct segment_header){
	    .source = SOURCE, .instance = "i", .program = "hand"};
	if (hand->file.fd >= 0)
		close(hand->file.fd);
	assert_int_equal(segment_file_create(hand->directory_fd, &hand->header,
			     hand->scratch, &hand->bytes, &hand->file, NULL),
	    0);
}

static void
hand_begin(struct fixture *fixture, struct hand *hand)
{
	*hand = (struct hand){.scratch = arena_new(1 << 20), .file.fd = -1};
	hand->directory_fd =
	    journal_directory_make(fixture->directory, SOURCE, NULL);
	hand->lock_fd = journal_lock_take(hand->directory_fd, NULL);
	assert_true(hand->lock_fd >= 0);
	hand_segment(hand);
	fixture_read(fixture);
}

static void
hand_unlock(struct hand *hand)
{
	if (hand->lock_fd >= 0)
		close(hand->lock_fd);
	hand->lock_fd = -1;
}

static void
hand_end(struct hand *hand)
{
	hand_unlock(hand);
	close(hand->file.fd);
	close(hand->directory_fd);
	arena_free(&hand->scratch);
	buffer_free(&hand->bytes);
}

/* Frames a payload; it is then in hand->bytes. */
static void
hand_frame(struct hand *hand, const void *payload, size_t size)
{
	buffer_clear(&hand->bytes);
	buffer_reserve(&hand->bytes, FRAME_HEADER_BYTES);
	buffer_append(&hand->bytes, payload, size);
	frame_seal(&hand->bytes, 0, hand->file.seed);
}

static void
hand_event(struct hand *hand, uint64_t number)
{
	struct buffer payload = {0};
	struct event event;

	fixture_event(&event, number);
	arena_reset(hand->scratch);
	assert_int_equal(event_encode(&event, hand->scratch, &payload), 0);
	hand_frame(hand, payload.data, payload.size);
	buffer_free(&payload);
}

static void
hand_write(struct hand *hand, size_t from, size_t to)
{
	assert_int_equal(segment_file_append(
			     &hand->file, hand->bytes.data + from, to - from),
	    1);
}

static void
hand_append(struct hand *hand, uint64_t number)
{
	hand_event(hand, number);
	hand_write(hand, 0, hand->bytes.size);
}

static void
expect_next(struct fixture *fixture, uint64_t number)
{
	assert_non_null(fixture_next(fixture));
	assert_int_equal(fixture_number(&fixture->record.event), number);
}

/* Following. */

static void
waits_for_what_does_not_exist_yet(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer;

	fixture_read(fixture);
	for (int i = 0; i < 3; i++)
		assert_null(fixture_next(fixture));
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
	assert_int_equal(journal_reader_remove(fixture->reader,
			     journal_reader_position(fixture->reader), NULL),
	    0);
	writer = fixture_open(fixture);
	for (uint64_t i = 0; i < 10; i++) {
		fixture_append(writer, i);
		assert_non_null(fixture_next_event(fixture));
		assert_int_equal(fixture_number(&fixture->record.event), i);
		assert_null(fixture_next_event(fixture));
	}
	journal_writer_close(&writer);
}

static void
a_missing_directory_of_journals_is_an_error(void **state)
{
	struct reason reason = {""};

	assert_null(journal_reader_open("/nonexistent/journal", SOURCE,
	    (struct journal_position){0, 0}, &reason));
	assert_non_null(strstr(reason.text, "/nonexistent/journal"));
}

static void
a_record_half_written_is_not_yet_there(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;

	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	hand_event(&hand, 1);
	expect_next(fixture, 0);
	for (size_t i = 0; i < hand.bytes.size; i++) {
		assert_null(fixture_next(fixture));
		hand_write(&hand, i, i + 1);
	}
	expect_next(fixture, 1);
	assert_null(fixture_next(fixture));
	assert_true(fixture_is_undamaged(fixture));
	hand_end(&hand);
}

/* What a full disk leaves is cut off, and something else comes there. */
static void
a_record_cut_off_and_another_in_its_place(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;
	uint64_t boundary;

	hand_begin(fixture, &hand);
	for (uint64_t i = 0; i < 200; i++) {
		boundary = hand.file.bytes;
		hand_event(&hand, 1000 + i);
		hand_write(&hand, 0, 1 + i % (hand.bytes.size - 1));
		assert_null(fixture_next(fixture));
		assert_int_equal(ftruncate(hand.file.fd, (off_t)boundary), 0);
		hand.file.bytes = boundary;
		if (i % 2 == 0)
			assert_null(fixture_next(fixture));
		hand_append(&hand, i);
		expect_next(fixture, i);
	}
	assert_true(fixture_is_undamaged(fixture));
	hand_end(&hand);
}

static void
a_torn_tail_is_final_when_the_writer_has_died(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;

	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	hand_event(&hand, 1);
	hand_write(&hand, 0, hand.bytes.size / 2);
	expect_next(fixture, 0);
	for (int i = 0; i < 3; i++)
		assert_null(fixture_next(fixture));
	assert_int_equal(fixture_damage(fixture)->torn, 0);
	hand_unlock(&hand);
	for (int i = 0; i < 3; i++)
		assert_null(fixture_next(fixture));
	assert_int_equal(fixture_damage(fixture)->torn, 1);
	assert_int_equal(fixture_damage(fixture)->bytes, hand.bytes.size / 2);
	hand_end(&hand);
	fixture_write(fixture, 3);
	assert_int_equal(fixture_expect_from(fixture, 0), 3);
	assert_int_equal(fixture_damage(fixture)->torn, 1);
}

static void
a_torn_tail_is_final_when_there_is_a_newer_segment(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;

	hand_begin(fixture, &hand);
	hand_event(&hand, 0);
	hand_write(&hand, 0, 5);
	assert_null(fixture_next(fixture));
	hand_segment(&hand);
	hand_append(&hand, 1);
	expect_next(fixture, 1);
	assert_int_equal(fixture_damage(fixture)->torn, 1);
	hand_end(&hand);
}

static void
what_was_written_just_before_a_new_segment_is_not_missed(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;

	hand_begin(fixture, &hand);
	for (uint64_t i = 0; i < 50; i += 2) {
		hand_append(&hand, i);
		expect_next(fixture, i);
		assert_null(fixture_next(fixture));
		hand_append(&hand, i + 1);
		hand_segment(&hand);
		expect_next(fixture, i + 1);
	}
	assert_true(fixture_is_undamaged(fixture));
	hand_end(&hand);
}

static void
damage_at_the_end_of_a_living_segment_costs_no_later_record(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;
	size_t half;

	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	hand_event(&hand, 1);
	hand.bytes.data[FRAME_HEADER_BYTES + 1]++;
	hand_write(&hand, 0, hand.bytes.size);
	hand_event(&hand, 2);
	half = hand.bytes.size / 2;
	hand_write(&hand, 0, half);
	expect_next(fixture, 0);
	assert_null(fixture_next(fixture));
	hand_write(&hand, half, hand.bytes.size);
	expect_next(fixture, 2);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	hand_end(&hand);
}

static void
frames_forged_inside_a_torn_record_are_never_read(void **state)
{
	struct fixture *fixture = *state;
	struct buffer forged = {0};
	struct hand hand;
	uint64_t seed;

	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	/* A whole frame with an event, under seeds that can be guessed. */
	seed = hand.file.seed;
	for (uint64_t guess = 0; guess < 50; guess++) {
		hand.file.seed = guess;
		hand_event(&hand, 666);
		buffer_append(&forged, hand.bytes.data, hand.bytes.size);
	}
	hand.file.seed = seed;
	hand_frame(&hand, forged.data, forged.size);
	hand_write(&hand, 0, hand.bytes.size - 1);
	hand_segment(&hand);
	hand_frame(&hand, forged.data, forged.size);
	hand.bytes.data[0]++;
	hand_write(&hand, 0, hand.bytes.size);
	hand_append(&hand, 1);
	expect_next(fixture, 0);
	expect_next(fixture, 1);
	assert_int_equal(fixture_damage(fixture)->torn, 1);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	buffer_free(&forged);
	hand_end(&hand);
}

static void
events_of_unknown_kinds_are_passed_over(void **state)
{
	static const uint8_t unknown[] = {0x7a, 2, 'h', 'i'};
	static const uint8_t garbage[] = {0x0a, 200, 1};
	struct fixture *fixture = *state;
	struct hand hand;

	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	hand_frame(&hand, unknown, sizeof(unknown));
	hand_write(&hand, 0, hand.bytes.size);
	hand_append(&hand, 1);
	expect_next(fixture, 0);
	expect_next(fixture, 1);
	assert_true(fixture_is_undamaged(fixture));
	/* A frame that is whole and no event at all is damage. */
	hand_frame(&hand, garbage, sizeof(garbage));
	hand_write(&hand, 0, hand.bytes.size);
	hand_append(&hand, 2);
	expect_next(fixture, 2);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	hand_end(&hand);
}

/* Positions. */

static void
goes_on_behind_any_record(void **state)
{
	struct fixture *fixture = *state;
	struct journal_position positions[60];
	size_t count = 0;

	fixture->settings.segment_bytes = 2000;
	fixture_write(fixture, 50);
	fixture_read(fixture);
	positions[count++] = journal_reader_position(fixture->reader);
	while (fixture_next_event(fixture) != NULL)
		positions[count++] = fixture->record.position;
	assert_int_equal(count, 51);
	assert_true(fixture_segment_count(fixture) > 3);
	for (size_t i = 0; i < count; i++) {
		fixture_read_from(fixture, positions[i]);
		assert_int_equal(fixture_expect_from(fixture, i), 50);
		assert_true(fixture_is_undamaged(fixture));
		assert_true(journal_position_compare(positions[i],
				journal_reader_position(fixture->reader)) <= 0);
	}
}

/* A power cut took what had been read, or the position is from elsewhere. */
static void
a_position_that_fits_nowhere_goes_on_with_what_follows(void **state)
{
	struct fixture *fixture = *state;
	struct journal_position inside = {0, 0};
	uint64_t *numbers;
	int fd;

	fixture_write(fixture, 10);
	fixture_write(fixture, 20);
	assert_int_equal(fixture_segments(fixture, &numbers), 2);
	/* Beyond the end. */
	fixture_read_from(
	    fixture, (struct journal_position){numbers[0], 1 << 30});
	assert_int_equal(fixture_expect_from(fixture, 0), 20);
	assert_true(fixture_is_undamaged(fixture));
	/* In a segment that is gone, before one that is there. */
	fixture_read_from(
	    fixture, (struct journal_position){numbers[1] - 1, 700});
	assert_int_equal(fixture_expect_from(fixture, 0), 20);
	/* In the middle of a record. */
	fixture_read(fixture);
	while (fixture_next(fixture) != NULL &&
	       fixture_number(&fixture->record.event) != 4)
		inside = fixture->record.position;
	inside.offset += 5;
	fixture_read_from(fixture, inside);
	expect_next(fixture, 5);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	/* In the header. */
	fixture_read_from(fixture, (struct journal_position){numbers[1], 7});
	assert_int_equal(fixture_expect_from(fixture, 0), 20);
	/* The segment was cut below the position meanwhile. */
	fixture_read(fixture);
	fixture_next(fixture);
	fd = fixture_segment_fd(fixture, 0);
	inside = fixture->record.position;
	assert_int_equal(ftruncate(fd, (off_t)inside.offset - 10), 0);
	close(fd);
	fixture_read_from(fixture, inside);
	assert_int_equal(fixture_expect_from(fixture, 0), 20);
	free(numbers);
}

/* Segments in the way. */

static void
segments_that_cannot_be_read_are_counted_and_passed_over(void **state)
{
	static const struct {
		const char *name;
		const char *text;
	} files[] = {
	    {"0000000000000001.journal", ""},
	    {"0000000000000002.journal", "garbage"},
	    {"0000000000000003.journal", NULL}, /* a directory */
	};
	struct fixture *fixture = *state;
	char garbage[10000];
	int directory_fd, fd;

	fixture_write(fixture, 5);
	directory_fd = fixture_source_fd(fixture);
	for (size_t i = 0; i < COUNT(files); i++) {
		if (files[i].text == NULL) {
			mkdirat(directory_fd, files[i].name, 0700);
			continue;
		}
		fd = openat(
		    directory_fd, files[i].name, O_CREAT | O_WRONLY, 0600);
		assert_true(
		    write(fd, files[i].text, strlen(files[i].text)) >= 0);
		close(fd);
	}
	memset(garbage, 0xf5, sizeof(garbage));
	fd = openat(
	    directory_fd, "0000000000000004.journal", O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, garbage, sizeof(garbage)), sizeof(garbage));
	close(fd);
	assert_int_equal(
	    mkfifoat(directory_fd, "0000000000000005.journal", 0600), 0);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 5);
	/* All but the empty one. */
	assert_int_equal(fixture_damage(fixture)->segments, 4);
	close(directory_fd);
}

/* Damage counts up to a position, which therefore must move. */
static void
the_newest_one_that_cannot_be_read_is_told_by_the_position(void **state)
{
	static const uint64_t number = UINT64_C(0x00ffffffffffffff);
	struct fixture *fixture = *state;
	char name[SEGMENT_NAME_SIZE];
	struct journal_position position;
	int directory_fd;

	fixture_write(fixture, 5);
	directory_fd = fixture_source_fd(fixture);
	segment_name(number, name);
	assert_int_equal(mkdirat(directory_fd, name, 0700), 0);
	close(directory_fd);
	fixture_read(fixture);
	for (int i = 0; i < 2; i++) {
		fixture_expect_from(fixture, 0);
		assert_int_equal(fixture_damage(fixture)->segments, 1);
		position = journal_reader_position(fixture->reader);
		assert_int_equal(position.segment, number);
		assert_int_equal(position.offset, 0);
	}
}

static void
a_segment_of_a_newer_format_is_passed_over(void **state)
{
	struct fixture *fixture = *state;
	struct segment_header header = {.format = SEGMENT_FORMAT + 1};
	struct arena *scratch = arena_new(10000);
	struct buffer bytes = {0};
	int directory_fd, fd;

	fixture_write(fixture, 5);
	directory_fd = fixture_source_fd(fixture);
	assert_int_equal(segment_header_write(&header, scratch, &bytes), 0);
	fd = openat(
	    directory_fd, "0000000000000001.journal", O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
	close(fd);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 5);
	assert_int_equal(fixture_damage(fixture)->segments, 1);
	close(directory_fd);
	arena_free(&scratch);
	buffer_free(&bytes);
}

/* As another user with the group's rights, one segment being closed to it. */
static int
read_as_nobody(struct fixture *fixture, struct hand *hand)
{
	if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 ||
	    setuid(NOBODY) != 0)
		return 1;
	/* The parents of the directory may be closed. */
	strcpy(fixture->directory, ".");
	fixture_read(fixture);
	expect_next(fixture, 1);
	if (fixture_next(fixture) != NULL ||
	    fixture_damage(fixture)->segments != 1)
		return 2;
	return journal_lock_is_free(hand->directory_fd) ? 3 : 0;
}

static void
another_user_reads_and_sees_that_the_writer_lives(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;
	int status;
	pid_t child;

	if (getuid() != 0)
		skip();
	assert_int_equal(chown(fixture->directory, 0, NOBODY), 0);
	assert_int_equal(chmod(fixture->directory, 02750), 0);
	hand_begin(fixture, &hand);
	hand_append(&hand, 0);
	assert_int_equal(fchmod(hand.file.fd, 0600), 0);
	hand_segment(&hand);
	hand_append(&hand, 1);
	child = fork();
	if (child == 0) {
		if (chdir(fixture->directory) != 0)
			_exit(9);
		_exit(read_as_nobody(fixture, &hand));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	hand_unlock(&hand);
	assert_true(journal_lock_is_free(hand.directory_fd));
	hand_end(&hand);
}

/* Removing. */

static void
removal_keeps_the_newest_and_what_is_not_read(void **state)
{
	struct fixture *fixture = *state;
	struct journal_position position = {0, 0};
	uint64_t number = 0;

	fixture->settings.segment_bytes = 3000;
	fixture_write(fixture, 100);
	fixture_read(fixture);
	assert_int_equal(
	    journal_reader_remove(fixture->reader, position, NULL), 0);
	while (fixture_next_event(fixture) != NULL) {
		assert_true(journal_reader_behind_bytes(fixture->reader) >= 0);
		position = fixture->record.position;
		assert_true(journal_reader_remove(
				fixture->reader, position, NULL) <= 1);
		assert_int_equal(
		    fixture_number(&fixture->record.event), number++);
	}
	assert_int_equal(number, 100);
	position = journal_reader_position(fixture->reader);
	position.offset = UINT64_MAX;
	journal_reader_remove(fixture->reader, position, NULL);
	assert_int_equal(fixture_segment_count(fixture), 1);
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
	assert_true(fixture_is_undamaged(fixture));
	position.segment = UINT64_MAX;
	assert_int_equal(
	    journal_reader_remove(fixture->reader, position, NULL), 0);
}

static void
segments_removed_under_our_feet_are_no_damage(void **state)
{
	struct fixture *fixture = *state;
	char name[SEGMENT_NAME_SIZE];
	uint64_t *numbers, last = 0;
	int directory_fd;
	long count;

	fixture->settings.segment_bytes = 1000;
	fixture->settings.sync_interval_ns = 0;
	fixture_write(fixture, 100);
	fixture_read(fixture);
	assert_non_null(fixture_next_event(fixture));
	count = fixture_segments(fixture, &numbers);
	directory_fd = fixture_source_fd(fixture);
	for (long i = 0; i < count - 1; i++) {
		segment_name(numbers[i], name);
		assert_int_equal(unlinkat(directory_fd, name, 0), 0);
	}
	while (fixture_next_event(fixture) != NULL)
		last = fixture_number(&fixture->record.event);
	assert_int_equal(last, 99);
	assert_true(fixture_is_undamaged(fixture));
	free(numbers);
	close(directory_fd);
}

static void
a_directory_made_anew_is_found_again(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 16];

	fixture_write(fixture, 3);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 3);
	snprintf(path, sizeof(path), "%s/" SOURCE, fixture->directory);
	nftw(path, fixture_unlink, 16, FTW_DEPTH | FTW_PHYS);
	assert_null(fixture_next(fixture));
	fixture_write(fixture, 4);
	assert_int_equal(fixture_expect_from(fixture, 0), 4);
}

static void
behind_bytes_tell_what_is_left_to_read(void **state)
{
	struct fixture *fixture = *state;
	struct hand hand;
	int64_t size;

	hand_begin(fixture, &hand);
	assert_null(fixture_next(fixture));
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
	hand_append(&hand, 0);
	size = (int64_t)hand.bytes.size;
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), size);
	hand_segment(&hand);
	size += (int64_t)hand.file.bytes;
	hand_append(&hand, 1);
	size += (int64_t)hand.bytes.size;
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), size);
	expect_next(fixture, 0);
	expect_next(fixture, 1);
	assert_int_equal(journal_reader_behind_bytes(fixture->reader), 0);
	hand_end(&hand);
}

static void
a_record_larger_than_the_buffer_is_read(void **state)
{
	struct fixture *fixture = *state;
	struct journal_writer *writer = fixture_open(fixture);
	struct event event = {.type = EVENT_MESSAGE};
	char *helo = malloc(3 << 20);

	event.message.helo = helo;
	memset(helo, 'h', 3 << 20);
	for (size_t size = 100000; size < 3 << 20; size += 300000) {
		helo[size] = '\0';
		assert_int_equal(
		    journal_writer_append(writer, &event, JOURNAL_SHARE_ALL),
		    1);
		helo[size] = 'h';
	}
	journal_writer_close(&writer);
	fixture_read(fixture);
	for (size_t size = 100000; size < 3 << 20; size += 300000) {
		assert_non_null(fixture_next_event(fixture));
		assert_int_equal(
		    strlen(fixture->record.event.message.helo), size);
	}
	assert_null(fixture_next_event(fixture));
	assert_true(fixture_is_undamaged(fixture));
	free(helo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(waits_for_what_does_not_exist_yet),
	    FIXTURE_TEST(a_missing_directory_of_journals_is_an_error),
	    FIXTURE_TEST(a_record_half_written_is_not_yet_there),
	    FIXTURE_TEST(a_record_cut_off_and_another_in_its_place),
	    FIXTURE_TEST(a_torn_tail_is_final_when_the_writer_has_died),
	    FIXTURE_TEST(a_torn_tail_is_final_when_there_is_a_newer_segment),
	    FIXTURE_TEST(
		what_was_written_just_before_a_new_segment_is_not_missed),
	    FIXTURE_TEST(
		damage_at_the_end_of_a_living_segment_costs_no_later_record),
	    FIXTURE_TEST(frames_forged_inside_a_torn_record_are_never_read),
	    FIXTURE_TEST(events_of_unknown_kinds_are_passed_over),
	    FIXTURE_TEST(goes_on_behind_any_record),
	    FIXTURE_TEST(
		a_position_that_fits_nowhere_goes_on_with_what_follows),
	    FIXTURE_TEST(
		segments_that_cannot_be_read_are_counted_and_passed_over),
	    FIXTURE_TEST(
		the_newest_one_that_cannot_be_read_is_told_by_the_position),
	    FIXTURE_TEST(a_segment_of_a_newer_format_is_passed_over),
	    FIXTURE_TEST(another_user_reads_and_sees_that_the_writer_lives),
	    FIXTURE_TEST(removal_keeps_the_newest_and_what_is_not_read),
	    FIXTURE_TEST(segments_removed_under_our_feet_are_no_damage),
	    FIXTURE_TEST(a_directory_made_anew_is_found_again),
	    FIXTURE_TEST(behind_bytes_tell_what_is_left_to_read),
	    FIXTURE_TEST(a_record_larger_than_the_buffer_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

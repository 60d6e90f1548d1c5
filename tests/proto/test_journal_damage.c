/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A journal cut at every byte offset, and with each one byte of it changed:
 * every whole record before the damage is read, those behind it too, and the
 * damage is counted (must show 11).
 *
 * Each damaged journal is read from shortly before the damage to shortly behind
 * it, and some from beginning to end; more of them with POSTLAG_LONG.
 */
#include "tests/proto/journal_fixture.h"

#define EVENTS 300
#define NEAR 3       /* records */
#define FULL_EACH 89 /* offsets */
#define FULL_EACH_LONG 5

struct place {
	uint64_t begin;
	uint64_t end;
	uint64_t number;
};

struct journal {
	struct place places[EVENTS + 2]; /* with first and last heartbeat */
	size_t count;
	uint64_t size;
	uint64_t segment;
	uint64_t header_bytes;
	int fd;
	uint64_t full_each;
};

static void
make_journal(struct fixture *fixture, struct journal *journal)
{
	const struct journal_record *record;

	memset(journal, 0, sizeof(*journal));
	journal->full_each =
	    getenv("POSTLAG_LONG") != NULL ? FULL_EACH_LONG : FULL_EACH;
	fixture_write(fixture, EVENTS);
	fixture_read(fixture);
	while ((record = fixture_next(fixture)) != NULL)
		journal->places[journal->count++] = (struct place){
		    record->offset,
		    record->position.offset,
		    fixture_number(&record->event),
		};
	assert_int_equal(journal->count, EVENTS + 2);
	assert_true(fixture_is_undamaged(fixture));
	journal->segment = journal_reader_position(fixture->reader).segment;
	journal->header_bytes = journal->places[0].begin;
	journal->fd = fixture_segment_fd(fixture, 0);
	journal->size = (uint64_t)fixture_size(journal->fd);
}

/* The record in which the offset lies; `count` for the very end. */
static size_t
record_at(const struct journal *journal, uint64_t offset)
{
	size_t i = 0;

	while (i < journal->count && journal->places[i].end <= offset)
		i++;
	return i;
}

/* Reads the records from `first` on to (not including) `end`, of which all but
 * `missing` must come back as they were. Returns whether `end` was reached. */
static void
expect_records(struct fixture *fixture, const struct journal *journal,
    size_t first, size_t end, size_t missing)
{
	const struct journal_record *record;

	for (size_t i = first; i < end; i++) {
		if (i == missing)
			continue;
		record = fixture_next(fixture);
		assert_non_null(record);
		assert_int_equal(record->offset, journal->places[i].begin);
		assert_int_equal(
		    record->position.offset, journal->places[i].end);
		assert_int_equal(
		    fixture_number(&record->event), journal->places[i].number);
	}
	if (end == journal->count)
		assert_null(fixture_next(fixture));
}

static void
read_around(struct fixture *fixture, const struct journal *journal,
    uint64_t offset, size_t *first_r, size_t *end_r)
{
	size_t at = record_at(journal, offset);
	bool full = offset % journal->full_each == 0;

	*first_r = full || at < NEAR ? 0 : at - NEAR;
	*end_r =
	    full || at + NEAR > journal->count ? journal->count : at + NEAR;
	if (*first_r == 0)
		fixture_read(fixture);
	else
		fixture_read_from(
		    fixture, (struct journal_position){journal->segment,
				 journal->places[*first_r].begin});
}

static void
cut_anywhere_it_keeps_every_whole_record(void **state)
{
	struct fixture *fixture = *state;
	struct journal journal;
	const struct journal_damage *damage;
	size_t first, end, torn;

	make_journal(fixture, &journal);
	for (uint64_t size = journal.size; size-- > 0;) {
		assert_int_equal(ftruncate(journal.fd, (off_t)size), 0);
		torn = record_at(&journal, size);
		read_around(fixture, &journal, size, &first, &end);
		damage = fixture_damage(fixture);
		if (size < journal.header_bytes) {
			assert_null(fixture_next(fixture));
			assert_int_equal(damage->segments, size > 0);
			continue;
		}
		expect_records(fixture, &journal, first, torn, journal.count);
		assert_null(fixture_next(fixture));
		assert_int_equal(
		    damage->torn, size > journal.places[torn].begin);
		assert_int_equal(
		    damage->bytes, size - journal.places[torn].begin);
		assert_int_equal(damage->records, 0);
		assert_int_equal(damage->segments, 0);
	}
	close(journal.fd);
}

/* Changes one byte to another value, a different kind of change each time. */
static uint8_t
flip(const struct journal *journal, uint64_t offset)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x10, 0x02};
	uint8_t byte, flipped;

	assert_int_equal(pread(journal->fd, &byte, 1, (off_t)offset), 1);
	flipped = byte ^ masks[offset % COUNT(masks)];
	assert_int_equal(pwrite(journal->fd, &flipped, 1, (off_t)offset), 1);
	return byte;
}

static void
a_changed_byte_costs_one_record(void **state)
{
	struct fixture *fixture = *state;
	struct journal journal;
	const struct journal_damage *damage;
	const struct place *place;
	size_t first, end, hit;
	uint8_t byte;

	make_journal(fixture, &journal);
	for (uint64_t at = journal.header_bytes; at < journal.size; at++) {
		byte = flip(&journal, at);
		hit = record_at(&journal, at);
		place = &journal.places[hit];
		read_around(fixture, &journal, at, &first, &end);
		expect_records(fixture, &journal, first, end, hit);
		damage = fixture_damage(fixture);
		if (hit == journal.count - 1)
			assert_null(fixture_next(fixture));
		assert_int_equal(damage->records + damage->torn, 1);
		assert_int_equal(damage->bytes, place->end - place->begin);
		assert_int_equal(damage->headers + damage->segments, 0);
		/* Only in the last record can a length seem to be torn. */
		if (hit < journal.count - 1)
			assert_int_equal(damage->torn, 0);
		assert_int_equal(pwrite(journal.fd, &byte, 1, (off_t)at), 1);
	}
	close(journal.fd);
}

static void
a_changed_byte_in_the_header_costs_no_record(void **state)
{
	struct fixture *fixture = *state;
	const struct journal_damage *damage;
	struct journal journal;
	uint8_t byte;

	make_journal(fixture, &journal);
	for (uint64_t at = 0; at < journal.header_bytes; at++) {
		byte = flip(&journal, at);
		fixture_read(fixture);
		expect_records(
		    fixture, &journal, 0, journal.count, journal.count);
		damage = fixture_damage(fixture);
		assert_int_equal(damage->headers, 1);
		assert_int_equal(damage->records + damage->torn, 0);
		assert_int_equal(damage->bytes + damage->segments, 0);
		assert_int_equal(pwrite(journal.fd, &byte, 1, (off_t)at), 1);
	}
	close(journal.fd);
}

static void
both_header_copies_damaged_cost_the_segment_and_no_other(void **state)
{
	struct fixture *fixture = *state;
	struct journal journal;

	make_journal(fixture, &journal);
	flip(&journal, 3);
	flip(&journal, journal.header_bytes - 1);
	fixture_write(fixture, 5);
	fixture_read(fixture);
	assert_int_equal(fixture_expect_from(fixture, 0), 5);
	assert_int_equal(fixture_damage(fixture)->segments, 1);
	assert_int_equal(fixture_damage(fixture)->headers, 2);
	close(journal.fd);
}

static void
zeros_in_place_of_records_are_one_damage(void **state)
{
	static const uint8_t zeros[4096];
	struct fixture *fixture = *state;
	struct journal journal;
	size_t first = 50, next;

	make_journal(fixture, &journal);
	assert_int_equal(pwrite(journal.fd, zeros, sizeof(zeros),
			     (off_t)journal.places[first].begin),
	    sizeof(zeros));
	next = record_at(
	    &journal, journal.places[first].begin + sizeof(zeros) - 1);
	fixture_read(fixture);
	for (size_t i = 0; i < journal.count; i++) {
		if (i >= first && i <= next)
			continue;
		assert_non_null(fixture_next(fixture));
		assert_int_equal(
		    fixture->record.offset, journal.places[i].begin);
	}
	assert_null(fixture_next(fixture));
	assert_int_equal(fixture_damage(fixture)->records, 1);
	close(journal.fd);
}

static void
a_tail_of_zeros_is_damage_and_ends_the_segment(void **state)
{
	struct fixture *fixture = *state;
	struct journal journal;

	make_journal(fixture, &journal);
	assert_int_equal(
	    ftruncate(journal.fd, (off_t)journal.size + 600000), 0);
	fixture_write(fixture, 2);
	fixture_read(fixture);
	expect_records(fixture, &journal, 0, journal.count - 1, journal.count);
	assert_non_null(fixture_next(fixture));
	assert_int_equal(fixture_expect_from(fixture, 0), 2);
	assert_int_equal(fixture_damage(fixture)->records, 1);
	assert_int_equal(fixture_damage(fixture)->bytes, 600000);
	close(journal.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(cut_anywhere_it_keeps_every_whole_record),
	    FIXTURE_TEST(a_changed_byte_costs_one_record),
	    FIXTURE_TEST(a_changed_byte_in_the_header_costs_no_record),
	    FIXTURE_TEST(
		both_header_copies_damaged_cost_the_segment_and_no_other),
	    FIXTURE_TEST(zeros_in_place_of_records_are_one_damage),
	    FIXTURE_TEST(a_tail_of_zeros_is_damage_and_ends_the_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Any file as a segment: offsets only grow, and reading it as one that is still
 * written finds the same records. */
#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/segment_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
	uint64_t records;
	struct journal_damage damage;
};

static void
read_all(struct segment_reader *reader, int fd, bool final,
    struct journal_damage *damage, struct found *found_r)
{
	struct journal_position from = {1, 0};
	struct journal_record record;
	uint64_t end = 0;

	*found_r = (struct found){0};
	memset(damage, 0, sizeof(*damage));
	segment_reader_begin(reader, dup(fd), from, "fuzzed");
	while (segment_reader_next(reader, final, &record, NULL) == 1) {
		assert(record.offset >= end);
		assert(record.position.offset > record.offset);
		assert(record.event.type != EVENT_NONE);
		end = record.position.offset;
		found_r->records++;
	}
	assert(segment_reader_position(reader).offset >= end);
	found_r->damage = *damage;
	segment_reader_end(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct journal_damage damage;
	static struct segment_reader *reader;
	static int fd = -1;
	struct found final, growing;

	if (reader == NULL) {
		log_set_level(LOG_LEVEL_ERROR);
		reader = segment_reader_new(&damage);
		fd = memfd_create("segment", MFD_CLOEXEC);
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	read_all(reader, fd, true, &damage, &final);
	read_all(reader, fd, false, &damage, &growing);
	assert(final.records == growing.records);
	assert(final.damage.bytes <= size);
	assert(final.damage.torn <= 1 && growing.damage.torn == 0);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UUIDs of version 7. The milter makes one at each MAIL FROM, on any thread;
 * each thread keeps a block of random bytes of its own, so that most ids cost
 * no system call and no lock.
 */
#include "base/uuid.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/text.h"

#define NS_PER_MS 1000000
#define TIME_BYTES 6
#define RANDOM_BYTES (UUID_BYTES - TIME_BYTES)
/* getrandom(2) gives up to 256 bytes whole, never interrupted. */
#define BLOCK_BYTES (25 * RANDOM_BYTES)

static _Thread_local struct {
	unsigned char bytes[BLOCK_BYTES];
	size_t left;
} block;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* A child must not give out what its parent will. */
static void
block_forget(void)
{
	block.left = 0;
}

static void
watch_forks(void)
{
	pthread_atfork(NULL, NULL, block_forget);
}

/* For a sandbox that denies getrandom(2): unique enough to tell messages apart,
 * which is all that an id is asked for. */
static void
fill_from_clock(unsigned char *bytes, size_t size)
{
	struct stamp now = clock_stamp();
	uint64_t state = (uint64_t)now.wall_ns ^ (uint64_t)(uintptr_t)bytes;

	for (size_t i = 0; i < size; i++) {
		state = state * UINT64_C(0x5851f42d4c957f2d) + 1;
		bytes[i] = (unsigned char)(state >> 56);
	}
}

static void
take_random(void *bytes, size_t size)
{
	if (block.left < size) {
		pthread_once(&fork_once, watch_forks);
		if (getrandom(block.bytes, BLOCK_BYTES, 0) != BLOCK_BYTES)
			fill_from_clock(block.bytes, BLOCK_BYTES);
		block.left = BLOCK_BYTES;
	}
	block.left -= size;
	memcpy(bytes, block.bytes + block.left, size);
}

struct uuid
uuid_new(int64_t wall_ns)
{
	uint64_t ms = wall_ns > 0 ? (uint64_t)wall_ns / NS_PER_MS : 0;
	int saved_errno = errno;
	struct uuid uuid;

	for (int i = TIME_BYTES - 1; i >= 0; i--) {
		uuid.bytes[i] = (uint8_t)ms;
		ms >>= 8;
	}
	take_random(uuid.bytes + TIME_BYTES, RANDOM_BYTES);
	uuid.bytes[6] = (uuid.bytes[6] & 0x0f) | 0x70;
	uuid.bytes[8] = (uuid.bytes[8] & 0x3f) | 0x80;
	errno = saved_errno;
	return uuid;
}

int64_t
uuid_wall_ns(const struct uuid *uuid)
{
	int64_t ms = 0;

	for (int i = 0; i < TIME_BYTES; i++)
		ms = ms << 8 | uuid->bytes[i];
	/* 48 bits reach the year 10889; nanoseconds do not. */
	return ms <= INT64_MAX / NS_PER_MS ? ms * NS_PER_MS : INT64_MAX;
}

bool
uuid_is_set(const struct uuid *uuid)
{
	static const struct uuid unset;

	return !uuid_equal(uuid, &unset);
}

bool
uuid_equal(const struct uuid *left, const struct uuid *right)
{
	return memcmp(left->bytes, right->bytes, UUID_BYTES) == 0;
}

/* A hyphen stands before these bytes. */
static bool
hyphen_before(int byte)
{
	return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void
uuid_format(const struct uuid *uuid, char text_r[UUID_TEXT_SIZE])
{
	const char *digits = "0123456789abcdef";
	char *text = text_r;

	for (int i = 0; i < UUID_BYTES; i++) {
		if (hyphen_before(i))
			*text++ = '-';
		*text++ = digits[uuid->bytes[i] >> 4];
		*text++ = digits[uuid->bytes[i] & 0x0f];
	}
	*text = '\0';
}

int
uuid_parse(const char *text, size_t size, struct uuid *uuid_r)
{
	struct uuid uuid;

	if (size != UUID_TEXT_SIZE - 1)
		return -1;
	for (int i = 0; i < UUID_BYTES; i++, text += 2) {
		int high, low;

		if (hyphen_before(i) && *text++ != '-')
			return -1;
		high = text_hex_value(text[0]);
		low = text_hex_value(text[1]);
		if (high < 0 || low < 0)
			return -1;
		uuid.bytes[i] = (uint8_t)(high << 4 | low);
	}
	if (uuid.bytes[6] >> 4 != 7 || uuid.bytes[8] >> 6 != 2)
		return -1;
	*uuid_r = uuid;
	return 0;
}

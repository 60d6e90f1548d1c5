/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of exponential histograms. Called at commit by the ingest
 * thread and by whoever shows latencies.
 *
 * A bucket is found without logarithms: the position of the highest bit and the
 * five below it give a first guess, which integer comparisons with the bounds
 * in nanoseconds correct upwards. Comparing integers is what makes it exact.
 */
#include "store/histogram.h"

#include <pthread.h>
#include <string.h>

#include "base/buffer.h"
#include "store/packed.h"

__extension__ typedef unsigned __int128 uint128;

#define PER_OCTAVE (1 << HISTOGRAM_SCHEMA)
#define NS_PER_SECOND UINT64_C(1000000000)
/* sqrt(2^(1/32)): from a bucket's lower bound to its geometric middle. */
#define HALF_BUCKET 1.0108892860517005

/* 2^(j/32) * 2^63, rounded down. Multiplied by a second in nanoseconds and
 * shifted, they give every bound below 2^31 s rounded down exactly. */
static const uint64_t fractions[PER_OCTAVE] = {UINT64_C(0x8000000000000000),
    UINT64_C(0x82cd8698ac2ba1d7), UINT64_C(0x85aac367cc487b14),
    UINT64_C(0x88980e8092da8527), UINT64_C(0x8b95c1e3ea8bd6e6),
    UINT64_C(0x8ea4398b45cd53c0), UINT64_C(0x91c3d373ab11c336),
    UINT64_C(0x94f4efa8fef70961), UINT64_C(0x9837f0518db8a96f),
    UINT64_C(0x9b8d39b9d54e5538), UINT64_C(0x9ef5326091a111ad),
    UINT64_C(0xa27043030c496818), UINT64_C(0xa5fed6a9b15138ea),
    UINT64_C(0xa9a15ab4ea7c0ef8), UINT64_C(0xad583eea42a14ac6),
    UINT64_C(0xb123f581d2ac258f), UINT64_C(0xb504f333f9de6484),
    UINT64_C(0xb8fbaf4762fb9ee9), UINT64_C(0xbd08a39f580c36be),
    UINT64_C(0xc12c4cca66709456), UINT64_C(0xc5672a115506dadd),
    UINT64_C(0xc9b9bd866e2f27a2), UINT64_C(0xce248c151f8480e3),
    UINT64_C(0xd2a81d91f12ae45a), UINT64_C(0xd744fccad69d6af4),
    UINT64_C(0xdbfbb797daf23755), UINT64_C(0xe0ccdeec2a94e111),
    UINT64_C(0xe5b906e77c8348a8), UINT64_C(0xeac0c6e7dd24392e),
    UINT64_C(0xefe4b99bdcdaf5cb), UINT64_C(0xf5257d152486cc2c),
    UINT64_C(0xfa83b2db722a033a)};

/* Made once, from the fractions. */
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;
static int64_t bounds_ns[HISTOGRAM_BUCKETS];
static int16_t guesses[64 * PER_OCTAVE];

static int64_t
compute_bound(int index)
{
	/* Floor division by 32, also below zero. */
	int octave = index >> HISTOGRAM_SCHEMA;
	uint64_t fraction = fractions[index & (PER_OCTAVE - 1)];
	uint128 bound = ((uint128)fraction * NS_PER_SECOND) >> (63 - octave);

	return bound > INT64_MAX ? INT64_MAX : (int64_t)bound;
}

/* The smallest value whose highest bit and five below are those of `slot`. */
static uint64_t
slot_start(int slot)
{
	int bit = slot / PER_OCTAVE;
	uint64_t mantissa = PER_OCTAVE + (uint64_t)(slot % PER_OCTAVE);

	if (bit >= HISTOGRAM_SCHEMA)
		return mantissa << (bit - HISTOGRAM_SCHEMA);
	return mantissa >> (HISTOGRAM_SCHEMA - bit);
}

static void
make_tables(void)
{
	int guess = 0;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		bounds_ns[i] = compute_bound(i + HISTOGRAM_INDEX_MIN);
	for (int slot = 0; slot < 63 * PER_OCTAVE; slot++) {
		while ((uint64_t)bounds_ns[guess] < slot_start(slot))
			guess++;
		guesses[slot] = (int16_t)guess;
	}
}

static int
slot_of(uint64_t value)
{
	int bit = 63 - __builtin_clzll(value);
	uint64_t below = bit >= HISTOGRAM_SCHEMA
			     ? value >> (bit - HISTOGRAM_SCHEMA)
			     : value << (HISTOGRAM_SCHEMA - bit);

	return bit * PER_OCTAVE + (int)(below & (PER_OCTAVE - 1));
}

static int
bucket_of(int64_t value_ns)
{
	int bucket;

	pthread_once(&tables_once, make_tables);
	bucket = guesses[slot_of((uint64_t)value_ns)];
	while (bounds_ns[bucket] < value_ns)
		bucket++;
	return bucket;
}

int
histogram_index(int64_t value_ns)
{
	return bucket_of(value_ns) + HISTOGRAM_INDEX_MIN;
}

int64_t
histogram_bound_ns(int index)
{
	pthread_once(&tables_once, make_tables);
	return bounds_ns[index - HISTOGRAM_INDEX_MIN];
}

int64_t
histogram_sum_ns(int64_t left_ns, int64_t right_ns)
{
	int64_t sum_ns;

	if (__builtin_add_overflow(left_ns, right_ns, &sum_ns))
		return INT64_MAX;
	return sum_ns;
}

void
histogram_init(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->low = HISTOGRAM_BUCKETS;
	histogram->high = -1;
}

void
histogram_clear(struct histogram *histogram)
{
	if (histogram->low <= histogram->high)
		memset(histogram->buckets + histogram->low, 0,
		    (size_t)(histogram->high - histogram->low + 1) *
			sizeof(histogram->buckets[0]));
	histogram->count = 0;
	histogram->sum_ns = 0;
	histogram->zero = 0;
	histogram->low = HISTOGRAM_BUCKETS;
	histogram->high = -1;
}

static void
add(struct histogram *histogram, int bucket, uint64_t count)
{
	histogram->buckets[bucket] += count;
	if (bucket < histogram->low)
		histogram->low = bucket;
	if (bucket > histogram->high)
		histogram->high = bucket;
}

void
histogram_observe(struct histogram *histogram, int64_t value_ns)
{
	histogram->sum_ns = histogram_sum_ns(histogram->sum_ns, value_ns);
	histogram_observe_many(histogram, value_ns, 1);
}

void
histogram_observe_many(
    struct histogram *histogram, int64_t value_ns, uint64_t count)
{
	histogram->count += count;
	if (value_ns == 0)
		histogram->zero += count;
	else if (count > 0)
		add(histogram, bucket_of(value_ns), count);
}

void
histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	into->sum_ns = histogram_sum_ns(into->sum_ns, from->sum_ns);
	into->zero += from->zero;
	for (int i = from->low; i <= from->high; i++) {
		if (from->buckets[i] != 0)
			add(into, i, from->buckets[i]);
	}
}

static uint64_t
difference(uint64_t value, uint64_t less)
{
	return value > less ? value - less : 0;
}

void
histogram_subtract(struct histogram *histogram, const struct histogram *less)
{
	histogram->zero = difference(histogram->zero, less->zero);
	histogram->count = histogram->zero;
	for (int i = histogram->low; i <= histogram->high; i++) {
		histogram->buckets[i] =
		    difference(histogram->buckets[i], less->buckets[i]);
		histogram->count += histogram->buckets[i];
	}
	histogram->sum_ns = less->sum_ns < histogram->sum_ns
				? histogram->sum_ns - less->sum_ns
				: 0;
}

int64_t
histogram_quantile_ns(const struct histogram *histogram, double q)
{
	double wanted = q * (double)histogram->count;
	uint64_t seen = histogram->zero;
	double middle;
	int bucket;

	if (histogram->low > histogram->high || (double)seen >= wanted)
		return 0;
	pthread_once(&tables_once, make_tables);
	for (bucket = histogram->low; bucket < histogram->high; bucket++) {
		seen += histogram->buckets[bucket];
		if ((double)seen >= wanted)
			break;
	}
	if (bucket == 0)
		return 1;
	middle = (double)bounds_ns[bucket - 1] * HALF_BUCKET;
	return middle < (double)bounds_ns[bucket] ? (int64_t)middle
						  : bounds_ns[bucket];
}

/* The zeros, then for each bucket in use how far it is from the one before it,
 * and its count. */
void
histogram_encode(const struct histogram *histogram, struct buffer *out)
{
	struct packed_writer writer = {.out = out};
	int last = -1;

	packed_put_unsigned(&writer, histogram->zero);
	for (int i = histogram->low; i <= histogram->high; i++) {
		if (histogram->buckets[i] == 0)
			continue;
		packed_put_unsigned(&writer, (uint64_t)(i - last));
		packed_put_unsigned(&writer, histogram->buckets[i]);
		last = i;
	}
}

int
histogram_decode(struct histogram *histogram, const void *data, size_t size)
{
	struct packed_reader reader = {.data = data, .size = size};
	int bucket = -1;

	histogram->zero += packed_unsigned(&reader);
	while (!reader.failed && reader.size > 0) {
		uint64_t gap = packed_unsigned(&reader);
		uint64_t count = packed_unsigned(&reader);

		if (reader.failed || gap == 0 || count == 0 ||
		    gap >= (uint64_t)(HISTOGRAM_BUCKETS - bucket))
			return -1;
		bucket += (int)gap;
		add(histogram, bucket, count);
	}
	return reader.failed ? -1 : 0;
}

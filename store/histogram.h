/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram: durations in base-2 exponential buckets, 32 to a doubling.
 *
 * The buckets are those of a Prometheus native histogram of schema 5 (an OTLP
 * exponential histogram of scale 5) over seconds: bucket i holds the durations
 * in (2^((i-1)/32) s, 2^(i/32) s]. Dense in memory, sparse and packed on disk.
 * Pure; any thread.
 */
#ifndef STORE_HISTOGRAM_H
#define STORE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

#define HISTOGRAM_SCHEMA 5

/* Indices of 1 ns and of INT64_MAX ns. */
#define HISTOGRAM_INDEX_MIN (-956)
#define HISTOGRAM_INDEX_MAX 1060
#define HISTOGRAM_BUCKETS (HISTOGRAM_INDEX_MAX - HISTOGRAM_INDEX_MIN + 1)

struct histogram {
	uint64_t count;
	int64_t sum_ns;
	uint64_t zero; /* durations of 0 */
	/* Outside [low, high] all buckets are 0; low > high: all are. */
	int low, high;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* The index of a duration > 0, exact on both sides of every bound. */
int histogram_index(int64_t value_ns);

/* The inclusive upper bound of bucket `index` in whole nanoseconds, rounded
 * down, so that value <= bound says what the real bound says. */
int64_t histogram_bound_ns(int index);

/* The sum of two durations or sums of such; the largest number if it is larger
 * than that, so that a sum never sinks. */
int64_t histogram_sum_ns(int64_t left_ns, int64_t right_ns);

void histogram_init(struct histogram *histogram);

/* Empties one that was initialised; cheaper when few buckets were used. */
void histogram_clear(struct histogram *histogram);

/* `value_ns` must not be negative: those are no durations. */
void histogram_observe(struct histogram *histogram, int64_t value_ns);

/* The same `count` times; adds no sum. */
void histogram_observe_many(
    struct histogram *histogram, int64_t value_ns, uint64_t count);

void histogram_merge(struct histogram *into, const struct histogram *from);

/* Takes away what `less` has, as far as it is there. */
void histogram_subtract(
    struct histogram *histogram, const struct histogram *less);

/* The duration at quantile `q` (0 to 1): the geometric middle of its bucket, so
 * at most 1.1 % from the true one. 0 when empty. */
int64_t histogram_quantile_ns(const struct histogram *histogram, double q);

/* Appends the buckets, not count and sum. */
void histogram_encode(const struct histogram *histogram, struct buffer *out);

/* Adds what was encoded to the buckets. Returns 0, or -1 for bytes that nothing
 * encodes to; some buckets may have been added then. */
int histogram_decode(
    struct histogram *histogram, const void *data, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock: the only place that asks what time it is.
 *
 * Every moment is taken on two clocks at once. The wall clock says when it was
 * for people and between machines; CLOCK_MONOTONIC says how long something took
 * on one boot of one machine, whatever NTP did meanwhile. Which of the two a
 * duration comes from is decided in proto/phase.h, nowhere else.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_NS_PER_SECOND INT64_C(1000000000)
#define CLOCK_NS_PER_DAY (INT64_C(86400) * CLOCK_NS_PER_SECOND)

#define CLOCK_BOOT_ID_BYTES 16

/* A moment. All zero means: never supplied. */
struct stamp {
	int64_t wall_ns;      /* since 1970-01-01T00:00:00Z */
	int64_t monotonic_ns; /* CLOCK_MONOTONIC; comparable within one boot */
};

/* Reads both clocks. Any thread; never fails. */
struct stamp clock_stamp(void);

bool stamp_is_set(const struct stamp *stamp);

/* Makes clock_stamp() answer with what `source` returns; NULL gives the real
 * clocks back. For tests, before threads start. */
void clock_set_source(struct stamp (*source)(void));

/* The kernel's boot id (random(4)). Returns 0, or -1 with zeros where the
 * system does not tell; monotonic stamps are then not comparable. */
int clock_boot_id(uint8_t boot_id_r[CLOCK_BOOT_ID_BYTES]);

/* The UTC day of a wall clock time: days since 1970-01-01, rounded down. */
int64_t clock_day(int64_t wall_ns);

#define CLOCK_TEXT_SIZE sizeof("2026-11-30T07:47:42.123456Z")

/* Writes the UTC time in RFC 3339 form with six decimals, rounded down,
 * NUL-terminated. Nanoseconds reach from 1677 to 2262. */
void clock_format(int64_t wall_ns, char text_r[CLOCK_TEXT_SIZE]);

/* Reads exactly what clock_format() writes, `size` bytes. Returns 0, or -1
 * when it is anything else: a wrong length, an impossible date, a year that
 * nanoseconds do not reach. */
int clock_parse(const char *text, unsigned long size, int64_t *wall_ns_r);

#endif

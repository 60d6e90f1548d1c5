/* SPDX-License-Identifier: BSD-2-Clause */
/* duration_text: a time as people say it. Pure, any thread. */
#ifndef CLI_DURATION_TEXT_H
#define CLI_DURATION_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_TEXT_SIZE 32

/* Writes "412 µs", "3.2 ms", "1.48 s", "2 m 05 s", "3 h 12 m" or "4 d 03 h",
 * rounded to what is shown, with '-' in front when it is negative. Without
 * `utf8` the micro sign is written as 'u'. */
void duration_text(int64_t ns, bool utf8, char text_r[DURATION_TEXT_SIZE]);

/* The same with '+' in front when it is positive; "0" for nothing. */
void offset_text(int64_t ns, bool utf8, char text_r[DURATION_TEXT_SIZE]);

#endif

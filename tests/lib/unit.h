/* SPDX-License-Identifier: BSD-2-Clause */
/* unit: cmocka with what it wants included first, and table helpers. */
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Fails naming the row of a table and both texts, where they differ. */
#define assert_row_string(row, got, wanted)                                    \
	do {                                                                   \
		const char *got_ = (got), *wanted_ = (wanted);                 \
                                                                               \
		if (strcmp(got_, wanted_) != 0)                                \
			fail_msg("row %zu: got \"%s\", wanted \"%s\"",         \
			    (size_t)(row), got_, wanted_);                     \
	} while (0)

#define assert_row(row, condition)                                             \
	do {                                                                   \
		if (!(condition))                                              \
			fail_msg("row %zu: %s", (size_t)(row), #condition);    \
	} while (0)

#endif

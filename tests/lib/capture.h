/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture: what a function writes to a descriptor, as text to assert on.
 *
 *     struct capture log;
 *
 *     capture_begin(&log, STDERR_FILENO);
 *     function_that_logs();
 *     assert_string_equal(capture_end(&log), "postlag: warning: ...\n");
 *
 * One capture per descriptor at a time. A test that fails in between leaves the
 * descriptor redirected; its teardown should end what is still active.
 */
#ifndef TESTS_LIB_CAPTURE_H
#define TESTS_LIB_CAPTURE_H

#include <stdbool.h>

struct capture {
	int fd, saved_fd, file;
	bool active;
	char text[65536]; /* NUL-terminated after capture_end() */
};

void capture_begin(struct capture *capture, int fd);

/* Gives the descriptor back and returns the text, cut to its room. */
const char *capture_end(struct capture *capture);

#endif

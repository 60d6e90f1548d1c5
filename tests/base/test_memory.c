/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation that ends the process rather than fail. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/capture.h"
#include "tests/lib/unit.h"

static void
memory_is_zeroed_and_grows(void **state)
{
	int *numbers = memory_zeroed(4, sizeof(*numbers));

	assert_int_equal(numbers[3], 0);
	numbers[3] = 7;
	numbers = memory_resize(numbers, 4000, sizeof(*numbers));
	assert_int_equal(numbers[3], 7);
	free(numbers);
}

static void
nothing_is_still_something_to_free(void **state)
{
	void *memory = memory_zeroed(0, 8);

	assert_non_null(memory);
	memory = memory_resize(memory, 0, 8);
	assert_non_null(memory);
	free(memory);
}

static void
text_is_copied_and_formatted(void **state)
{
	char *copy = memory_string("text");
	char *formatted = memory_format("%s-%d", copy, 5);

	assert_string_equal(formatted, "text-5");
	free(copy);
	free(formatted);
}

static void
out_of_memory_ends_the_process_with_one_line(void **state)
{
	static struct capture log;
	int status;
	pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* they end the process themselves */
#endif
	capture_begin(&log, STDERR_FILENO);
	child = fork();
	if (child == 0) {
		memory_resize(NULL, SIZE_MAX / 2, 1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_string_equal(
	    capture_end(&log), "postlag: error: reason=out of memory\n");
	assert_int_equal(WEXITSTATUS(status), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_is_zeroed_and_grows),
	    cmocka_unit_test(nothing_is_still_something_to_free),
	    cmocka_unit_test(text_is_copied_and_formatted),
	    cmocka_unit_test(out_of_memory_ends_the_process_with_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

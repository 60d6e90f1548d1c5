/* SPDX-License-Identifier: BSD-2-Clause */
/* What is announced of what the backend announces. */
#include "lmtp/capabilities.h"

#include <string.h>

#include "base/buffer.h"
#include "lmtp/reply.h"
#include "tests/lib/unit.h"

static bool
rewrite(const char *bytes, struct buffer *out)
{
	struct reply reply = {bytes, strlen(bytes), 250};
	bool pipelining;

	buffer_clear(out);
	capabilities_rewrite(&reply, out, &pipelining);
	buffer_append(out, "", 1);
	assert_false(out->failed);
	return pipelining;
}

static void
the_list_is_the_backends_less_what_must_not_pass(void **state)
{
	static const struct {
		const char *bytes, *wanted;
		bool pipelining;
	} rows[] = {
	    {"250-mx.test\r\n250-8BITMIME\r\n250-CHUNKING\r\n"
	     "250-ENHANCEDSTATUSCODES\r\n250 PIPELINING\r\n",
		"250-mx.test\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n"
		"250-PIPELINING\r\n250 XFORWARD IDENT\r\n",
		true},
	    {"250-mx\r\n250-STARTTLS\r\n250-XCLIENT ADDR PORT\r\n"
	     "250-xrcptforward\r\n250-DSN\r\n250-BINARYMIME\r\n250-BURL "
	     "imap\r\n"
	     "250-AUTH=PLAIN\r\n250-AUTH PLAIN\r\n250 XFORWARD NAME\r\n",
		"250-mx\r\n250 XFORWARD IDENT\r\n", false},
	    {"250 alone\r\n", "250-alone\r\n250 XFORWARD IDENT\r\n", false},
	    {"250\r\n", "250-\r\n250 XFORWARD IDENT\r\n", false},
	    {"250-mx\n250-SIZE 100\n250 SMTPUTF8\n",
		"250-mx\r\n250-SIZE 100\r\n250-SMTPUTF8\r\n"
		"250 XFORWARD IDENT\r\n",
		false},
	    {"250-DSN\r\n250 PIPELININGX\r\n",
		"250-DSN\r\n250-PIPELININGX\r\n250 XFORWARD IDENT\r\n", false},
	    {"odd\r\n250 mx\r\n", "odd\r\n250-mx\r\n250 XFORWARD IDENT\r\n",
		false}};
	struct buffer out = {.limit = 0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_row(
		    i, rewrite(rows[i].bytes, &out) == rows[i].pipelining);
		assert_row_string(i, (const char *)out.data, rows[i].wanted);
	}
	buffer_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_list_is_the_backends_less_what_must_not_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

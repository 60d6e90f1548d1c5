/* SPDX-License-Identifier: BSD-2-Clause */
/* Accept-Encoding as clients write it. */
#include "exporter/serve/http_accept.h"

#include "tests/lib/unit.h"

static void
gzip_is_sent_to_whom_it_suits(void **state)
{
	static const struct {
		const char *field;
		bool wanted;
	} rows[] = {
	    {NULL, false},
	    {"", false},
	    {"gzip", true},
	    {"GZip", true},
	    {"x-gzip", true},
	    {"*", true},
	    {"gzip, deflate, br, zstd", true},
	    {"deflate,gzip", true},
	    {"br;q=1.0, gzip;q=0.8, *;q=0.1", true},
	    {"gzip;q=0.001", true},
	    {"gzip ; q=1", true},
	    {"gzip;Q=0.5", true},
	    {"identity", false},
	    {"deflate", false},
	    {"gzipped", false},
	    {"gzip;q=0", false},
	    {"gzip;q=0.000", false},
	    {"gzip;q=0, *", false},
	    {"*;q=0", false},
	    {"*;q=0, gzip", true},
	    {"gzip;q=0.5, identity", false},
	    {"gzip;q=0.5, identity;q=0.5", true},
	    {"gzip;q=0.5, identity;q=0", true},
	    {"gzip;q=", false},
	    {"gzip;q=2", false},
	    {"gzip;q=1.001", false},
	    {"gzip;q=0.1234", false},
	    {"gzip;q=-1", false},
	    {"gzip;level=9", false},
	    {"gzip x", false},
	    {",, gzip", true},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(
		    i, http_accept_gzip(rows[i].field) == rows[i].wanted);
}

static void
weights_are_thousandths(void **state)
{
	assert_int_equal(http_accept_weight("a;q=0.07, b", "a"), 70);
	assert_int_equal(http_accept_weight("a;q=0.07, b", "b"), 1000);
	assert_int_equal(http_accept_weight("a;q=0.07, b", "c"), -1);
	assert_int_equal(http_accept_weight("a;q=1.000", "a"), 1000);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gzip_is_sent_to_whom_it_suits),
	    cmocka_unit_test(weights_are_thousandths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

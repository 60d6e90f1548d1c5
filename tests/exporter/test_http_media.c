/* SPDX-License-Identifier: BSD-2-Clause */
/* Accept as Prometheus and others write it, and which format that gets them. */
#include "exporter/serve/http_media.h"

#include "exporter/serve/exposition.h"
#include "tests/lib/unit.h"

#define OM "application/openmetrics-text"
#define PROTOBUF "application/vnd.google.protobuf"
#define FAMILY "proto=io.prometheus.client.MetricFamily"

static void
the_heaviest_type_wins(void **state)
{
	static const struct http_media offers[] = {
	    {"text/plain", {{"version", "1", false}}},
	    {"a/b", {{"version", "1", false}, {"x", "y", true}}},
	    {"a/c", {{.name = NULL}}},
	};
	static const struct {
		const char *accept;
		size_t choice;
	} rows[] = {
	    {NULL, 0},
	    {"", 0},
	    {"*/*", 0},
	    {"a/c", 2},
	    {"A/C", 2},
	    {"a/*", 2},
	    {"a/d", 0},
	    {"a/c;q=0", 0},
	    {"a/b", 0},
	    {"a/b;x=y", 1},
	    {"a/b; X = y", 0},
	    {"a/b ; X=Y", 1},
	    {"a/b;x=\"y\"", 1},
	    {"a/b;x=\"y", 0},
	    {"a/b;x=y;version=1", 1},
	    {"a/b;x=y;version=2", 0},
	    {"a/b;x=y;z=w", 1},
	    {"a/b;x=y;z=\",;\\\"\"", 1},
	    {"text/plain, a/c", 0},
	    {"a/c, text/plain", 2},
	    {"a/c;q=0.5, text/plain;q=0.6", 0},
	    {"a/c;q=0.6, text/plain;q=0.5", 2},
	    {"text/plain;q=0.999,a/c;q=1.000", 2},
	    {"a/c;q=2, text/plain;q=0.1", 0},
	    {"*/*;q=0.1, a/c;q=0.05", 0},
	    {"text/*;q=0.1, */*;q=0.2", 2},
	    {"text/plain;version=1;q=0.1, text/plain, a/c;q=0.5", 2},
	    {"text/plain, text/plain;version=1;q=0.1, a/c;q=0.5", 2},
	    {"text/plain;version=2, a/c;q=0.1", 2},
	    {"text/plain;q=0, */*", 2},
	    {"text/plain;q=0, a/c;q=0", 0},
	    {",, ,a/c", 2},
	    {"a/c;", 2},
	    {";", 0},
	    {"\"a/c\"", 0},
	    {"\"text/plain, a/c", 0},
	    {"a/cc, a/", 0},
	    {"*/c", 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(i, http_media_choose(rows[i].accept, offers,
				  COUNT(offers)) == rows[i].choice);
}

/* As they send it themselves. */
static void
prometheus_gets_the_format_it_prefers(void **state)
{
	static const struct {
		const char *accept;
		const struct exposition_format *format;
	} rows[] = {
	    {NULL, &exposition_text},
	    {"*/*", &exposition_text},
	    {"text/html,application/xhtml+xml,application/xml;q=0.9,"
	     "image/webp,*/*;q=0.8",
		&exposition_text},
	    /* 2.42 */
	    {OM ";version=1.0.0," OM ";version=0.0.1;q=0.75,"
		"text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		&exposition_openmetrics},
	    /* 3.x, without native histograms */
	    {OM ";version=1.0.0;escaping=allow-utf-8;q=0.5," OM
		";version=0.0.1;q=0.4,text/plain;version=1.0.0;"
		"escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,"
		"*/*;q=0.1",
		&exposition_openmetrics},
	    /* 2.42 with native histograms */
	    {PROTOBUF ";" FAMILY ";encoding=delimited," OM
		      ";version=1.0.0;q=0.8," OM
		      ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
		      "*/*;q=0.1",
		&exposition_protobuf},
	    /* 3.9 with native histograms */
	    {PROTOBUF ";" FAMILY ";encoding=delimited;q=0.6," OM
		      ";version=1.0.0;escaping=allow-utf-8;q=0.5," OM
		      ";version=0.0.1;q=0.4,text/plain;version=1.0.0;"
		      "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;"
		      "q=0.2,*/*;q=0.1",
		&exposition_protobuf},
	    {OM ";version=0.0.1", &exposition_text},
	    {OM, &exposition_openmetrics},
	    {"text/plain;version=0.0.4;q=0.5," OM ";version=\"1.0.0\";q=0.4",
		&exposition_text},
	    {PROTOBUF ";" FAMILY ";encoding=text", &exposition_text},
	    {PROTOBUF, &exposition_text},
	    {"application/json", &exposition_text},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(
		    i, exposition_choose(rows[i].accept) == rows[i].format);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_heaviest_type_wins),
	    cmocka_unit_test(prometheus_gets_the_format_it_prefers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

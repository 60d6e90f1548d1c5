/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which format for whom. Called on the HTTP threads. Prometheus lists what it
 * reads, with weights; a parameter of which a range says nothing is no matter.
 */
#include "exporter/serve/exposition.h"

#include "exporter/serve/http_media.h"

static const struct exposition_format *const formats[] = {
    &exposition_text, &exposition_openmetrics, &exposition_protobuf};

/* In the order of `formats`, which decides where a client has no preference. */
static const struct http_media offers[] = {
    {"text/plain", {{"version", "0.0.4", false}}},
    {"application/openmetrics-text", {{"version", "1.0.0", false}}},
    {"application/vnd.google.protobuf",
	{{"proto", "io.prometheus.client.MetricFamily", true},
	    {"encoding", "delimited", true}}},
};

const struct exposition_format *
exposition_choose(const char *accept)
{
	return formats[http_media_choose(
	    accept, offers, sizeof(offers) / sizeof(offers[0]))];
}

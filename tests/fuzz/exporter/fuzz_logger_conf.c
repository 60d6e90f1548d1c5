/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands in the configuration of a logger: numbers that are none are not
 * read, and everything comes to an end. */
#include <assert.h>
#include <stdint.h>

#include "exporter/read/journald_conf.h"
#include "exporter/read/rsyslog_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_within(struct maillog_view part, struct maillog_view text)
{
	assert(
	    part.size == 0 ||
	    (part.at >= text.at && part.at + part.size <= text.at + text.size));
}

static void
check_rsyslog(struct maillog_view text)
{
	static const struct maillog_view path =
	    MAILLOG_LITERAL("/var/log/mail.log");
	struct rsyslog_conf conf = {.text = text};
	struct rsyslog_setting setting;
	size_t left = text.size;

	while (rsyslog_conf_next(&conf, &setting)) {
		assert(conf.text.size < left);
		left = conf.text.size;
		check_within(setting.value, text);
		assert(setting.number >= 0 || setting.kind == RSYSLOG_LOADS ||
		       setting.kind == RSYSLOG_INCLUDES);
	}
	if (rsyslog_conf_names(text, path))
		assert(maillog_view_find(text, path) != SIZE_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maillog_view text = {(const char *)data, size};
	struct log_limit limit = journald_conf_default;

	journald_conf_read(text, &limit);
	assert(limit.interval_ns >= 0);
	check_rsyslog(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In no text is anything left before an @ but marks; lines are of the kind and
 * queue id that they were.
 */
#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "exporter/privacy/privacy.h"
#include "exporter/privacy/privacy_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct privacy privacy = {.mode = PRIVACY_DOMAIN};

/* No letter or digit, but for those of an @ in a URL. */
static void
check_text(const char *text, size_t size)
{
	for (size_t i = 1; i < size; i++)
		assert(text[i] != '@' || !isalnum((unsigned char)text[i - 1]) ||
		       (i >= 3 && memcmp(text + i - 3, "%40", 3) == 0));
}

static void
try_text(struct maillog_view text)
{
	static const struct privacy_names nobody;
	struct buffer out = {0};

	privacy_text(&privacy, text, &nobody, &out);
	check_text((const char *)out.data, out.size);
	buffer_free(&out);
}

static void
try_line(const char *data, size_t size)
{
	struct log_record record = {.gap = LOG_GAP_NONE};
	struct buffer out = {0};
	const struct privacy_place place = {&privacy, NULL, &out};
	struct maillog_view queue_id;

	maillog_line_parse(data, size, &record.line);
	maillog_record_parse(&record.line, &record.record);
	queue_id = record.record.queue_id;
	/* Without a key there can be no recipients' marks. */
	if (record.record.fields[MAILLOG_TO].size > 0 ||
	    record.record.fields[MAILLOG_ORIG_TO].size > 0 ||
	    record.record.fields[MAILLOG_USER].size > 0)
		return;
	privacy_line(&place, &record);
	assert(maillog_view_equal(record.record.queue_id, queue_id));
	buffer_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size > 0 ? size : 1);

	if (size > 0)
		memcpy(copy, data, size);
	try_text((struct maillog_view){copy, size});
	try_line(copy, size);
	free(copy);
	return 0;
}

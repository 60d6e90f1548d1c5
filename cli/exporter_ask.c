/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One HTTP request, without encryption and thus only to this machine. Called by
 * search_terms.c and selfcheck.c.
 */
#include "cli/exporter_ask.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/config.h"
#include "base/endpoint.h"
#include "base/reason.h"
#include "cli/operator_journal.h"
#include "cli/store_options.h"
#include "store/search_pseudonym.h"

#define PATIENCE_SECONDS 5
#define ANSWER_BYTES 4096
#define BEGIN "{\"pseudonym\": \""

static void
append_escaped(struct buffer *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buffer_append_format(out, "%%%02X", (unsigned char)text[i]);
}

/* The whole answer to a request's first words, NUL behind it. */
static int
exchange(const struct endpoint *exporter, struct buffer *request,
    char answer_r[ANSWER_BYTES], struct reason *reason)
{
	struct reason why;
	int fd = endpoint_connect(exporter, PATIENCE_SECONDS, &why);
	size_t size = 0;
	ssize_t got;

	if (fd < 0)
		return reason_set(
		    reason, "the exporter cannot be asked: %.400s", why.text);
	buffer_append_string(request,
	    " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	got = send(fd, request->data, request->size, MSG_NOSIGNAL);
	while (got > 0 &&
	       (got = read(fd, answer_r + size, ANSWER_BYTES - 1 - size)) > 0)
		size += (size_t)got;
	answer_r[size] = '\0';
	if (got < 0)
		reason_set_errno(reason, "the exporter says nothing");
	close(fd);
	return got < 0 ? -1 : 0;
}

static int
understand(const char *answer, char pseudonym_r[SEARCH_PSEUDONYM_SIZE],
    struct reason *reason)
{
	const char *found = strstr(answer, BEGIN);
	size_t size;

	if (found != NULL) {
		found += strlen(BEGIN);
		size = strcspn(found, "\"");
		if (size < SEARCH_PSEUDONYM_SIZE &&
		    search_is_pseudonym(found, size)) {
			memcpy(pseudonym_r, found, size);
			pseudonym_r[size] = '\0';
			return 0;
		}
	}
	return reason_set(reason,
	    "whoever listens where the exporter should knows no pseudonyms");
}

static int
ask(void *context, const char *local, size_t size,
    char pseudonym_r[SEARCH_PSEUDONYM_SIZE], struct reason *reason)
{
	struct buffer request = {0};
	char answer[ANSWER_BYTES];
	int result;

	buffer_append_string(&request, "GET /api/v1/pseudonym?local=");
	append_escaped(&request, local, size);
	result = exchange(context, &request, answer, reason);
	if (result == 0)
		result = understand(answer, pseudonym_r, reason);
	buffer_free(&request);
	return result;
}

static int
find_exporter(const struct store_options *options, struct endpoint *endpoint_r,
    struct reason *reason)
{
	struct operator_settings settings = {0};
	struct config_section section = {"operator", operator_config_items,
	    operator_config_item_count, &settings};
	int result = store_options_load(options, &section, reason);

	if (result == 0)
		result = endpoint_parse(settings.exporter, endpoint_r, reason);
	if (result == 0 && !endpoint_is_local(endpoint_r))
		result = reason_set(reason,
		    "the exporter is not asked on another machine: %s",
		    settings.exporter);
	config_free(&section, 1);
	return result;
}

int
exporter_ask_pseudonyms(const struct store_options *options,
    struct search *search, struct arena *arena, struct reason *reason)
{
	struct endpoint exporter;

	if (find_exporter(options, &exporter, reason) != 0)
		return -1;
	return search_ask_pseudonyms(ask, &exporter, search, arena, reason);
}

int
exporter_ask_ready(const struct store_options *options, struct reason *reason)
{
	struct buffer request = {0};
	struct endpoint exporter;
	char answer[ANSWER_BYTES];
	int result = find_exporter(options, &exporter, reason);

	buffer_append_string(&request, "GET /-/ready");
	if (result == 0)
		result = exchange(&exporter, &request, answer, reason);
	buffer_free(&request);
	if (result == 0 && strncmp(answer, "HTTP/1.1 200 ", 13) != 0)
		result = reason_set(
		    reason, "it is behind what the others have written");
	return result;
}

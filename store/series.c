/* SPDX-License-Identifier: BSD-2-Clause */
/* For queries about latencies; tests/exporter/test_exposition.c compares them
 * with the table of metrics. */
#include "store/series.h"

#include <ctype.h>
#include <string.h>

#include "base/buffer.h"

#define ROUTE(name) "postlag_delivery_latency_seconds{route=\"" name "\"}"
#define PHASE(name) "postlag_phase_seconds{phase=\"" name "\"}"

const char *
series_of_route(enum route route)
{
	static const char *const names[ROUTES] = {
	    [ROUTE_INBOUND] = ROUTE("inbound"),
	    [ROUTE_INTERNAL] = ROUTE("internal"),
	    [ROUTE_OUTBOUND] = ROUTE("outbound"),
	    [ROUTE_TRANSIT] = ROUTE("transit"),
	};

	return names[route];
}

const char *
series_of_phase(enum phase phase)
{
	static const char *const names[PHASES] = {
	    [PHASE_CONNECT_TO_HELO] = PHASE("connect_to_helo"),
	    [PHASE_HELO_TO_MAIL] = PHASE("helo_to_mail"),
	    [PHASE_MAIL_TO_RCPT] = PHASE("mail_to_rcpt"),
	    [PHASE_RCPT_TO_DATA] = PHASE("rcpt_to_data"),
	    [PHASE_DATA_TO_CONTENT] = PHASE("data_to_content"),
	    [PHASE_CONTENT_TO_EOM] = PHASE("content_to_eom"),
	    [PHASE_QUEUE] = PHASE("queue"),
	    [PHASE_LMTP_ENVELOPE] = PHASE("lmtp_envelope"),
	    [PHASE_LMTP_DATA] = PHASE("lmtp_data"),
	    [PHASE_LMTP_REPLY] = PHASE("lmtp_reply"),
	};

	return names[phase];
}

/* Between a histogram's name and its labels. */
#define SEPARATOR '|'

/* Of name[address]:port the name, or the address. */
static size_t
host_part(const char **text)
{
	size_t size = strcspn(*text, "[");

	if (size == 0 && **text == '[')
		size = strcspn(++*text, "]");
	return size;
}

void
series_label(const char *text, char label_r[SERIES_LABEL_SIZE])
{
	size_t size = host_part(&text);
	bool is_name = size > 0 && size < SERIES_LABEL_SIZE;

	for (size_t i = 0; i < size && is_name; i++) {
		unsigned char byte = (unsigned char)text[i];

		is_name = byte > ' ' && byte < 0x7f && byte != SEPARATOR &&
			  byte != '"' && byte != '\\';
		label_r[i] = (char)tolower(byte);
	}
	if (is_name)
		label_r[size] = '\0';
	else
		strcpy(label_r, SERIES_OTHER);
}

const char *
series_kind_name(enum series_kind kind)
{
	static const char *const names[SERIES_KINDS] = {
	    "host", "relay", "provider"};

	return names[kind];
}

static const char *
label_of(const struct series_labels *labels, enum series_kind kind)
{
	const char *const values[SERIES_KINDS] = {
	    labels->host, labels->relay, labels->provider};

	return values[kind];
}

void
series_name(const char *base, const struct series_labels *labels,
    struct buffer *out)
{
	buffer_append_string(out, base);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		const char *label = label_of(labels, (enum series_kind)i);

		if (label != NULL)
			buffer_append_format(out, "%c%s=%s", SEPARATOR,
			    series_kind_name((enum series_kind)i), label);
	}
}

const char *
series_find_label(const char *name, enum series_kind kind, size_t *size_r)
{
	const char *kind_name = series_kind_name(kind);
	size_t size = strlen(kind_name);
	const char *at = strchr(name, SEPARATOR);

	for (; at != NULL; at = strchr(at + 1, SEPARATOR)) {
		if (strncmp(at + 1, kind_name, size) != 0 ||
		    at[1 + size] != '=')
			continue;
		at += size + 2;
		*size_r = strcspn(at, "|");
		return at;
	}
	return NULL;
}

static bool
has_label(const char *name, enum series_kind kind, const char *label)
{
	size_t size;
	const char *found = series_find_label(name, kind, &size);

	/* Without a host means all hosts; the others are kept beside them. */
	if (label == NULL)
		return kind == SERIES_HOST || found == NULL;
	return found != NULL && strlen(label) == size &&
	       strncmp(found, label, size) == 0;
}

bool
series_fits(
    const char *name, const char *base, const struct series_labels *labels)
{
	size_t size = strlen(base);
	bool fits = strncmp(name, base, size) == 0 &&
		    (name[size] == '\0' || name[size] == SEPARATOR);

	for (unsigned i = 0; i < SERIES_KINDS && fits; i++)
		fits = has_label(name + size, (enum series_kind)i,
		    label_of(labels, (enum series_kind)i));
	return fits;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name=value as Postfix logs them. Pure; called by the readers of shapes.
 */
#include "exporter/maillog/maillog_shape.h"

struct pair_name {
	struct maillog_view name;
	enum maillog_field field;
};

/* The most frequent first. */
static const struct pair_name pair_names[] = {
    {MAILLOG_LITERAL("to"), MAILLOG_TO},
    {MAILLOG_LITERAL("from"), MAILLOG_FROM},
    {MAILLOG_LITERAL("size"), MAILLOG_SIZE},
    {MAILLOG_LITERAL("nrcpt"), MAILLOG_NRCPT},
    {MAILLOG_LITERAL("relay"), MAILLOG_RELAY},
    {MAILLOG_LITERAL("delay"), MAILLOG_DELAY_SECONDS},
    {MAILLOG_LITERAL("delays"), MAILLOG_DELAYS},
    {MAILLOG_LITERAL("dsn"), MAILLOG_DSN},
    {MAILLOG_LITERAL("status"), MAILLOG_STATUS},
    {MAILLOG_LITERAL("client"), MAILLOG_CLIENT_PEER},
    {MAILLOG_LITERAL("orig_to"), MAILLOG_ORIG_TO},
    {MAILLOG_LITERAL("conn_use"), MAILLOG_CONN_USE},
    {MAILLOG_LITERAL("uid"), MAILLOG_UID},
    {MAILLOG_LITERAL("helo"), MAILLOG_HELO},
    {MAILLOG_LITERAL("proto"), MAILLOG_PROTO},
    {MAILLOG_LITERAL("orig_id"), MAILLOG_ORIG_ID},
    {MAILLOG_LITERAL("orig_queue_id"), MAILLOG_ORIG_QUEUE_ID},
    {MAILLOG_LITERAL("orig_client"), MAILLOG_ORIG_CLIENT},
    {MAILLOG_LITERAL("sasl_method"), MAILLOG_SASL_METHOD},
    {MAILLOG_LITERAL("sasl_username"), MAILLOG_SASL_USERNAME},
    {MAILLOG_LITERAL("sasl_sender"), MAILLOG_SASL_SENDER},
};

/* MAILLOG_FIELDS for a name that is none. */
static enum maillog_field
find_field(struct maillog_view name)
{
	for (size_t i = 0; i < sizeof(pair_names) / sizeof(pair_names[0]); i++)
		if (maillog_view_equal(pair_names[i].name, name))
			return pair_names[i].field;
	return MAILLOG_FIELDS;
}

/* Whether an address may end in front of this. */
static bool
ends_address(struct maillog_view rest)
{
	return rest.size == 0 || memchr(", ;:)", *rest.at, 5) != NULL;
}

/* Where the quoted string that begins at `at` ends, behind its last quote;
 * SIZE_MAX: nowhere. */
static size_t
quoted_end(struct maillog_view text, size_t at)
{
	for (at++; at < text.size; at++) {
		if (text.at[at] == '"')
			return at + 1;
		if (text.at[at] == '\\')
			at++;
	}
	return SIZE_MAX;
}

/* Where the '>' of the address stands; SIZE_MAX: nowhere. */
static size_t
address_end(struct maillog_view text)
{
	size_t at = 1;

	if (text.size > 1 && text.at[1] == '"') {
		size_t behind = quoted_end(text, 1);

		if (behind < text.size && memchr("@>", text.at[behind], 2))
			at = behind;
	}
	while (at < text.size) {
		const char *found = memchr(text.at + at, '>', text.size - at);

		if (found == NULL)
			break;
		at = (size_t)(found - text.at);
		if (ends_address(maillog_view_behind(text, at + 1)))
			return at;
		at++;
	}
	return SIZE_MAX;
}

struct maillog_view
maillog_address_take(struct maillog_view *text)
{
	size_t end = address_end(*text);
	struct maillog_view address = maillog_view_behind(*text, 1);

	if (end == SIZE_MAX) {
		/* Cut. */
		*text = maillog_view_behind(*text, text->size);
		return address;
	}
	address.size = end - 1;
	*text = maillog_view_behind(*text, end + 1);
	return address;
}

static size_t
name_size(struct maillog_view text)
{
	size_t size = 0;

	while (size < text.size &&
	       ((text.at[size] >= 'a' && text.at[size] <= 'z') ||
		   text.at[size] == '_'))
		size++;
	return size < text.size && text.at[size] == '=' ? size : 0;
}

static struct maillog_view
take_value(struct maillog_view *text, char separator)
{
	struct maillog_view value = *text;
	const char *end;

	if (value.size > 0 && *value.at == '<')
		return maillog_address_take(text);
	end = value.size > 0 ? memchr(value.at, separator, value.size) : NULL;
	if (end != NULL)
		value.size = (size_t)(end - value.at);
	*text = maillog_view_behind(*text, value.size);
	if (separator == ' ' && value.size > 0 &&
	    value.at[value.size - 1] == ',')
		value.size--;
	return value;
}

/* The value of status= and of what may stand last before a blank. */
static void
cut_at_blank(struct maillog_view *value, struct maillog_view *rest)
{
	const char *blank =
	    value->size > 0 ? memchr(value->at, ' ', value->size) : NULL;
	size_t behind;

	if (blank == NULL)
		return;
	behind = value->size - (size_t)(blank - value->at);
	value->size -= behind;
	*rest = (struct maillog_view){rest->at - behind, rest->size + behind};
}

static void
skip_separators(struct maillog_view *text)
{
	while (text->size > 0 && (*text->at == ',' || *text->at == ' '))
		*text = maillog_view_behind(*text, 1);
}

struct maillog_view
maillog_pairs_read(
    struct maillog_view text, char separator, struct maillog_record *record)
{
	for (;;) {
		struct maillog_view name, value;
		enum maillog_field field;

		skip_separators(&text);
		name = (struct maillog_view){text.at, name_size(text)};
		if (name.size == 0)
			return text;
		text = maillog_view_behind(text, name.size + 1);
		field = find_field(name);
		value = take_value(&text, separator);
		if (field == MAILLOG_FIELDS)
			continue;
		if (field == MAILLOG_STATUS || field == MAILLOG_NRCPT)
			cut_at_blank(&value, &text);
		/* The first one is Postfix's; a later one may stand in what
		 * somebody said. */
		if (record->fields[field].at == NULL)
			record->fields[field] = value;
		if (field == MAILLOG_STATUS)
			return text;
	}
}

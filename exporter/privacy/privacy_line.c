/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a line's text anew, field by field, and takes it apart again: so that
 * it can be kept and taken apart once more later. What is between the fields
 * stays. Called by privacy_filter.c.
 */
#include "exporter/privacy/privacy_line.h"

#include "base/buffer.h"
#include "exporter/privacy/privacy.h"

enum content { AS_IT_IS, ADDRESS_OF_RECIPIENT, ADDRESS_OF_OTHER, TEXT };

static const enum content contents[MAILLOG_FIELDS] = {
    [MAILLOG_TO] = ADDRESS_OF_RECIPIENT,
    [MAILLOG_ORIG_TO] = ADDRESS_OF_RECIPIENT,
    [MAILLOG_USER] = ADDRESS_OF_RECIPIENT,
    [MAILLOG_FROM] = ADDRESS_OF_OTHER,
    [MAILLOG_SASL_USERNAME] = ADDRESS_OF_OTHER,
    [MAILLOG_SASL_SENDER] = ADDRESS_OF_OTHER,
    [MAILLOG_TEXT] = TEXT,
    [MAILLOG_HELO] = TEXT,
    [MAILLOG_MAILBOX] = TEXT,
};

/* Bytes of the text that one field has, or none. */
struct stretch {
	struct maillog_view view;
	enum content content;
};

static const char *
end_of(struct maillog_view view)
{
	return view.at + view.size;
}

/* The innermost field at `at`, up to where it ends or another begins. */
static struct stretch
stretch_at(const struct log_record *record, const char *at)
{
	const struct maillog_view *fields = record->record.fields;
	struct stretch stretch = {.view = {at, 0}, .content = AS_IT_IS};
	const char *end = end_of(record->line.text);
	size_t size = SIZE_MAX;

	for (unsigned i = 0; i < MAILLOG_FIELDS; i++) {
		const struct maillog_view *field = &fields[i];

		if (field->size == 0)
			continue;
		if (field->at > at) {
			end = field->at < end ? field->at : end;
		} else if (end_of(*field) > at && field->size < size) {
			size = field->size;
			stretch.content = contents[i];
			end = end_of(*field) < end ? end_of(*field) : end;
		}
	}
	stretch.view.size = (size_t)(end - at);
	return stretch;
}

static void
put_stretch(const struct privacy_place *place, const struct stretch *stretch,
    const struct privacy_names *names)
{
	switch (stretch->content) {
	case AS_IT_IS:
		buffer_append(
		    place->text, stretch->view.at, stretch->view.size);
		break;
	case ADDRESS_OF_RECIPIENT:
		privacy_address(place->privacy, PRIVACY_RECIPIENT,
		    stretch->view, place->text);
		break;
	case ADDRESS_OF_OTHER:
		privacy_address(
		    place->privacy, PRIVACY_OTHERS, stretch->view, place->text);
		break;
	case TEXT:
		privacy_text(place->privacy, stretch->view, names, place->text);
		break;
	}
}

static void
write_text(const struct privacy_place *place, const struct log_record *record)
{
	const struct maillog_view *fields = record->record.fields;
	const struct privacy_names names = {{fields[MAILLOG_TO],
	    fields[fields[MAILLOG_USER].size > 0 ? MAILLOG_USER
						 : MAILLOG_ORIG_TO]}};
	const struct maillog_view text = record->line.text;

	buffer_clear(place->text);
	for (const char *at = text.at; at < end_of(text);) {
		struct stretch stretch = stretch_at(record, at);

		put_stretch(place, &stretch, &names);
		at += stretch.view.size;
	}
}

/* Most lines of a log name nobody. */
static bool
has_any(const struct log_record *record)
{
	for (unsigned i = 0; i < MAILLOG_FIELDS; i++)
		if (contents[i] != AS_IT_IS &&
		    record->record.fields[i].size > 0)
			return true;
	return false;
}

void
privacy_line(const struct privacy_place *place, struct log_record *record)
{
	struct maillog_record written;

	if (record->gap != LOG_GAP_NONE || !has_any(record))
		return;
	write_text(place, record);
	if (place->text->failed)
		return;
	record->line.text = (struct maillog_view){
	    (const char *)place->text->data, place->text->size};
	maillog_record_parse(&record->line, &written);
	written.is_cut = record->record.is_cut;
	record->record = written;
}

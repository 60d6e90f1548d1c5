/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which members of events are addresses, or texts that may name some. Called
 * by privacy_filter.c.
 */
#include "exporter/privacy/privacy_event.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "exporter/privacy/privacy.h"

static struct maillog_view
view_of(const char *text)
{
	return (struct maillog_view){text, text != NULL ? strlen(text) : 0};
}

static const char *
finish(const struct privacy_place *place)
{
	return arena_string_sized(place->arena,
	    place->text->size > 0 ? (const char *)place->text->data : "",
	    place->text->size);
}

static void
set_address(const struct privacy_place *place, enum privacy_role role,
    const char **address)
{
	if (*address == NULL)
		return;
	buffer_clear(place->text);
	privacy_address(place->privacy, role, view_of(*address), place->text);
	*address = finish(place);
}

static void
set_text(const struct privacy_place *place, const struct privacy_names *names,
    const char **text)
{
	if (*text == NULL)
		return;
	buffer_clear(place->text);
	privacy_text(place->privacy, view_of(*text), names, place->text);
	*text = finish(place);
}

static void
set_message(const struct privacy_place *place, struct message_event *event)
{
	static const struct privacy_names nobody;
	size_t size = event->recipient_count * sizeof(*event->recipients);
	struct message_recipient *recipients = arena_alloc(place->arena, size);

	set_address(place, PRIVACY_OTHERS, &event->sender);
	set_address(place, PRIVACY_OTHERS, &event->sasl_user);
	set_text(place, &nobody, &event->helo);
	if (recipients == NULL)
		event->recipient_count = 0;
	if (event->recipient_count > 0)
		memcpy(recipients, event->recipients, size);
	event->recipients = recipients;
	for (size_t i = 0; i < event->recipient_count; i++) {
		struct message_recipient *recipient = &recipients[i];
		const struct privacy_names names = {
		    {view_of(recipient->address)}};

		set_address(place, PRIVACY_RECIPIENT, &recipient->address);
		set_text(place, &names, &recipient->reject_text);
	}
}

static void
set_delivery(const struct privacy_place *place, struct delivery_event *event)
{
	size_t size = event->recipient_count * sizeof(*event->recipients);
	struct delivery_recipient *recipients = arena_alloc(place->arena, size);

	set_address(place, PRIVACY_OTHERS, &event->sender);
	if (recipients == NULL)
		event->recipient_count = 0;
	if (event->recipient_count > 0)
		memcpy(recipients, event->recipients, size);
	event->recipients = recipients;
	for (size_t i = 0; i < event->recipient_count; i++) {
		struct delivery_recipient *recipient = &recipients[i];
		const struct privacy_names names = {
		    {view_of(recipient->address)}};

		set_address(place, PRIVACY_RECIPIENT, &recipient->address);
		set_text(place, &names, &recipient->envelope.text);
		set_text(place, &names, &recipient->final.text);
	}
}

void
privacy_event(const struct privacy_place *place, struct event *event)
{
	switch (event->type) {
	case EVENT_MESSAGE:
		set_message(place, &event->message);
		break;
	case EVENT_DELIVERY:
		set_delivery(place, &event->delivery);
		break;
	case EVENT_HEARTBEAT: /* counts */
	case EVENT_OPERATION: /* what operators write */
	case EVENT_NONE:
		break;
	}
}

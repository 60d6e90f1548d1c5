/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searching and reading parts of log lines. Pure; called by all maillog_ files.
 */
#include "exporter/maillog/maillog_view.h"

#define DIGITS_MAX 18
#define SECOND_NS INT64_C(1000000000)
#define SECONDS_MAX INT64_C(9000000000)

bool
maillog_view_skip(struct maillog_view *view, struct maillog_view prefix)
{
	if (!maillog_view_begins(*view, prefix))
		return false;
	*view = maillog_view_behind(*view, prefix.size);
	return true;
}

size_t
maillog_view_find(struct maillog_view view, struct maillog_view part)
{
	const char *found = NULL;

	if (view.size >= part.size)
		found = memmem(view.at, view.size, part.at, part.size);
	return found != NULL ? (size_t)(found - view.at) : SIZE_MAX;
}

size_t
maillog_view_find_last(struct maillog_view view, struct maillog_view part)
{
	size_t found = SIZE_MAX, from = 0;

	while (from <= view.size) {
		size_t next =
		    maillog_view_find(maillog_view_behind(view, from), part);

		if (next == SIZE_MAX)
			break;
		found = from + next;
		from = found + 1;
	}
	return found;
}

struct maillog_view
maillog_view_between(struct maillog_view view, struct maillog_view open,
    struct maillog_view close)
{
	const struct maillog_view nothing = {0};
	size_t at = maillog_view_find(view, open);

	if (at == SIZE_MAX)
		return nothing;
	view = maillog_view_behind(view, at + open.size);
	at = maillog_view_find(view, close);
	if (at == SIZE_MAX)
		return nothing;
	return (struct maillog_view){view.at, at};
}

static bool
is_letter_or_digit(char character)
{
	return (character >= '0' && character <= '9') ||
	       (character >= 'A' && character <= 'Z') ||
	       (character >= 'a' && character <= 'z');
}

size_t
maillog_view_word(struct maillog_view view)
{
	size_t size = 0;

	while (size < view.size && is_letter_or_digit(view.at[size]))
		size++;
	return size;
}

size_t
maillog_view_digits(struct maillog_view view, int64_t *number_r)
{
	size_t count = 0;

	*number_r = 0;
	while (count < view.size && count < DIGITS_MAX &&
	       view.at[count] >= '0' && view.at[count] <= '9')
		*number_r = *number_r * 10 + (view.at[count++] - '0');
	return count;
}

int
maillog_view_number(struct maillog_view view, int64_t *number_r)
{
	size_t count = maillog_view_digits(view, number_r);

	return count > 0 && count == view.size ? 0 : -1;
}

int
maillog_view_seconds(struct maillog_view view, int64_t *ns_r)
{
	int64_t seconds, unit = SECOND_NS;
	size_t count = maillog_view_digits(view, &seconds);

	if (count == 0 || seconds > SECONDS_MAX)
		return -1;
	*ns_r = seconds * SECOND_NS;
	view = maillog_view_behind(view, count);
	if (view.size == 0)
		return 0;
	if (*view.at != '.' || view.size == 1)
		return -1;
	for (size_t i = 1; i < view.size; i++) {
		if (view.at[i] < '0' || view.at[i] > '9')
			return -1;
		unit /= 10;
		*ns_r += (view.at[i] - '0') * unit;
	}
	return 0;
}

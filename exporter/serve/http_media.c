/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Accept for /metrics, on the HTTP threads. A list of ranges, each with
 * parameters; values may be quoted, and commas and semicolons in quotes
 * separate nothing.
 */
#include "exporter/serve/http_media.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "exporter/serve/http_accept.h"

#define BLANKS " \t"

/* How well a range fits; a parameter that agrees makes it fit better. */
enum { FITS_NOT = -1, FITS_ALL, FITS_KIND, FITS_TYPE };

struct text {
	const char *at;
	size_t size;
};

/* What a range says of an offer. */
struct verdict {
	int fit;
	int weight;
};

/* Up to `separator` outside of quotes, without blanks around it. Moves *at
 * behind the separator. */
static struct text
take(const char **at, const char *end, char separator)
{
	const char *from = *at, *to = from;
	bool is_quoted = false;

	for (; to < end && (is_quoted || *to != separator); to++) {
		if (*to == '"')
			is_quoted = !is_quoted;
		else if (is_quoted && *to == '\\' && to + 1 < end)
			to++;
	}
	*at = to < end ? to + 1 : end;
	while (from < to && strchr(BLANKS, *from) != NULL)
		from++;
	while (to > from && strchr(BLANKS, to[-1]) != NULL)
		to--;
	return (struct text){from, (size_t)(to - from)};
}

static bool
is_word(struct text text, const char *word)
{
	return strlen(word) == text.size &&
	       strncasecmp(text.at, word, text.size) == 0;
}

/* The value may be in quotes; none that we offer needs an escape there. */
static bool
is_value(struct text text, const char *value)
{
	if (text.size >= 2 && text.at[0] == '"' &&
	    text.at[text.size - 1] == '"')
		text = (struct text){text.at + 1, text.size - 2};
	return is_word(text, value);
}

static int
fit_type(struct text range, const char *type)
{
	size_t kind = strcspn(type, "/") + 1;

	if (is_word(range, type))
		return FITS_TYPE;
	if (range.size == kind + 1 && range.at[kind] == '*' &&
	    strncasecmp(range.at, type, kind) == 0)
		return FITS_KIND;
	return is_word(range, "*/*") ? FITS_ALL : FITS_NOT;
}

/* Which of the offer's parameters has this name; HTTP_MEDIA_PARAMETERS: none.
 */
static unsigned
find_parameter(struct text name, const struct http_media *offer)
{
	unsigned number = 0;

	while (number < HTTP_MEDIA_PARAMETERS &&
	       (offer->parameters[number].name == NULL ||
		   !is_word(name, offer->parameters[number].name)))
		number++;
	return number;
}

static bool
has_all_it_must(const struct http_media *offer, unsigned asked)
{
	for (unsigned i = 0; i < HTTP_MEDIA_PARAMETERS; i++)
		if (offer->parameters[i].must_be_asked_for &&
		    (asked & 1U << i) == 0)
			return false;
	return true;
}

/* One parameter of a range. Returns false when it says that the range is for
 * something else. */
static bool
judge_parameter(struct text parameter, const struct http_media *offer,
    unsigned *asked, int *weight)
{
	const char *at = parameter.at, *end = at + parameter.size;
	struct text name = take(&at, end, '=');
	struct text value = {at, (size_t)(end - at)};
	unsigned number = find_parameter(name, offer);

	if (is_word(name, "q"))
		*weight = http_accept_number(value.at, value.size);
	if (number == HTTP_MEDIA_PARAMETERS)
		return true;
	*asked |= 1U << number;
	return is_value(value, offer->parameters[number].value);
}

static struct verdict
judge_range(struct text range, const struct http_media *offer)
{
	const char *at = range.at, *end = at + range.size;
	struct verdict verdict = {
	    .fit = fit_type(take(&at, end, ';'), offer->type),
	    .weight = HTTP_ACCEPT_WEIGHT_MAX,
	};
	unsigned asked = 0;

	while (verdict.fit != FITS_NOT && at < end)
		if (!judge_parameter(
			take(&at, end, ';'), offer, &asked, &verdict.weight))
			verdict.fit = FITS_NOT;
	if (verdict.fit != FITS_NOT && !has_all_it_must(offer, asked))
		verdict.fit = FITS_NOT;
	if (verdict.fit != FITS_NOT)
		verdict.fit += __builtin_popcount(asked);
	return verdict;
}

/* The weight of an offer; *place_r is how many ranges were before the one that
 * decided. */
static int
weigh(const char *accept, const struct http_media *offer, size_t *place_r)
{
	const char *at = accept, *end = accept + strlen(accept);
	struct verdict best = {FITS_NOT, 0};

	for (size_t place = 0; at < end; place++) {
		struct verdict verdict =
		    judge_range(take(&at, end, ','), offer);

		if (verdict.fit > best.fit) {
			best = verdict;
			*place_r = place;
		}
	}
	return best.weight;
}

size_t
http_media_choose(
    const char *accept, const struct http_media *offers, size_t count)
{
	size_t best = 0, best_place = SIZE_MAX;
	int best_weight = 0;

	for (size_t i = 0; accept != NULL && i < count; i++) {
		size_t place = SIZE_MAX;
		int weight = weigh(accept, &offers[i], &place);

		if (weight > best_weight ||
		    (weight == best_weight && place < best_place &&
			weight > 0)) {
			best = i;
			best_weight = weight;
			best_place = place;
		}
	}
	return best;
}

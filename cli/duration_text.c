/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times for people: three digits or two units, whichever the size calls for.
 * Called by whatever the command line prints; exact times are --json's.
 */
#include "cli/duration_text.h"

#include <stddef.h>
#include <stdio.h>

/* Up to which size a form is used, the unit of its first and of its second
 * number (0: it has none), and what is written between and behind them. A size
 * that rounding lifts to the next form is written in that one. */
static const struct {
	uint64_t below_ns;
	uint64_t first_ns, second_ns;
	const char *between;
	int digits;
	const char *behind;
} forms[] = {
    {UINT64_C(999500), 1000, 0, "", 0, " \xc2\xb5s"},
    {UINT64_C(99950000), 1000000, 100000, ".", 1, " ms"},
    {UINT64_C(999500000), 1000000, 0, "", 0, " ms"},
    {UINT64_C(9995000000), 1000000000, 10000000, ".", 2, " s"},
    {UINT64_C(59950000000), 1000000000, 100000000, ".", 1, " s"},
    {UINT64_C(3599500000000), 60000000000, 1000000000, " m ", 2, " s"},
    {UINT64_C(86370000000000), 3600000000000, 60000000000, " h ", 2, " m"},
    {UINT64_MAX, 86400000000000, 3600000000000, " d ", 2, " h"},
};

static void
magnitude_text(uint64_t ns, bool utf8, char *text, size_t size)
{
	size_t form = 0, last = sizeof(forms) / sizeof(forms[0]) - 1;
	unsigned long long shown, ratio;
	const char *behind;

	while (form < last && ns >= forms[form].below_ns)
		form++;
	behind = form == 0 && !utf8 ? " us" : forms[form].behind;
	if (forms[form].second_ns == 0) {
		shown = (ns + forms[form].first_ns / 2) / forms[form].first_ns;
		snprintf(text, size, "%llu%s", shown, behind);
		return;
	}
	shown = (ns + forms[form].second_ns / 2) / forms[form].second_ns;
	ratio = forms[form].first_ns / forms[form].second_ns;
	snprintf(text, size, "%llu%s%0*llu%s", shown / ratio,
	    forms[form].between, forms[form].digits, shown % ratio, behind);
}

static void
signed_text(int64_t ns, const char *plus, bool utf8, char *text)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char digits[DURATION_TEXT_SIZE - 1];

	magnitude_text(magnitude, utf8, digits, sizeof(digits));
	snprintf(text, DURATION_TEXT_SIZE, "%s%s", ns < 0 ? "-" : plus, digits);
}

void
duration_text(int64_t ns, bool utf8, char text_r[DURATION_TEXT_SIZE])
{
	signed_text(ns, "", utf8, text_r);
}

void
offset_text(int64_t ns, bool utf8, char text_r[DURATION_TEXT_SIZE])
{
	if (ns == 0)
		snprintf(text_r, DURATION_TEXT_SIZE, "0");
	else
		signed_text(ns, "+", utf8, text_r);
}

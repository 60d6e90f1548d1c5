/* SPDX-License-Identifier: BSD-2-Clause */
/* Edit distance between words. Any thread. */
#include "base/suggest.h"

#include <string.h>

enum { LONGEST = 32 };

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance; both words at most LONGEST. */
static unsigned
distance(const char *left, const char *right)
{
	unsigned row[LONGEST + 1][LONGEST + 1];
	size_t height = strlen(left), width = strlen(right);

	for (size_t i = 0; i <= height; i++)
		row[i][0] = (unsigned)i;
	for (size_t j = 0; j <= width; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= height; i++) {
		for (size_t j = 1; j <= width; j++) {
			unsigned differs = left[i - 1] != right[j - 1];

			row[i][j] =
			    least(least(row[i - 1][j], row[i][j - 1]) + 1,
				row[i - 1][j - 1] + differs);
			if (i > 1 && j > 1 && left[i - 1] == right[j - 2] &&
			    left[i - 2] == right[j - 1])
				row[i][j] =
				    least(row[i][j], row[i - 2][j - 2] + 1);
		}
	}
	return row[height][width];
}

const char *
suggest(const char *word, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	unsigned shortest = LONGEST;

	if (strlen(word) > LONGEST)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		unsigned allowed = 1 + (unsigned)strlen(words[i]) / 4;
		unsigned away = distance(word, words[i]);

		if (away <= allowed && away < shortest) {
			shortest = away;
			nearest = words[i];
		}
	}
	return nearest;
}

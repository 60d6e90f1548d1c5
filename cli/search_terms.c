/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by search.c and watch.c. */
#include "cli/search_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/exporter_ask.h"
#include "cli/search_text.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "store/search.h"
#include "store/search_pseudonym.h"
#include "store/settings.h"

void
search_terms_spare(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t letters =
		    argv[i][0] == '-'
			? strspn(argv[i] + 1, "abcdefghijklmnopqrstuvwxyz")
			: 0;

		if (letters > 1 && argv[i][1 + letters] == ':')
			argv[i][0] = '!';
	}
}

/* The terms as one text, to be freed. */
static char *
join_terms(char *const *terms)
{
	struct buffer text = {0};

	for (size_t i = 0; terms[i] != NULL; i++) {
		buffer_append_string(&text, i > 0 ? " " : "");
		buffer_append_string(&text, terms[i]);
	}
	buffer_append(&text, "", 1);
	return (char *)text.data;
}

static int
misread(const char *text, const struct search_error *error)
{
	struct text_style style = terminal_style(stderr);
	struct buffer out = {0};

	search_text_error(text, error, &style, &out);
	fwrite(out.data, 1, out.size, stderr);
	buffer_free(&out);
	return EXIT_UNUSABLE;
}

/* Where addresses are kept as they are, nobody misses the key. Where they are
 * not, who may not read it asks the exporter. */
static int
add_pseudonyms(const struct store_options *options, const char *directory,
    struct search *search, struct arena *arena, struct reason *reason)
{
	int result = search_add_pseudonyms(directory, search, arena, reason);
	struct reason why;

	if (result != 1)
		return result;
	if (store_options_privacy(options) != PRIVACY_HASH ||
	    exporter_ask_pseudonyms(options, search, arena, &why) == 0)
		return 0;
	return reason_set(reason,
	    "this store knows addresses by pseudonyms only, and the key to "
	    "them is the exporter's and root's: %s",
	    why.text);
}

int
search_terms_read(const struct store_options *options, const char *directory,
    struct arena *arena, struct search *search_r)
{
	char *text = join_terms(options->keys);
	struct search_error error;
	struct reason reason;
	int status = EXIT_OK;

	if (search_parse(
		text, clock_stamp().wall_ns, arena, search_r, &error) != 0)
		status = misread(text, &error);
	else if (add_pseudonyms(options, directory, search_r, arena, &reason) !=
		 0)
		status = store_options_unusable(&reason);
	free(text);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by search.c and slow.c. */
#include "cli/search_page.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/reason.h"
#include "cli/exit_status.h"
#include "cli/search_text.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "cli/text_page.h"
#include "store/query_search.h"
#include "store/search_json.h"

/* Returns 0, or -1 when there is too much of it. */
static int
format(const struct search_page *page, bool as_json, struct arena *arena,
    struct buffer *out)
{
	struct text_style style = terminal_style(stdout);

	if (as_json)
		return search_page_json(page, arena, out);
	for (size_t i = 0; i < page->count; i++)
		if (search_text_hit(&page->hits[i], &style, arena, out) != 0)
			return -1;
	return 0;
}

int
search_page_print(
    const struct search_page *page, bool as_json, struct arena *arena)
{
	struct buffer out = {0};
	struct reason reason;
	int result = format(page, as_json, arena, &out);

	if (result < 0)
		reason_set(&reason, "too large to be shown");
	else if ((out.size > 0 &&
		     fwrite(out.data, 1, out.size, stdout) != out.size) ||
		 fflush(stdout) != 0)
		result = reason_set_errno(&reason, "standard output");
	buffer_free(&out);
	return result < 0 ? store_options_unusable(&reason) : EXIT_OK;
}

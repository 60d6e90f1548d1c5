/* SPDX-License-Identifier: BSD-2-Clause */
/* search_page: a page of a search on standard output. */
#ifndef CLI_SEARCH_PAGE_H
#define CLI_SEARCH_PAGE_H

#include <stdbool.h>

struct arena;
struct search_page;

/* As text for the terminal, or as one JSON object. `arena` is used meanwhile.
 * Returns the exit status; a failure was said. */
int search_page_print(
    const struct search_page *page, bool as_json, struct arena *arena);

#endif

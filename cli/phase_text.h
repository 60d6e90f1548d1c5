/* SPDX-License-Identifier: BSD-2-Clause */
/* phase_text: the rows of a timeline: phase, offset, duration, bar. Pure. */
#ifndef CLI_PHASE_TEXT_H
#define CLI_PHASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text_page;
struct timeline;
struct timeline_phase;

void phase_text_heading(
    struct text_page *page, const struct timeline *timeline);

/* One row each; the bars lie within the whole of `timeline`. */
void phase_text_rows(struct text_page *page, const struct timeline *timeline,
    const struct timeline_phase *phases, size_t count);

#endif

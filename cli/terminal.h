/* SPDX-License-Identifier: BSD-2-Clause */
/* terminal: what the reader of a stream can show. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

struct text_style;

/* Width: the terminal's, else COLUMNS, else 80; never below 40. Colours: on a
 * terminal unless NO_COLOR is set or TERM is dumb. UTF-8: as the locale of the
 * environment says, which this sets for LC_CTYPE. */
struct text_style terminal_style(FILE *out);

#endif

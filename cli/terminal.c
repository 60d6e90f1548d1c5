/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only file of the command line that asks the terminal and the
 * environment how to print. Called once, before output.
 */
#include "cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/text_page.h"

enum { WIDTH_DEFAULT = 80, WIDTH_LEAST = 40, WIDTH_MOST = 400 };

static unsigned
width_of(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = WIDTH_DEFAULT;

	if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 &&
	    size.ws_col > 0)
		width = size.ws_col;
	else if (columns != NULL && atoi(columns) > 0)
		width = atoi(columns);
	if (width < WIDTH_LEAST)
		return WIDTH_LEAST;
	return width < WIDTH_MOST ? (unsigned)width : WIDTH_MOST;
}

static bool
shows_colours(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (!isatty(fileno(out)) || term == NULL || strcmp(term, "dumb") == 0)
		return false;
	return no_color == NULL || no_color[0] == '\0';
}

struct text_style
terminal_style(FILE *out)
{
	setlocale(LC_CTYPE, "");
	return (struct text_style){
	    .width = width_of(out),
	    .colour = shows_colours(out),
	    .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assets: the files of the page, as they lie in the program.
 *
 * build.mjs makes the table from what is beside it; assets_absent.c has it for
 * a build without the page. Constant.
 */
#ifndef EXPORTER_WEB_ASSETS_H
#define EXPORTER_WEB_ASSETS_H

#include <stddef.h>

struct web_asset {
	const char *path; /* as it is asked for */
	const char *content_type;
	const unsigned char *data; /* compressed by gzip */
	size_t size;
};

extern const struct web_asset web_assets[];
extern const size_t web_asset_count;

#endif

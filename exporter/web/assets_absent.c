/* SPDX-License-Identifier: BSD-2-Clause */
/* For a build without the page (make WEB=no): there are no files, and / says
 * so. */
#include "exporter/web/assets.h"

const struct web_asset web_assets[] = {{NULL, NULL, NULL, 0}};
const size_t web_asset_count = 0;

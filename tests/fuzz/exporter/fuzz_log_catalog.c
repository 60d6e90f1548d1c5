/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read as a catalog is written so that it is read as the same again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "exporter/read/log_catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_catalog catalog = {0}, again = {0};
	struct buffer text = {0};

	if (log_catalog_read(&catalog, data, size) == 0) {
		log_catalog_write(&catalog, &text);
		assert(log_catalog_read(&again, text.data, text.size) == 0);
		assert(again.count == catalog.count);
		assert(catalog.count == 0 ||
		       memcmp(again.items, catalog.items,
			   catalog.count * sizeof(*again.items)) == 0);
	}
	log_catalog_free(&catalog);
	log_catalog_free(&again);
	buffer_free(&text);
	return 0;
}

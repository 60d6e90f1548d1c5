/* SPDX-License-Identifier: BSD-2-Clause */
/* reader_private: what the files with the reader's questions share. */
#ifndef STORE_READER_PRIVATE_H
#define STORE_READER_PRIVATE_H

#include "store/layout.h"

struct database;
struct reader_pool;

struct store_reader {
	char *directory;
	struct reader_pool *pool;
	/* See archive_reader.h. */
	struct database *archive; /* NULL while closed */
	struct layout_identity archive_identity;
};

#endif

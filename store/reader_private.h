/* SPDX-License-Identifier: BSD-2-Clause */
/* reader_private: what the files with the reader's questions share. */
#ifndef STORE_READER_PRIVATE_H
#define STORE_READER_PRIVATE_H

struct reader_pool;

struct store_reader {
	char *directory;
	struct reader_pool *pool;
};

#endif

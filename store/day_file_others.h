/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * day_file_others: what others did to a day file that its writer has open. Used
 * by day_file.c. Ingest thread only.
 */
#ifndef STORE_DAY_FILE_OTHERS_H
#define STORE_DAY_FILE_OTHERS_H

struct day_file;
struct reason;

/* Before a transaction: whether others did something to the file or its log.
 * Returns 0, or -1 with a reason when they did: then it is closed, and what the
 * caller knows of its rows is void. */
int day_file_look_for_others(struct day_file *file, struct reason *reason);

/* Behind a commit: whether the file was removed before it. What was committed
 * is to be read again then. Returns as above. */
int day_file_look_for_removal(struct day_file *file, struct reason *reason);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* disk: how much room a file system has left. No state, any thread. */
#ifndef BASE_DISK_H
#define BASE_DISK_H

#include <stdint.h>

/* Bytes that ordinary users may still write to the file system of the directory
 * or file at `path`; -1 with errno when that cannot be told. */
int64_t disk_available_bytes(const char *path);

#endif

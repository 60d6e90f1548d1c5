/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_file: one file of a log, as it is or compressed by gzip.
 *
 * Opened for reading only and never locked. Offsets count uncompressed bytes.
 * Not thread-safe.
 */
#ifndef EXPORTER_READ_LOG_FILE_H
#define EXPORTER_READ_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_file;
struct reason;
struct stat;

/* How far into a file its first line is looked for. */
#define LOG_HEAD_BYTES 4096

/* The first line, or as much of it as LOG_HEAD_BYTES hold: what a file is known
 * by, whatever its name, inode and compression. */
struct log_head {
	uint64_t bytes; /* with the newline */
	uint64_t hash;
	int64_t wall_ns; /* its time; 0: it has none */
};

enum log_compression {
	LOG_PLAIN,
	LOG_GZIP,
	LOG_COMPRESSED, /* in a way that is not read here */
};

/* By the file's name. */
enum log_compression log_compression_of(const char *name);

/* Opens `name` below an open directory. NULL with a reason; errno is
 * kept. */
struct log_file *log_file_open(
    int directory_fd, const char *name, struct reason *reason);

/* Reads at any offset; going back in a compressed file begins at its front.
 * Returns how many bytes, 0 at the end of what is there, or -1. */
long log_file_read(struct log_file *file, uint64_t offset, void *data,
    size_t size, struct reason *reason);

/* Returns 1 with the head; 0 when there is no whole first line yet; -1. */
int log_file_head(
    struct log_file *file, struct log_head *head_r, struct reason *reason);

/* Whether the head is still the same, which no other content of the file
 * has. An I/O error counts as yes. */
bool log_file_has_head(struct log_file *file, const struct log_head *head);

/* fstat(2) of the file, whatever its name is by now. Returns 0, or -1. */
int log_file_status(const struct log_file *file, struct stat *status_r);

/* When the inode was made; 0 when the system does not tell, or for NULL. */
int64_t log_file_born_wall_ns(const struct log_file *file);

bool log_file_is_compressed(const struct log_file *file);

/* Another name for the open file, "/proc/self/fd/N", for inotify(7). */
const char *log_file_descriptor_path(const struct log_file *file);

void log_file_close(struct log_file **file);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* progress_text: how far the exporter is behind, in words. Pure. */
#ifndef CLI_PROGRESS_TEXT_H
#define CLI_PROGRESS_TEXT_H

struct progress;

/* "the exporter catches up: lmtp 3.2 MB, log 1.5 GB to read, about 6100000
 * events, 52000 a second, done in about 1 m 58 s", to be freed with free(3). */
char *progress_text(const struct progress *progress);

#endif

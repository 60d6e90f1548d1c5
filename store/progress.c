/* SPDX-License-Identifier: BSD-2-Clause */
/* Written by the exporter on the ingest thread, read by the command line. */
#include "store/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

void
progress_write(const struct progress *progress, struct buffer *out)
{
	buffer_append_format(out, "%" PRId64 " %" PRId64 " %" PRId64 "\n",
	    progress->wall_ns, progress->events_per_second, progress->left_ns);
	for (size_t i = 0; i < progress->count; i++)
		buffer_append_format(out, "%s %" PRId64 " %" PRId64 "\n",
		    progress->sources[i].name, progress->sources[i].bytes,
		    progress->sources[i].events);
}

int
progress_read(const char *text, struct progress *progress_r)
{
	int size;

	*progress_r = (struct progress){.count = 0};
	if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 "%n",
		&progress_r->wall_ns, &progress_r->events_per_second,
		&progress_r->left_ns, &size) != 3)
		return -1;
	text += size;
	while (progress_r->count < PROGRESS_SOURCES_MAX) {
		struct progress_source *source =
		    &progress_r->sources[progress_r->count];

		if (sscanf(text, " %15s %" SCNd64 " %" SCNd64 "%n",
			source->name, &source->bytes, &source->events,
			&size) != 3)
			break;
		text += size;
		progress_r->count++;
	}
	return 0;
}

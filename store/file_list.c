/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The note has a name a line. Called by store_sum.c on the ingest thread.
 */
#include "store/file_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/log.h"
#include "store/control.h"
#include "store/layout.h"

#define NOTE "files"

static void
append_if_there(struct buffer *note, const char *path)
{
	if (layout_identify(path).inode != 0)
		buffer_append_format(note, "%s\n", strrchr(path, '/') + 1);
}

void
file_list_note(struct control *control, const char *directory)
{
	char *path = layout_path(directory, LAYOUT_ARCHIVE);
	struct buffer note = {.data = NULL};
	int64_t *days = NULL;
	long count = layout_list(directory, &days, NULL);

	append_if_there(&note, path);
	free(path);
	for (long i = 0; i < count; i++) {
		path = layout_day_path(directory, days[i]);
		append_if_there(&note, path);
		free(path);
	}
	if (count >= 0)
		control_note_keep(control, NOTE, &note);
	free(days);
	buffer_free(&note);
}

static bool
is_archived(const char *name, const int64_t *archived, size_t count)
{
	int64_t day;

	if (layout_parse(name, &day) != 1)
		return false;
	for (size_t i = 0; i < count; i++)
		if (archived[i] == day)
			return true;
	return false;
}

static bool
is_there(const char *directory, const char *name)
{
	char *path = layout_path(directory, name);
	bool found = layout_identify(path).inode != 0;

	free(path);
	return found;
}

void
file_list_missing(const struct control *control, const char *directory,
    struct buffer *names_r)
{
	struct buffer note = {.data = NULL};
	char *name, *rest = NULL;

	control_note_read(control, NOTE, &note);
	buffer_append(&note, "", 1);
	for (name = strtok_r((char *)note.data, "\n", &rest); name != NULL;
	     name = strtok_r(NULL, "\n", &rest))
		if (!is_there(directory, name))
			buffer_append_format(names_r, "%s\n", name);
	buffer_free(&note);
}

uint64_t
file_list_tell(struct buffer *names, const char *directory,
    const int64_t *archived, size_t archived_count)
{
	char *name, *rest = NULL;
	uint64_t told = 0;

	buffer_append(names, "", 1);
	for (name = strtok_r((char *)names->data, "\n", &rest); name != NULL;
	     name = strtok_r(NULL, "\n", &rest)) {
		if (is_archived(name, archived, archived_count))
			continue;
		log_error("file=%s/%s reason=\"others removed it; what it "
			  "counted stays\"",
		    directory, name);
		told++;
	}
	return told;
}

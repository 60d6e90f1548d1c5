/* SPDX-License-Identifier: BSD-2-Clause */
/* Probed by the writer on the ingest thread, asked by readers on theirs. */
#include "store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/reason.h"
#include "store/layout.h"

static atomic_bool is_read_only;

/* Returns 0 or -1 with errno. */
static int
write_a_byte(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	int result = -1, error = errno;

	if (fd >= 0) {
		result = pwrite(fd, "\n", 1, 0) == 1 ? 0 : -1;
		error = errno;
		close(fd);
	}
	errno = error;
	return result;
}

int
disk_probe(const char *directory, struct reason *reason)
{
	char *path = layout_path(directory, "lock");
	int result = write_a_byte(path);

	if (result != 0 && (errno == ENOSPC || errno == EDQUOT))
		result = 0;
	if (result != 0)
		reason_set_errno(reason, "%s", path);
	atomic_store(&is_read_only, result != 0);
	free(path);
	return result;
}

bool
disk_is_read_only(void)
{
	return atomic_load(&is_read_only);
}

/* In a URI some characters would not be part of the path. */
char *
disk_reading_name(const char *path)
{
	struct buffer name = {.data = NULL};

	if (!disk_is_read_only())
		return memory_string(path);
	buffer_append_string(&name, "file:");
	for (; *path != '\0'; path++) {
		if (strchr("?#%", *path) != NULL)
			buffer_append_format(&name, "%%%02x", *path);
		else
			buffer_append(&name, path, 1);
	}
	buffer_append_string(&name, "?readonly_shm=1");
	buffer_append(&name, "", 1);
	return (char *)name.data;
}

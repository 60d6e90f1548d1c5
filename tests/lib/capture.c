/* SPDX-License-Identifier: BSD-2-Clause */
/* A memory file stands in for the descriptor meanwhile. Used by unit tests. */
#include "tests/lib/capture.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void
capture_begin(struct capture *capture, int fd)
{
	fflush(NULL);
	capture->fd = fd;
	capture->saved_fd = dup(fd);
	capture->file = memfd_create("capture", MFD_CLOEXEC);
	assert(capture->saved_fd >= 0 && capture->file >= 0);
	/* Threads and children write at the end, whatever they share. */
	fcntl(capture->file, F_SETFL, O_APPEND);
	dup2(capture->file, fd);
	capture->active = true;
}

const char *
capture_end(struct capture *capture)
{
	ssize_t size;

	fflush(NULL);
	dup2(capture->saved_fd, capture->fd);
	close(capture->saved_fd);
	size =
	    pread(capture->file, capture->text, sizeof(capture->text) - 1, 0);
	assert(size >= 0);
	capture->text[size] = '\0';
	close(capture->file);
	capture->active = false;
	return capture->text;
}

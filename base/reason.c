/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills in the sentence of a failure. Called by everything that can fail, on
 * any thread; touches nothing but the reason it was given.
 */
#include "base/reason.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
reason_set(struct reason *reason, const char *format, ...)
{
	int saved_errno = errno;
	va_list arguments;

	if (reason != NULL) {
		va_start(arguments, format);
		vsnprintf(
		    reason->text, sizeof(reason->text), format, arguments);
		va_end(arguments);
	}
	errno = saved_errno;
	return -1;
}

int
reason_set_errno(struct reason *reason, const char *format, ...)
{
	int saved_errno = errno;
	char description[128];
	va_list arguments;
	size_t used;

	if (reason != NULL) {
		va_start(arguments, format);
		vsnprintf(
		    reason->text, sizeof(reason->text), format, arguments);
		va_end(arguments);
		used = strlen(reason->text);
		snprintf(reason->text + used, sizeof(reason->text) - used,
		    ": %s",
		    strerror_r(saved_errno, description, sizeof(description)));
	}
	errno = saved_errno;
	return -1;
}

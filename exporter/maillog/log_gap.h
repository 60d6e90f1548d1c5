/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_gap: why lines of a log may be missing. Any thread.
 */
#ifndef EXPORTER_MAILLOG_LOG_GAP_H
#define EXPORTER_MAILLOG_LOG_GAP_H

/* The later ones are the worse. */
enum log_gap {
	LOG_GAP_NONE,
	/* Copied and then truncated (logrotate's copytruncate): what was
	 * written in between and not read at once is lost. */
	LOG_GAP_COPIED,
	LOG_GAP_TORN,    /* a last line without its end */
	LOG_GAP_DAMAGED, /* a file's end was lost, a .gz or a disk is damaged */
	LOG_GAP_UNREADABLE, /* compressed in a way that is not read here */
	LOG_GAP_GONE,       /* rotated away and removed before it was read */
	LOG_GAP_TRUNCATED,  /* emptied without a copy */
	LOG_GAP_LIMITED, /* as many lines as the logger's rate limit lets pass:
			    it may have dropped more */
	LOG_GAPS
};

/* "copied", ...; "unknown" for what is not in the enum. */
const char *log_gap_name(enum log_gap gap);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maillog_shape: how lines look, as data, and the readers that the tables name.
 * Only for the maillog_ files.
 */
#ifndef EXPORTER_MAILLOG_MAILLOG_SHAPE_H
#define EXPORTER_MAILLOG_MAILLOG_SHAPE_H

#include "exporter/maillog/maillog_record.h"

struct maillog_shape;

/* Reads `text`, which begins with the shape's prefix, into a record that has
 * the shape's kind. Returns whether it is of this shape after all. */
typedef bool maillog_reader(const struct maillog_shape *shape,
    struct maillog_view text, struct maillog_record *record);

struct maillog_shape {
	struct maillog_view prefix; /* of the text behind the queue id */
	enum maillog_kind kind;
	maillog_reader *read;
	int argument; /* the reader's: a field or an action */
};

/* The end of a table. */
#define MAILLOG_SHAPES_END                                                     \
	{                                                                      \
		{NULL, 0}, MAILLOG_OTHER, NULL, 0                              \
	}

/* A program of Postfix and what it says. */
struct maillog_speaker {
	struct maillog_view name;
	enum maillog_program program;
	const struct maillog_shape *with_id;
	const struct maillog_shape *without_id;
};

/* Never NULL: unknown programs with a syslog name are taken for agents. */
const struct maillog_speaker *maillog_speaker(const struct maillog_line *line);

/* Warnings and worse, whoever says them. */
extern const struct maillog_shape maillog_warnings_with_id[];
extern const struct maillog_shape maillog_warnings_without_id[];

/* Finds the first shape that fits and reads. Returns whether one did. */
bool maillog_shapes_read(const struct maillog_shape *shapes,
    struct maillog_view text, struct maillog_record *record);

/* Lines of Dovecot and of the syslog daemons. */
void maillog_dovecot_read(
    const struct maillog_line *line, struct maillog_record *record);
void maillog_notice_read(
    struct maillog_view text, struct maillog_record *record);

/* "last message repeated 3 times". */
bool maillog_notice_repeated(
    struct maillog_view text, struct maillog_record *record);

/* Takes "message repeated 3 times: [" and its end off. */
void maillog_notice_unfold(
    struct maillog_view *text, struct maillog_record *record);

/* Readers. */
maillog_reader maillog_read_nothing; /* nothing behind the prefix */
maillog_reader maillog_read_rest;    /* all behind the prefix: a field */
maillog_reader maillog_read_text;    /* all, the prefix too: the text */
maillog_reader maillog_read_comma_pairs;
maillog_reader maillog_read_blank_pairs;
maillog_reader maillog_read_delivery;
maillog_reader maillog_read_sender; /* qmgr's lines that begin with from= */
maillog_reader maillog_read_passing;
maillog_reader maillog_read_notification;
maillog_reader maillog_read_summary;
maillog_reader maillog_read_restriction;
maillog_reader maillog_read_content;
maillog_reader maillog_read_milter;
maillog_reader maillog_read_proxy;
maillog_reader maillog_read_session;
maillog_reader maillog_read_broken;
maillog_reader maillog_read_quoted_id;
maillog_reader maillog_read_lost_file;
maillog_reader maillog_read_not_accepted;

/* Parts that readers share. */

/* Reads `name=value` up to the end; names that are no field are passed over.
 * Values end at `separator` (',' or ' '), addresses at their '>'. Stops behind
 * status=. Returns what follows. */
struct maillog_view maillog_pairs_read(
    struct maillog_view text, char separator, struct maillog_record *record);

/* Takes an address in angle brackets off the front, which must begin with '<',
 * and returns it without them. A local part in quotes may hold anything. */
struct maillog_view maillog_address_take(struct maillog_view *text);

enum maillog_action maillog_action_find(struct maillog_view word);
enum maillog_status maillog_status_find(struct maillog_view word);

#endif

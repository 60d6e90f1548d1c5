/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_dump: one event of a journal as a line.
 *
 * Bytes that are not UTF-8 are shown as U+FFFD. What was never supplied is left
 * out; the text form also leaves out zeros.
 */
#ifndef CLI_EVENT_DUMP_H
#define CLI_EVENT_DUMP_H

#include <stdio.h>

struct journal_record;

/* As key=value; values are quoted where they hold spaces, quotes or control
 * characters. Members of arrays are recipients[0].address and so on. */
void event_dump_text(FILE *out, const struct journal_record *record);

/* As a JSON object. A stamp is an object of its time as text, and of both
 * clocks in nanoseconds. */
void event_dump_json(FILE *out, const struct journal_record *record);

#endif

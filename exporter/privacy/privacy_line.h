/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privacy_line: lines of the log as privacy allows them. Not thread-safe.
 */
#ifndef EXPORTER_PRIVACY_PRIVACY_LINE_H
#define EXPORTER_PRIVACY_PRIVACY_LINE_H

#include "exporter/privacy/privacy_event.h"
#include "exporter/read/log_record.h"

/* Has the line's text and the record's views stand for a copy in place->text.
 * All other views stay: only the fields of the record may be kept. */
void privacy_line(const struct privacy_place *place, struct log_record *record);

#endif

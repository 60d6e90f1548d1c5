/* SPDX-License-Identifier: BSD-2-Clause */
/* log_trust_record: what a line says of the log itself. */
#ifndef EXPORTER_READ_LOG_TRUST_RECORD_H
#define EXPORTER_READ_LOG_TRUST_RECORD_H

struct log_record;
struct log_trust;

/* Tells `trust` of a line that was read; `instance` is whose it is if it is
 * Postfix's. */
void log_trust_record(struct log_trust *trust, const char *instance,
    const struct log_record *record);

#endif

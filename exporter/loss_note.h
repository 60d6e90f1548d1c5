/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss_note: tell readers of the store whether losses are looked for, since
 * that nothing is lost means nothing where nobody looks. For the ingest thread.
 */
#ifndef EXPORTER_LOSS_NOTE_H
#define EXPORTER_LOSS_NOTE_H

#include "exporter/metrics/metric_labels.h"

struct store;

/* Notes it, unless *noted says that it is noted already; that begins as
 * LOSS_DETECTIONS. What cannot be written is told, and tried again with the
 * next change. */
void loss_note(
    struct store *store, enum loss_detection now, enum loss_detection *noted);

#endif

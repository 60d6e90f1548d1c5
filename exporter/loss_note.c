/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by ingest with each picture that it publishes. */
#include "exporter/loss_note.h"

#include "base/buffer.h"
#include "base/log.h"
#include "base/reason.h"
#include "exporter/metrics/metrics.h"
#include "store/query_note.h"
#include "store/store.h"

void
loss_note(
    struct store *store, enum loss_detection now, enum loss_detection *noted)
{
	struct buffer text = {0};
	struct reason reason;

	if (now == *noted)
		return;
	*noted = now;
	buffer_append_string(
	    &text, metric_label_value(METRIC_LOSS_DETECTION, now, 0));
	if (store_note_write(store, NOTE_LOSS_DETECTION, &text, &reason) != 0)
		log_warn("reason=\"%s\"", reason.text);
	buffer_free(&text);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gone: losses of which no message is kept any more.
 *
 * Their day was purged, or others removed its file. Nobody can find them any
 * more, nor acknowledge them: they count as deleted from then on, so that what
 * is lost now is what `postlag lost` lists. Part of ingest, on its thread.
 */
#ifndef EXPORTER_GONE_H
#define EXPORTER_GONE_H

#include <stdint.h>

struct reason;
struct store;

/* `lost`: how many recipients are by what was committed. As part of the batch;
 * what it changed itself makes no difference. Returns how many are gone, or -1
 * when the store failed. */
long gone_settle(struct store *store, int64_t lost, struct reason *reason);

#endif

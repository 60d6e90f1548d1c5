/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exporter_ask: ask the running exporter for what only it may know.
 *
 * The key to pseudonyms is the exporter's, so that nobody who may read the
 * store can carry it away and try all names there are; it makes one pseudonym
 * at a time for who asks on its own machine.
 */
#ifndef CLI_EXPORTER_ASK_H
#define CLI_EXPORTER_ASK_H

struct arena;
struct reason;
struct search;
struct store_options;

/* search_ask_pseudonyms() of the exporter that the configuration names. Returns
 * 0, or -1 with a reason. */
int exporter_ask_pseudonyms(const struct store_options *options,
    struct search *search, struct arena *arena, struct reason *reason);

/* Whether the exporter that the configuration names answers, and has read what
 * there is. Returns 0, or -1 with a reason. */
int exporter_ask_ready(
    const struct store_options *options, struct reason *reason);

#endif

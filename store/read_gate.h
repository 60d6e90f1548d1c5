/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_gate: keep new readers out for a moment.
 *
 * SQLite begins a write-ahead log anew only when nobody reads it. With enough
 * readers that never happens: the log grows, and reading and writing get slower
 * with it. So the checkpoint thread closes the gate then, waits for those who
 * read to end, and opens it again. It is an advisory lock, flock(2), on the
 * store's directory, so that it concerns readers in other processes, too, and
 * goes with the process that holds it. Nobody waits long: a reader goes on all
 * the same after READ_GATE_MS, should the exporter stand still. Any thread,
 * each with a gate of its own.
 */
#ifndef STORE_READ_GATE_H
#define STORE_READ_GATE_H

#include <stdbool.h>

#define READ_GATE_MS 300

/* Returns a descriptor to be closed with close(2), or -1: then the functions
 * below do nothing. */
int read_gate(const char *directory);

/* To be called before reading begins. */
void read_gate_pass(int gate);

/* Returns whether it is closed now. */
bool read_gate_close(int gate);
void read_gate_open(int gate);

#endif

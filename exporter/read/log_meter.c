/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts in short steps of time, of which an interval has some. Processes are
 * kept by number in a table of fixed size, where one may push out another.
 * Called by log_source.c, on the ingest thread.
 */
#include "exporter/read/log_meter.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define STEPS 16
#define PROCESSES 4096
#define BILLION INT64_C(1000000000)

#define PEAK_NS (300 * CLOCK_NS_PER_SECOND)
#define PEAKS 12

struct window {
	int64_t pid;
	int64_t step; /* the latest */
	uint32_t lines[STEPS];
};

struct peak {
	int64_t number;
	uint64_t lines;
};

struct log_meter {
	struct log_limit limit;
	int64_t step_ns;
	unsigned span; /* steps that an interval may lie in */
	size_t count;
	struct window *windows;
	struct peak peaks[PEAKS];
	int64_t latest_ns;
	int64_t used_up_ns; /* when it was; 0: never */
	bool was_near;
};

struct log_meter *
log_meter_new(const struct log_limit *limit, bool by_process)
{
	struct log_meter *meter = memory_zeroed(1, sizeof(*meter));

	meter->limit = *limit;
	meter->count = by_process ? PROCESSES : 1;
	if (limit->interval_ns <= 0 || limit->burst <= 0)
		return meter;
	meter->step_ns = limit->interval_ns / (STEPS - 1) + 1;
	if (meter->step_ns < CLOCK_NS_PER_SECOND)
		meter->step_ns = CLOCK_NS_PER_SECOND;
	meter->span = (unsigned)(limit->interval_ns / meter->step_ns) + 1;
	meter->windows = memory_zeroed(meter->count, sizeof(*meter->windows));
	return meter;
}

void
log_meter_free(struct log_meter **meter)
{
	if (*meter == NULL)
		return;
	free((*meter)->windows);
	free(*meter);
	*meter = NULL;
}

static struct window *
window_of(struct log_meter *meter, int64_t pid)
{
	struct window *window;

	if (meter->count == 1)
		return meter->windows;
	window = &meter->windows[(uint64_t)pid % meter->count];
	if (window->pid != pid)
		*window = (struct window){.pid = pid};
	return window;
}

/* Forgets the steps between the latest one and this. Returns whether it lies
 * too far back to be counted. */
static bool
move_on(struct window *window, int64_t step)
{
	if (step > window->step + STEPS)
		memset(window->lines, 0, sizeof(window->lines));
	else
		for (int64_t i = window->step + 1; i <= step; i++)
			window->lines[i % STEPS] = 0;
	if (step > window->step)
		window->step = step;
	return step <= window->step - STEPS;
}

static uint64_t
sum(const struct log_meter *meter, const struct window *window)
{
	uint64_t lines = 0;

	for (unsigned i = 0; i < meter->span && i <= window->step; i++)
		lines += window->lines[(window->step - i) % STEPS];
	return lines;
}

static void
keep_peak(struct log_meter *meter, int64_t wall_ns, uint64_t lines)
{
	int64_t number = wall_ns / PEAK_NS;
	struct peak *peak = &meter->peaks[number % PEAKS];

	if (peak->number < number)
		*peak = (struct peak){number, lines};
	else if (peak->number == number && peak->lines < lines)
		peak->lines = lines;
}

static enum log_meter_news
news(struct log_meter *meter, int64_t wall_ns, uint64_t lines)
{
	uint64_t burst = (uint64_t)meter->limit.burst;
	bool was_near = meter->was_near;

	meter->was_near |= lines > burst / 2;
	if (lines < burst ||
	    (meter->used_up_ns != 0 &&
		wall_ns < meter->used_up_ns + meter->limit.interval_ns))
		return meter->was_near && !was_near ? LOG_METER_NEAR
						    : LOG_METER_NOTHING;
	meter->used_up_ns = wall_ns;
	return LOG_METER_USED_UP;
}

enum log_meter_news
log_meter_add(
    struct log_meter *meter, int64_t pid, int64_t wall_ns, unsigned lines)
{
	struct window *window;
	uint64_t used;

	if (meter->windows == NULL || wall_ns <= 0)
		return LOG_METER_NOTHING;
	if (wall_ns > meter->latest_ns)
		meter->latest_ns = wall_ns;
	window = window_of(meter, pid);
	if (move_on(window, wall_ns / meter->step_ns))
		return LOG_METER_NOTHING;
	window->lines[wall_ns / meter->step_ns % STEPS] += lines;
	used = sum(meter, window);
	keep_peak(meter, wall_ns, used);
	return news(meter, wall_ns, used);
}

int64_t
log_meter_used(const struct log_meter *meter)
{
	int64_t now = meter->latest_ns / PEAK_NS;
	uint64_t lines = 0;

	for (size_t i = 0; i < PEAKS; i++)
		if (meter->peaks[i].number > now - PEAKS &&
		    meter->peaks[i].lines > lines)
			lines = meter->peaks[i].lines;
	if (meter->windows == NULL)
		return 0;
	return lines > INT32_MAX
		   ? INT64_MAX
		   : (int64_t)lines * BILLION / meter->limit.burst;
}

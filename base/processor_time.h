/* SPDX-License-Identifier: BSD-2-Clause */
/* processor_time: what a thread has had of the processor. No state, any thread.
 */
#ifndef BASE_PROCESSOR_TIME_H
#define BASE_PROCESSOR_TIME_H

#include <stdint.h>

struct processor_time {
	int64_t spent_ns;
	int64_t queued_ns; /* ready to run while others did */
};

/* Of the calling thread since it began. A kernel without schedstat (proc(5))
 * does not tell for how long it was queued, which is 0 then. */
struct processor_time processor_time(void);

#endif

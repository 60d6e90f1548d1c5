/* SPDX-License-Identifier: BSD-2-Clause */
/* Called by outcome.c and join_log_delivery.c. */
#include "exporter/join/deferral.h"

#include "exporter/metrics/effect.h"

/* "4.2.2" */
#define SUBJECT 2
#define SUBJECT_END 3

enum metric_deferral
deferral_reason(struct maillog_view enhanced)
{
	unsigned subject;

	if (enhanced.size <= SUBJECT_END || enhanced.at[SUBJECT - 1] != '.' ||
	    enhanced.at[SUBJECT_END] != '.')
		return DEFERRAL_OTHER;
	subject = (unsigned)enhanced.at[SUBJECT] - '0';
	return subject < DEFERRALS ? (enum metric_deferral)subject
				   : DEFERRAL_OTHER;
}

void
deferral_count(struct day_file *file, struct maillog_view enhanced)
{
	effect_count(file, METRIC_DEFERRALS, deferral_reason(enhanced), 1);
}

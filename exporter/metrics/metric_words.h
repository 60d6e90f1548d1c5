/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metric_words: the words of labels' values, by their numbers.
 *
 * Each function knows the values of one label; its number must be below their
 * count. The words are static. Any thread.
 */
#ifndef EXPORTER_METRICS_METRIC_WORDS_H
#define EXPORTER_METRICS_METRIC_WORDS_H

#include "exporter/metrics/metric_labels.h"

/* The words for journals, which metric_source() looks up. */
extern const char *const metric_sources[SOURCES];

const char *metric_source_word(unsigned number);
const char *metric_added_word(unsigned number);
const char *metric_outcome_word(unsigned number);
const char *metric_state_word(unsigned number);
const char *metric_revised_from_word(unsigned number);
const char *metric_revised_to_word(unsigned number);
const char *metric_route_word(unsigned number);
const char *metric_phase_word(unsigned number);
const char *metric_result_word(unsigned number);
const char *metric_deferral_word(unsigned number);
const char *metric_reject_phase_word(unsigned number);
const char *metric_class_word(unsigned number);
const char *metric_abort_word(unsigned number);
const char *metric_unstamped_word(unsigned number);
const char *metric_milter_unstamped_word(unsigned number);
const char *metric_dropped_word(unsigned number);
const char *metric_detection_word(unsigned number);
const char *metric_place_word(unsigned number);
const char *metric_log_line_word(unsigned number);
const char *metric_log_gap_word(unsigned number);
const char *metric_log_limit_word(unsigned number);
const char *metric_filing_word(unsigned number);
const char *metric_disk_word(unsigned number);
const char *metric_version_word(unsigned number);

#endif

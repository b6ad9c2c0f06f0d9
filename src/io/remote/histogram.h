/* SPDX-License-Identifier: MIT
 *
 * histogram.h: how often durations occurred, for percentiles. 16 classes to each doubling: a percentile is within 3 %.
 */
#ifndef GATHER_REMOTE_HISTOGRAM_H
#define GATHER_REMOTE_HISTOGRAM_H

#include <stdint.h>

enum { GATHER_HISTOGRAM_CLASSES = 16 * 44 };

/* All zero is empty. */
typedef struct gather_histogram {
  int64_t count;
  uint32_t classes[GATHER_HISTOGRAM_CLASSES];
} gather_histogram;

void gather_histogram_add(gather_histogram *histogram, int64_t nanoseconds);
/* The duration that a share (0 to 1) of those added does not exceed; 0 if it is empty. */
int64_t gather_histogram_share(const gather_histogram *histogram, double share);

#endif

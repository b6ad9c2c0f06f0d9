/* SPDX-License-Identifier: MIT
 *
 * histogram.c: classes of durations: below 16 ns one each, then 16 to each doubling.
 */
#include "io/remote/histogram.h"

static int class_of(int64_t value) {
  int doublings = 0;
  if (value < 0) value = 0;
  while (value >= 32) value >>= 1, doublings++;
  int found = doublings * 16 + (int)value;
  return found < GATHER_HISTOGRAM_CLASSES ? found : GATHER_HISTOGRAM_CLASSES - 1;
}

/* The middle of a class. */
static int64_t value_of(int found) {
  if (found < 32) return found;
  int doublings = found / 16 - 1;
  int64_t low = (int64_t)(found - doublings * 16) << doublings;
  return low + (((int64_t)1 << doublings) >> 1);
}

void gather_histogram_add(gather_histogram *histogram, int64_t nanoseconds) {
  histogram->classes[class_of(nanoseconds)]++;
  histogram->count++;
}

int64_t gather_histogram_share(const gather_histogram *histogram, double share) {
  int64_t wanted = (int64_t)(share * (double)histogram->count), seen = 0;
  if (wanted >= histogram->count) wanted = histogram->count - 1;
  for (int i = 0; i < GATHER_HISTOGRAM_CLASSES; i++) {
    seen += histogram->classes[i];
    if (seen > wanted) return value_of(i);
  }
  return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * sort.h: sorts pointers in place, without allocating as qsort may.
 */
#ifndef GATHER_FORMAT_SORT_H
#define GATHER_FORMAT_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* before: whether a comes before b. O(len * log(len)) for any input. */
void gather_sort_pointers(const void **items, int64_t len, bool (*before)(const void *a, const void *b));

#endif

/* SPDX-License-Identifier: MIT
 *
 * sort.h: putting pointers in order, in place and without the heap, which qsort may ask.
 */
#ifndef GATHER_FORMAT_SORT_H
#define GATHER_FORMAT_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* before: says whether a stands before b. Never slower than len * log(len) steps. */
void gather_sort_pointers(const void **items, int64_t len, bool (*before)(const void *a, const void *b));

#endif

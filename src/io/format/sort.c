/* SPDX-License-Identifier: MIT
 *
 * sort.c: heap sort: O(n log n) for any input.
 */
#include "io/format/sort.h"

typedef bool before_function(const void *a, const void *b);

/* Moves the item at `root` down the heap until no child is greater. */
static void sink(const void **items, int64_t root, int64_t len, before_function *before) {
  const void *item = items[root];
  for (int64_t child = 2 * root + 1; child < len; child = 2 * root + 1) {
    if (child + 1 < len && before(items[child], items[child + 1])) child++;
    if (!before(item, items[child])) break;
    items[root] = items[child];
    root = child;
  }
  items[root] = item;
}

void gather_sort_pointers(const void **items, int64_t len, before_function *before) {
  for (int64_t root = len / 2 - 1; root >= 0; root--) sink(items, root, len, before);
  for (int64_t last = len - 1; last > 0; last--) {
    const void *item = items[last];
    items[last] = items[0];
    items[0] = item;
    sink(items, 0, last, before);
  }
}

/* SPDX-License-Identifier: MIT
 *
 * span.c: sorts tensors by name and by position.
 */
#include "io/format/span.h"

#include <string.h>

#include "core/base/error.h"

/* ---- heap sort: O(n log n) for any input */

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

/* ---- spans */

typedef bool is_before(const void *a, const void *b);

static bool name_before(const void *a, const void *b) {
  const gather_file_span *left = a, *right = b;
  int order = strcmp(left->tensor->name, right->tensor->name);
  return order != 0 ? order < 0 : left->said_at < right->said_at;
}

static bool place_before(const void *a, const void *b) {
  const gather_file_span *left = a, *right = b;
  if (left->begin != right->begin) return left->begin < right->begin;
  return left->end != right->end ? left->end < right->end : left->said_at < right->said_at;
}

/* Most files are already sorted. */
static void sort(const gather_file_span **sorted, int64_t len, is_before *before) {
  for (int64_t i = 1; i < len; i++) {
    if (!before(sorted[i], sorted[i - 1])) continue;
    gather_sort_pointers((const void **)sorted, len, before);
    return;
  }
}

bool gather_file_spans_take(gather_file *file, int64_t len, gather_file_span **spans, const gather_file_span ***sorted) {
  *spans = gather_arena_take(&file->arena, len, (int64_t)sizeof **spans);
  *sorted = gather_arena_take(&file->arena, len, (int64_t)sizeof **sorted);
  if (!*spans || !*sorted) return false;
  for (int64_t i = 0; i < len; i++) (*sorted)[i] = &(*spans)[i];
  return true;
}

void gather_file_spans_by_name(const gather_file_span **sorted, int64_t len) { sort(sorted, len, name_before); }

void gather_file_spans_by_place(const gather_file_span **sorted, int64_t len) { sort(sorted, len, place_before); }

gather_status gather_file_spans_differ(const gather_file_span *const *sorted, int64_t len, const char *file, gather_error *error) {
  for (int64_t i = 1; i < len; i++)
    if (strcmp(sorted[i - 1]->tensor->name, sorted[i]->tensor->name) == 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, file, sorted[i]->said_at, "the tensor '%.100s' is given twice",
                              sorted[i]->tensor->name);
  return GATHER_OK;
}

const gather_file_span *gather_file_spans_find(const gather_file_span *const *sorted, int64_t len, const char *name) {
  int64_t low = 0, high = len;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = strcmp(sorted[middle]->tensor->name, name);
    if (order == 0) return sorted[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

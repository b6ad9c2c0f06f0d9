/* SPDX-License-Identifier: MIT
 *
 * span.c: sorting tensors by their names and places. Not by qsort, which may ask the heap past base/alloc.h, and need not be fast.
 */
#include "format/span.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

typedef bool is_before(const gather_span *a, const gather_span *b);

static bool name_before(const gather_span *a, const gather_span *b) {
  return strcmp(a->tensor->name, b->tensor->name) < 0;
}

static bool place_before(const gather_span *a, const gather_span *b) {
  return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
}

static bool is_sorted(const gather_span *spans, int64_t len, is_before *before) {
  for (int64_t i = 1; i < len; i++)
    if (before(&spans[i], &spans[i - 1])) return false;
  return true;
}

/* Two sorted runs, one behind the other, into one. */
static void merge(const gather_span *runs, int64_t middle, int64_t end, is_before *before, gather_span *target) {
  int64_t left = 0, right = middle;
  for (int64_t i = 0; i < end; i++) {
    bool takes_right = right < end && (left == middle || before(&runs[right], &runs[left]));
    target[i] = runs[takes_right ? right++ : left++];
  }
}

static gather_status sort(gather_span *spans, int64_t len, is_before *before, const char *file, gather_error *error) {
  if (is_sorted(spans, len, before)) return GATHER_OK;
  gather_span *scratch = gather_alloc(len * (int64_t)sizeof *scratch); /* as many bytes as `spans` has: they fit */
  if (!scratch) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file, -1, "no memory for what it holds");
  for (int64_t run = 1; run < len; run *= 2) {
    for (int64_t at = 0; at < len; at += 2 * run) {
      int64_t left = len - at, middle = run < left ? run : left, end = 2 * run < left ? 2 * run : left;
      merge(spans + at, middle, end, before, scratch + at);
    }
    memcpy(spans, scratch, (size_t)len * sizeof *spans);
  }
  gather_free(scratch);
  return GATHER_OK;
}

gather_status gather_spans_by_name(gather_span *spans, int64_t len, const char *file, gather_error *error) {
  return sort(spans, len, name_before, file, error);
}

gather_status gather_spans_by_place(gather_span *spans, int64_t len, const char *file, gather_error *error) {
  return sort(spans, len, place_before, file, error);
}

gather_status gather_spans_differ(const gather_span *spans, int64_t len, const char *file, gather_error *error) {
  for (int64_t i = 1; i < len; i++)
    if (!name_before(&spans[i - 1], &spans[i]))
      return gather_fail_file(error, GATHER_FILE_MALFORMED, file, spans[i].said_at, "the tensor '%.100s' stands twice",
                              spans[i].tensor->name);
  return GATHER_OK;
}

const gather_span *gather_spans_find(const gather_span *spans, int64_t len, const char *name) {
  int64_t low = 0, high = len;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = strcmp(spans[middle].tensor->name, name);
    if (order == 0) return &spans[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * span.h: many tensors of one file: the bytes of each, and where the file says so. For detecting duplicate names and
 * overlapping tensors, and for finding a tensor by name, in files of a million tensors.
 */
#ifndef GATHER_FORMAT_SPAN_H
#define GATHER_FORMAT_SPAN_H

#include "io/format/format.h"

/* Sorts pointers in place, without allocating as qsort may. before: whether a comes before b. O(len * log(len)) for any input. */
void gather_sort_pointers(const void **items, int64_t len, bool (*before)(const void *a, const void *b));

typedef struct gather_file_span {
  const gather_file_tensor *tensor;
  int64_t said_at;    /* position of its description */
  int64_t begin, end; /* the bytes of its elements */
} gather_file_span;

/* `len` spans, and pointers to them to be sorted; all zero, in the file's arena. False: out of memory. */
GATHER_CHECKED bool gather_file_spans_take(gather_file *file, int64_t len, gather_file_span **spans, const gather_file_span ***sorted);
/* Sorts by name; by place: `begin`, then `end`. Equal ones keep the order of said_at. */
void gather_file_spans_by_name(const gather_file_span **sorted, int64_t len);
void gather_file_spans_by_place(const gather_file_span **sorted, int64_t len);
/* Fails if a name is given twice. Sorted by name. */
GATHER_CHECKED gather_status gather_file_spans_differ(const gather_file_span *const *sorted, int64_t len, const char *file,
                                                      gather_error *error);
/* The span of a name; NULL if there is none. Sorted by name. */
const gather_file_span *gather_file_spans_find(const gather_file_span *const *sorted, int64_t len, const char *name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * span.h: many tensors of one file: the bytes each of them takes, and where the file says so. For telling names that stand twice and
 * tensors that overlap, and for finding a tensor by its name, in files of a million of them.
 */
#ifndef GATHER_FORMAT_SPAN_H
#define GATHER_FORMAT_SPAN_H

#include "format/format.h"

typedef struct gather_file_span {
  const gather_file_tensor *tensor;
  int64_t said_at;    /* the byte at which the file speaks of it */
  int64_t begin, end; /* the bytes of its elements */
} gather_file_span;

/* `len` spans, and pointers to them to be sorted; all zero, in the file's arena. False where there is no memory. */
GATHER_CHECKED bool gather_file_spans_take(gather_file *file, int64_t len, gather_file_span **spans,
                                           const gather_file_span ***sorted);
/* Sorts by name; by place: `begin`, then `end`. Equal ones stand in the order in which the file speaks of them. */
void gather_file_spans_by_name(const gather_file_span **sorted, int64_t len);
void gather_file_spans_by_place(const gather_file_span **sorted, int64_t len);
/* Fails where a name stands twice. Sorted by name. */
GATHER_CHECKED gather_status gather_file_spans_differ(const gather_file_span *const *sorted, int64_t len,
                                                      const char *file, gather_error *error);
/* The span of a name, NULL where there is none. Sorted by name. */
const gather_file_span *gather_file_spans_find(const gather_file_span *const *sorted, int64_t len, const char *name);

#endif

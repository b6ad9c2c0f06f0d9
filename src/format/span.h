/* SPDX-License-Identifier: MIT
 *
 * span.h: many tensors of one file: the bytes each of them takes, and where the file says so. For telling names that stand twice and
 * tensors that overlap, and for finding a tensor by its name, in files of a million of them.
 */
#ifndef GATHER_FORMAT_SPAN_H
#define GATHER_FORMAT_SPAN_H

#include "format/format.h"

typedef struct gather_span {
  const gather_file_tensor *tensor;
  int64_t said_at;    /* the byte at which the file speaks of it */
  int64_t begin, end; /* the bytes of its elements */
} gather_span;

/* Sorts by name; by place: `begin`, then `end`. What is equal keeps its order. GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_spans_by_name(gather_span *spans, int64_t len, const char *file,
                                                  gather_error *error);
GATHER_CHECKED gather_status gather_spans_by_place(gather_span *spans, int64_t len, const char *file,
                                                   gather_error *error);
/* Fails where a name stands twice. Sorted by name. */
GATHER_CHECKED gather_status gather_spans_differ(const gather_span *spans, int64_t len, const char *file,
                                                 gather_error *error);
/* The span of a name, NULL where there is none. Sorted by name. */
const gather_span *gather_spans_find(const gather_span *spans, int64_t len, const char *name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * filter_internal.h: what undoing a pipeline and the compressors share: memory and contexts for one chunk at a time.
 */
#ifndef GATHER_FILTER_INTERNAL_H
#define GATHER_FILTER_INTERNAL_H

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "io/filter/filter.h"
#include "io/filter/filter_library.h"

struct gather_unfilter {
  gather_pipeline pipeline;
  int64_t room;
  char *buffers[2]; /* of `room` bytes each, for stages in turn */
  char *block;      /* of room, for filters that work in blocks; NULL = not needed yet */
  /* Contexts of libraries; NULL = not needed yet. */
  void *deflate, *zstd, *lz4;
};

/* One call of a filter. */
typedef struct gather_stage {
  gather_unfilter *unfilter;
  const gather_filter *filter;
  const char *in;
  int64_t in_bytes;
  char *out;
  int64_t out_bytes; /* that must come out */
  gather_error *error;
} gather_stage;

#define GATHER_FILTER_CORRUPT(stage, ...) gather_fail((stage)->error, GATHER_FILE_MALFORMED, __VA_ARGS__)

GATHER_INLINE bool gather_filter_is_sum(gather_filter_kind kind) {
  return kind == GATHER_FILTER_FLETCHER32 || kind == GATHER_FILTER_CRC32C;
}

/* ---- filter_decompress.c: each gives exactly out_bytes bytes, or fails */

/* Memory of unfilter->room bytes, if *memory is NULL: one of its buffers, or its block. */
GATHER_CHECKED gather_status gather_unfilter_room(const gather_unfilter *unfilter, char **memory, gather_error *error);
GATHER_CHECKED gather_status gather_undeflate(const gather_stage *stage, bool gzip);
GATHER_CHECKED gather_status gather_unzstd(const gather_stage *stage);
/* A block. */
GATHER_CHECKED gather_status gather_unlz4(const gather_stage *stage);
GATHER_CHECKED gather_status gather_unlz4_frame(const gather_stage *stage);
GATHER_CHECKED gather_status gather_unlz4_hdf5(const gather_stage *stage);
GATHER_CHECKED gather_status gather_unbitshuffle(const gather_stage *stage);
GATHER_CHECKED gather_status gather_unarrow(const gather_stage *stage);
/* Another part of the same chunk. */
GATHER_INLINE gather_stage gather_stage_part(const gather_stage *stage, const char *in, int64_t in_bytes, char *out, int64_t out_bytes) {
  gather_stage part = *stage;
  part.in = in, part.in_bytes = in_bytes, part.out = out, part.out_bytes = out_bytes;
  return part;
}

/* ---- filter_blosc.c */

GATHER_CHECKED gather_status gather_unblosc(const gather_stage *stage);

#endif

/* SPDX-License-Identifier: MIT
 *
 * filter.h: filters of chunks: how the bytes of a chunk were compressed, shuffled and summed when they were stored, and their undoing.
 * This layer knows bytes; neither files nor rows.
 *
 * Libraries (libdeflate or zlib, libzstd, liblz4) are loaded when a filter first needs them. Limits: the length of what each filter gives
 * is known before, from the metadata of the file, and never from the stream: a stream that wants to give more, or gives less, is corrupt.
 */
#ifndef GATHER_FILTER_FILTER_H
#define GATHER_FILTER_FILTER_H

#include "core/base/compiler.h"
#include "gather/gather.h"

typedef enum gather_filter_kind {
#define GATHER_FILTER(id, name, text) GATHER_FILTER_##id,
#include "io/filter/filter.def"
  GATHER_FILTER_COUNT
} gather_filter_kind;

/* "deflate"; static memory. */
const char *gather_filter_name(gather_filter_kind kind);

typedef struct gather_filter {
  gather_filter_kind kind;
  int64_t item_bytes; /* of an element: shuffle, bitshuffle, delta */
  int64_t value;      /* what filter.def says of the kind; else 0 */
  int64_t block_len;  /* bitshuffle without a compressor: elements of a block; 0 = as many as its library takes */
} gather_filter;

enum { GATHER_FILTERS_MOST = 8 };

/* What was done to chunks when they were stored, first to last. */
typedef struct gather_pipeline {
  int32_t count;
  gather_filter filters[GATHER_FILTERS_MOST];
} gather_pipeline;

/* Whether the filters can be undone by this program: their libraries are there. Else GATHER_UNSUPPORTED, with the package that has the
 * library. May be called for each chunk: the answer is kept. */
GATHER_CHECKED gather_status gather_pipeline_check(const gather_pipeline *pipeline, gather_error *error);
/* "deflate after shuffle", "no filter". Returns text. */
char *gather_pipeline_text(const gather_pipeline *pipeline, char *text, size_t bytes);

/* Undoes a pipeline: memory for one chunk at a time, for one thread at a time. */
typedef struct gather_unfilter gather_unfilter;

/* The memory that one needs for chunks of so many bytes, what libraries allocate included; INT64_MAX if that does not fit. */
int64_t gather_unfilter_bytes(const gather_pipeline *pipeline, int64_t raw_bytes);
GATHER_CHECKED gather_status gather_unfilter_create(const gather_pipeline *pipeline, int64_t raw_bytes, gather_unfilter **unfilter,
                                                    gather_error *error);
void gather_unfilter_destroy(gather_unfilter *unfilter); /* NULL does nothing */

/* A chunk, all filters undone but perhaps the first one, if that is shuffle: then its elements are in planes. */
typedef struct gather_plain {
  const char *bytes; /* raw_bytes of them */
  int64_t raw_bytes;
  int64_t item_bytes; /* not 0: shuffled elements of so many bytes */
} gather_plain;

/* Undoes the filters of a chunk of `bytes` stored bytes, except those whose bit is set in `skipped` (bit i is filter i). raw_bytes: the
 * length of the chunk, at most that of create. plain points into `stored` or into memory of the unfilter, until its next call. Returns
 * GATHER_FILE_MALFORMED (the stream is corrupt: the message says how, with both values where a checksum is wrong; no file is named),
 * GATHER_UNSUPPORTED, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_unfilter_run(gather_unfilter *unfilter, const void *stored, int64_t bytes, uint32_t skipped,
                                                 int64_t raw_bytes, gather_plain *plain, gather_error *error);
/* Copies bytes [from, from + bytes) of the chunk. */
void gather_plain_copy(const gather_plain *plain, int64_t from, int64_t bytes, char *out);

/* CRC-32C (Castagnoli), as zarr's codec crc32c has it. */
uint32_t gather_crc32c(const void *bytes, int64_t count);

#endif

/* SPDX-License-Identifier: MIT
 *
 * filter.c: undoes the filters of a chunk, one by one from the last, in memory for one chunk.
 */
#include "io/filter/filter.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "io/filter/filter_bytes.h"
#include "io/filter/filter_internal.h"

enum { SUM_BYTES = 4 };

/* ---- memory */

/* What a stage may give: checksums make it longer. */
static int64_t room_of(const gather_pipeline *pipeline, int64_t raw_bytes) { return raw_bytes + SUM_BYTES * (int64_t)pipeline->count; }

/* How many buffers of that room are needed. */
static int64_t buffers_of(const gather_pipeline *pipeline) {
  int64_t count = 0;
  for (int32_t i = 0; i < pipeline->count; i++) {
    const gather_filter_kind kind = pipeline->filters[i].kind;
    count += kind == GATHER_FILTER_BLOSC || kind == GATHER_FILTER_BITSHUFFLE
                 ? 2
                 : !gather_filter_is_sum(kind) && (i > 0 || kind != GATHER_FILTER_SHUFFLE);
  }
  return count < 3 ? count : 3;
}

/* What the library of a filter allocates, at most. */
static int64_t context_of(const gather_filter *filter) {
  enum { OF_DEFLATE = 48 << 10, OF_ZSTD = 160 << 10, OF_LZ4_FRAMES = 200 << 10 };
  switch (filter->kind) {
    case GATHER_FILTER_DEFLATE:
    case GATHER_FILTER_GZIP:
      return OF_DEFLATE;
    case GATHER_FILTER_ZSTD:
    case GATHER_FILTER_ARROW_ZSTD:
    case GATHER_FILTER_BLOSC:
      return OF_ZSTD;
    case GATHER_FILTER_BITSHUFFLE:
      return filter->value == 3 ? OF_ZSTD : 0;
    case GATHER_FILTER_ARROW_LZ4:
      return OF_LZ4_FRAMES;
    default:
      return 0;
  }
}

int64_t gather_unfilter_bytes(const gather_pipeline *pipeline, int64_t raw_bytes) {
  int64_t bytes;
  if (!gather_mul(room_of(pipeline, raw_bytes), buffers_of(pipeline), &bytes)) return INT64_MAX;
  for (int32_t i = 0; i < pipeline->count; i++)
    if (!gather_add(bytes, context_of(&pipeline->filters[i]), &bytes)) return INT64_MAX;
  return bytes;
}

gather_status gather_unfilter_create(const gather_pipeline *pipeline, int64_t raw_bytes, gather_unfilter **unfilter, gather_error *error) {
  *unfilter = gather_alloc((int64_t)sizeof **unfilter);
  if (!*unfilter) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while decoding chunks");
  (*unfilter)->pipeline = *pipeline;
  (*unfilter)->room = room_of(pipeline, raw_bytes);
  return GATHER_OK;
}

void gather_unfilter_destroy(gather_unfilter *unfilter) {
  const gather_libdeflate *libdeflate;
  const gather_libzstd *libzstd;
  const gather_liblz4 *liblz4;
  if (!unfilter) return;
  if (unfilter->deflate && gather_libdeflate_load(&libdeflate, NULL) == GATHER_OK) libdeflate->free_decompressor(unfilter->deflate);
  if (unfilter->zstd && gather_libzstd_load(&libzstd, NULL) == GATHER_OK) (void)libzstd->freeDCtx(unfilter->zstd);
  if (unfilter->lz4 && gather_liblz4_load(&liblz4, NULL) == GATHER_OK) (void)liblz4->freeDecompressionContext(unfilter->lz4);
  for (int i = 0; i < 2; i++) gather_free(unfilter->buffers[i]);
  gather_free(unfilter->block);
  gather_free(unfilter);
}

/* ---- undoing */

/* A checksum behind the data, in 4 bytes, little-endian. Early versions of HDF5 stored the bytes of each half in the other order, which is
 * accepted, as libhdf5 does. */
static gather_status check_sum(gather_stage *stage) {
  if (stage->in_bytes < SUM_BYTES)
    return GATHER_FILTER_CORRUPT(stage, "%s: the data ends before the checksum", gather_filter_name(stage->filter->kind));
  stage->in_bytes -= SUM_BYTES;
  const uint32_t said = gather_read_u32((const uint8_t *)stage->in + stage->in_bytes);
  const bool fletcher = stage->filter->kind == GATHER_FILTER_FLETCHER32;
  const uint32_t sum = fletcher ? gather_fletcher32(stage->in, stage->in_bytes) : gather_crc32c(stage->in, stage->in_bytes);
  const uint32_t swapped = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
  if (said == sum || (fletcher && said == swapped)) return GATHER_OK;
  return GATHER_FILTER_CORRUPT(stage, "%s: the stored checksum is 0x%08" PRIx32 ", that of the data is 0x%08" PRIx32,
                               gather_filter_name(stage->filter->kind), said, sum);
}

static gather_status undo_delta(const gather_stage *stage) {
  const gather_type type = (gather_type)stage->filter->value;
  if (stage->in_bytes != stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "delta: it has %" PRId64 " of %" PRId64 " bytes", stage->in_bytes, stage->out_bytes);
  memcpy(stage->out, stage->in, (size_t)stage->in_bytes);
  gather_undelta(stage->out, stage->out_bytes, stage->filter->item_bytes, type == GATHER_TYPE_FLOAT32 || type == GATHER_TYPE_FLOAT64);
  return GATHER_OK;
}

static gather_status undo_shuffle(const gather_stage *stage) {
  if (stage->in_bytes != stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "shuffle: it has %" PRId64 " of %" PRId64 " bytes", stage->in_bytes, stage->out_bytes);
  gather_unshuffle(stage->in, stage->in_bytes, stage->filter->item_bytes, 0, stage->in_bytes, stage->out);
  return GATHER_OK;
}

static gather_status undo_lzf(const gather_stage *stage) {
  const int64_t given = gather_unlzf(stage->in, stage->in_bytes, stage->out, stage->out_bytes);
  if (given == stage->out_bytes) return GATHER_OK;
  if (given < 0) return GATHER_FILTER_CORRUPT(stage, "lzf: the stream is damaged, or has more bytes than the chunk");
  return GATHER_FILTER_CORRUPT(stage, "lzf: the stream ends after %" PRId64 " of %" PRId64 " bytes", given, stage->out_bytes);
}

/* numcodecs: the length in 4 bytes, then a block. */
static gather_status undo_sized_lz4(const gather_stage *stage) {
  enum { LENGTH = 4 };
  if (stage->in_bytes < LENGTH) return GATHER_FILTER_CORRUPT(stage, "lz4: it ends within its length");
  const uint32_t raw = gather_read_u32((const uint8_t *)stage->in);
  if (raw != (uint64_t)stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "lz4: its header gives %" PRIu32 " bytes, but the chunk has %" PRId64, raw, stage->out_bytes);
  const gather_stage block = gather_stage_part(stage, stage->in + LENGTH, stage->in_bytes - LENGTH, stage->out, stage->out_bytes);
  return gather_unlz4(&block);
}

static gather_status undo(const gather_stage *stage) {
  switch (stage->filter->kind) {
    case GATHER_FILTER_DEFLATE:
      return gather_undeflate(stage, false);
    case GATHER_FILTER_GZIP:
      return gather_undeflate(stage, true);
    case GATHER_FILTER_SHUFFLE:
      return undo_shuffle(stage);
    case GATHER_FILTER_LZF:
      return undo_lzf(stage);
    case GATHER_FILTER_BLOSC:
      return gather_unblosc(stage);
    case GATHER_FILTER_LZ4_HDF5:
      return gather_unlz4_hdf5(stage);
    case GATHER_FILTER_BITSHUFFLE:
      return gather_unbitshuffle(stage);
    case GATHER_FILTER_ZSTD:
      return gather_unzstd(stage);
    case GATHER_FILTER_LZ4_SIZED:
      return undo_sized_lz4(stage);
    case GATHER_FILTER_DELTA:
      return undo_delta(stage);
    default:
      return gather_unarrow(stage);
  }
}

/* The length that the data had before a filter, and after those before it; one that was compressed is not known, but then only checksums
 * follow. */
static int64_t length_before(const gather_pipeline *pipeline, int32_t number, uint32_t skipped, int64_t raw_bytes) {
  for (int32_t i = 0; i < number; i++)
    if (gather_filter_is_sum(pipeline->filters[i].kind) && !(skipped >> i & 1)) raw_bytes += SUM_BYTES;
  return raw_bytes;
}

gather_status gather_unfilter_run(gather_unfilter *unfilter, const void *stored, int64_t bytes, uint32_t skipped, int64_t raw_bytes,
                                  gather_plain *plain, gather_error *error) {
  const gather_pipeline *pipeline = &unfilter->pipeline;
  gather_stage stage = {.unfilter = unfilter, .in = stored, .in_bytes = bytes, .error = error};
  int which = 0;
  *plain = (gather_plain){.raw_bytes = raw_bytes};
  for (int32_t i = pipeline->count - 1; i >= 0; i--) {
    if (skipped >> i & 1) continue;
    stage.filter = &pipeline->filters[i];
    if (gather_filter_is_sum(stage.filter->kind)) {
      GATHER_TRY(check_sum(&stage));
      continue;
    }
    if (stage.filter->kind == GATHER_FILTER_SHUFFLE && i == 0 && stage.filter->item_bytes > 1) {
      plain->item_bytes = stage.filter->item_bytes;
      break;
    }
    GATHER_TRY(gather_unfilter_room(unfilter, &unfilter->buffers[which], error));
    stage.out = unfilter->buffers[which];
    stage.out_bytes = length_before(pipeline, i, skipped, raw_bytes);
    GATHER_TRY(undo(&stage));
    stage.in = stage.out, stage.in_bytes = stage.out_bytes;
    which ^= 1;
  }
  plain->bytes = stage.in;
  if (stage.in_bytes == raw_bytes) return GATHER_OK;
  return GATHER_FILTER_CORRUPT(&stage, "it has %" PRId64 " bytes, but needs %" PRId64, stage.in_bytes, raw_bytes);
}

void gather_plain_copy(const gather_plain *plain, int64_t from, int64_t bytes, char *out) {
  if (plain->item_bytes > 1)
    gather_unshuffle(plain->bytes, plain->raw_bytes, plain->item_bytes, from, bytes, out);
  else
    memcpy(out, plain->bytes + from, (size_t)bytes);
}

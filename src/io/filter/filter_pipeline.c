/* SPDX-License-Identifier: MIT
 *
 * filter_pipeline.c: what pipelines are: the names of filters, and whether this program can undo them.
 */
#include <stdio.h>

#include "core/base/error.h"
#include "io/filter/filter.h"
#include "io/filter/filter_internal.h"

const char *gather_filter_name(gather_filter_kind kind) {
  static const char *const NAMES[] = {
#define GATHER_FILTER(id, name, text) name,
#include "io/filter/filter.def"
  };
  return (unsigned)kind < GATHER_FILTER_COUNT ? NAMES[kind] : "?";
}

/* Whether the length of what it makes depends on the data. */
static bool compresses(const gather_filter *filter) {
  switch (filter->kind) {
    case GATHER_FILTER_SHUFFLE:
    case GATHER_FILTER_FLETCHER32:
    case GATHER_FILTER_DELTA:
    case GATHER_FILTER_CRC32C:
      return false;
    case GATHER_FILTER_BITSHUFFLE:
      return filter->value != 0;
    default:
      return true;
  }
}

static gather_status load_deflate(gather_error *error) {
  const gather_libdeflate *fast;
  const gather_zlib *slow;
  if (gather_libdeflate_load(&fast, NULL) == GATHER_OK || gather_zlib_load(&slow, NULL) == GATHER_OK) return GATHER_OK;
  return gather_libdeflate_load(&fast, error);
}

static gather_status check_filter(const gather_filter *filter, gather_error *error) {
  const gather_libzstd *zstd;
  const gather_liblz4 *lz4;
  switch (filter->kind) {
    case GATHER_FILTER_DEFLATE:
    case GATHER_FILTER_GZIP:
      return load_deflate(error);
    case GATHER_FILTER_ZSTD:
    case GATHER_FILTER_ARROW_ZSTD:
      return gather_libzstd_load(&zstd, error);
    case GATHER_FILTER_LZ4_HDF5:
    case GATHER_FILTER_LZ4_SIZED:
    case GATHER_FILTER_ARROW_LZ4:
      return gather_liblz4_load(&lz4, error);
    case GATHER_FILTER_BITSHUFFLE:
      if (filter->value == 2) return gather_liblz4_load(&lz4, error);
      return filter->value == 3 ? gather_libzstd_load(&zstd, error) : GATHER_OK;
    default:
      return GATHER_OK; /* each buffer of Blosc says which compressor it needs */
  }
}

gather_status gather_pipeline_check(const gather_pipeline *pipeline, gather_error *error) {
  const char *compressor = NULL;
  for (int32_t i = 0; i < pipeline->count; i++) {
    const gather_filter *filter = &pipeline->filters[i];
    GATHER_TRY(check_filter(filter, error));
    if (compressor && !compresses(filter) && !gather_filter_is_sum(filter->kind))
      return gather_fail(error, GATHER_UNSUPPORTED, "its chunks have the filter %s after the compressor %s, which is not supported",
                         gather_filter_name(filter->kind), compressor);
    if (!compresses(filter)) continue;
    if (compressor)
      return gather_fail(error, GATHER_UNSUPPORTED, "its chunks are compressed twice, by %s and %s, which is not supported", compressor,
                         gather_filter_name(filter->kind));
    compressor = gather_filter_name(filter->kind);
  }
  return GATHER_OK;
}

char *gather_pipeline_text(const gather_pipeline *pipeline, char *text, size_t bytes) {
  size_t used = 0;
  (void)snprintf(text, bytes, "no filter");
  for (int32_t i = pipeline->count - 1; i >= 0 && used < bytes; i--) {
    const int now = snprintf(text + used, bytes - used, "%s%s", used > 0 ? " after " : "", gather_filter_name(pipeline->filters[i].kind));
    used += now > 0 ? (size_t)now : 0;
  }
  return text;
}

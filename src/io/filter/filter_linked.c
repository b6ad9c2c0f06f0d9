/* SPDX-License-Identifier: MIT
 *
 * filter_linked.c: the libraries that decompress, linked with this one (GATHER_FILTER_LIBRARIES=link). Each function is called by one of
 * the type in filter_library.h, so that the compiler compares the types there with those of the library's header.
 */
#include "io/filter/filter_library.h"

#ifdef GATHER_FILTERS_LINKED

#include <libdeflate.h>
#include <lz4.h>
#include <lz4frame.h>
#include <zstd.h>

#include "core/base/error.h"

/* ---- libdeflate */

static void *deflate_create(void) { return libdeflate_alloc_decompressor(); }

static void deflate_destroy(void *decompressor) { libdeflate_free_decompressor(decompressor); }

static int deflate_zlib(void *decompressor, const void *in, size_t in_bytes, void *out, size_t out_bytes, size_t *given) {
  return (int)libdeflate_zlib_decompress(decompressor, in, in_bytes, out, out_bytes, given);
}

static int deflate_gzip(void *decompressor, const void *in, size_t in_bytes, void *out, size_t out_bytes, size_t *given) {
  return (int)libdeflate_gzip_decompress(decompressor, in, in_bytes, out, out_bytes, given);
}

gather_status gather_libdeflate_load(const gather_libdeflate **library, gather_error *error) {
  static const gather_libdeflate linked = {deflate_create, deflate_destroy, deflate_zlib, deflate_gzip};
  (void)error;
  *library = &linked;
  return GATHER_OK;
}

/* Nothing needs it: libdeflate is always there. */
gather_status gather_zlib_load(const gather_zlib **library, gather_error *error) {
  *library = NULL;
  return gather_fail(error, GATHER_UNSUPPORTED, "zlib is not supported in this build, which has libdeflate");
}

/* ---- libzstd */

static void *zstd_create(void) { return ZSTD_createDCtx(); }

static size_t zstd_destroy(void *context) { return ZSTD_freeDCtx(context); }

static size_t zstd_decompress(void *context, void *out, size_t out_bytes, const void *in, size_t in_bytes) {
  return ZSTD_decompressDCtx(context, out, out_bytes, in, in_bytes);
}

gather_status gather_libzstd_load(const gather_libzstd **library, gather_error *error) {
  static const gather_libzstd linked = {zstd_create, zstd_destroy, zstd_decompress, ZSTD_isError, ZSTD_getErrorName};
  (void)error;
  *library = &linked;
  return GATHER_OK;
}

/* ---- liblz4 */

static size_t lz4_create(void **context, unsigned int version) {
  LZ4F_dctx *made = NULL;
  const size_t result = LZ4F_createDecompressionContext(&made, version);
  *context = made;
  return result;
}

static size_t lz4_destroy(void *context) { return LZ4F_freeDecompressionContext(context); }

static size_t lz4_decompress(void *context, void *out, size_t *out_bytes, const void *in, size_t *in_bytes, const void *options) {
  return LZ4F_decompress(context, out, out_bytes, in, in_bytes, options);
}

static void lz4_reset(void *context) { LZ4F_resetDecompressionContext(context); }

gather_status gather_liblz4_load(const gather_liblz4 **library, gather_error *error) {
  static const gather_liblz4 linked = {LZ4_decompress_safe, lz4_create,   lz4_destroy,      lz4_decompress,
                                       lz4_reset,           LZ4F_isError, LZ4F_getErrorName};
  (void)error;
  *library = &linked;
  return GATHER_OK;
}

#endif

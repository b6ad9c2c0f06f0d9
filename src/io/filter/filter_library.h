/* SPDX-License-Identifier: MIT
 *
 * filter_library.h: the functions of libraries that decompress, loaded when they are first needed (filter_library.c) or linked
 * (filter_linked.c). Declared here as their headers declare them: a build that loads them does not need these. Once loaded, a library
 * stays.
 */
#ifndef GATHER_FILTER_LIBRARY_H
#define GATHER_FILTER_LIBRARY_H

#include "core/base/compiler.h"
#include "gather/gather.h"

/* libdeflate. Results: 0 = done. */
typedef struct gather_libdeflate {
  void *(*alloc_decompressor)(void);
  void (*free_decompressor)(void *decompressor);
  int (*zlib_decompress)(void *decompressor, const void *in, size_t in_bytes, void *out, size_t out_bytes, size_t *given);
  int (*gzip_decompress)(void *decompressor, const void *in, size_t in_bytes, void *out, size_t out_bytes, size_t *given);
} gather_libdeflate;

/* z_stream of zlib. */
typedef struct gather_zlib_stream {
  const unsigned char *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *msg;
  void *state;
  void *(*zalloc)(void *opaque, unsigned int items, unsigned int bytes);
  void (*zfree)(void *opaque, void *address);
  void *opaque;
  int data_type;
  unsigned long adler, reserved;
} gather_zlib_stream;

typedef struct gather_zlib {
  int (*inflateInit2_)(gather_zlib_stream *stream, int window_bits, const char *version, int stream_bytes);
  int (*inflate)(gather_zlib_stream *stream, int flush);
  int (*inflateEnd)(gather_zlib_stream *stream);
} gather_zlib;

typedef struct gather_libzstd {
  void *(*createDCtx)(void);
  size_t (*freeDCtx)(void *context);
  size_t (*decompressDCtx)(void *context, void *out, size_t out_bytes, const void *in, size_t in_bytes);
  unsigned int (*isError)(size_t result);
  const char *(*getErrorName)(size_t result);
} gather_libzstd;

typedef struct gather_liblz4 {
  int (*decompress_safe)(const char *in, char *out, int in_bytes, int out_bytes);
  size_t (*createDecompressionContext)(void **context, unsigned int version);
  size_t (*freeDecompressionContext)(void *context);
  size_t (*decompress)(void *context, void *out, size_t *out_bytes, const void *in, size_t *in_bytes, const void *options);
  void (*resetDecompressionContext)(void *context);
  unsigned int (*isError)(size_t result);
  const char *(*getErrorName)(size_t result);
} gather_liblz4;

/* Each: GATHER_UNSUPPORTED if it cannot be loaded, with the package that has it. */
GATHER_CHECKED gather_status gather_libdeflate_load(const gather_libdeflate **library, gather_error *error);
GATHER_CHECKED gather_status gather_zlib_load(const gather_zlib **library, gather_error *error);
GATHER_CHECKED gather_status gather_libzstd_load(const gather_libzstd **library, gather_error *error);
GATHER_CHECKED gather_status gather_liblz4_load(const gather_liblz4 **library, gather_error *error);

#endif

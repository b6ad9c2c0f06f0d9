/* SPDX-License-Identifier: MIT
 *
 * filter_decompress.c: streams of deflate, Zstandard and LZ4, and the frames that HDF5's filters, numcodecs and Arrow put around them. The
 * length of what comes out is known before: a stream that ends before, or goes on, is corrupt.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/filter/filter_bytes.h"
#include "io/filter/filter_internal.h"

static uint32_t big4(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint64_t big8(const char *at) { return (uint64_t)big4(at) << 32 | big4(at + 4); }

static gather_status too_short(const gather_stage *stage) {
  return GATHER_FILTER_CORRUPT(stage, "%s: it ends after %" PRId64 " bytes, within its header", gather_filter_name(stage->filter->kind),
                               stage->in_bytes);
}

gather_status gather_unfilter_room(const gather_unfilter *unfilter, char **memory, gather_error *error) {
  if (!*memory) *memory = gather_alloc_unset(unfilter->room);
  return *memory ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while decoding chunks");
}

/* ---- deflate */

/* zlib, where libdeflate is not there. */
static gather_status inflate_slowly(const gather_stage *stage, bool gzip) {
  enum { FINISH = 4, END = 1, WINDOW = 15, GZIP = 16 };
  const gather_zlib *zlib;
  gather_zlib_stream stream = {.next_in = (const unsigned char *)stage->in, .next_out = (unsigned char *)stage->out};
  GATHER_TRY(gather_zlib_load(&zlib, stage->error));
  stream.avail_in = (unsigned int)stage->in_bytes, stream.avail_out = (unsigned int)stage->out_bytes; /* at most a chunk */
  if (stage->in_bytes > UINT_MAX || zlib->inflateInit2_(&stream, gzip ? WINDOW + GZIP : WINDOW, "1.2.11", (int)sizeof stream) != 0)
    return gather_fail(stage->error, GATHER_OUT_OF_MEMORY, "out of memory for zlib");
  const int result = zlib->inflate(&stream, FINISH);
  const int64_t given = stage->out_bytes - (int64_t)stream.avail_out;
  const bool done = result == END && given == stage->out_bytes;
  (void)zlib->inflateEnd(&stream);
  if (done) return GATHER_OK;
  return GATHER_FILTER_CORRUPT(stage, "deflate: %s after %" PRId64 " of %" PRId64 " bytes",
                               result == END ? "the stream ends" : "the stream is longer than the chunk, or is damaged,", given,
                               stage->out_bytes);
}

gather_status gather_undeflate(const gather_stage *stage, bool gzip) {
  enum { DONE = 0, BAD = 1, SHORT = 2, NO_SPACE = 3 };
  const gather_libdeflate *library;
  size_t given = 0;
  if (gather_libdeflate_load(&library, NULL) != GATHER_OK) return inflate_slowly(stage, gzip);
  gather_unfilter *unfilter = stage->unfilter;
  if (!unfilter->deflate) unfilter->deflate = library->alloc_decompressor();
  if (!unfilter->deflate) return gather_fail(stage->error, GATHER_OUT_OF_MEMORY, "out of memory for libdeflate");
  const int result = (gzip ? library->gzip_decompress : library->zlib_decompress)(unfilter->deflate, stage->in, (size_t)stage->in_bytes,
                                                                                  stage->out, (size_t)stage->out_bytes, &given);
  if (result == DONE && (int64_t)given == stage->out_bytes) return GATHER_OK;
  if (result == DONE)
    return GATHER_FILTER_CORRUPT(stage, "deflate: the stream ends after %zu of %" PRId64 " bytes", given, stage->out_bytes);
  return GATHER_FILTER_CORRUPT(stage, "deflate: %s",
                               result == NO_SPACE ? "the stream has more bytes than the chunk" : "the stream is damaged");
}

/* ---- Zstandard and LZ4 */

gather_status gather_unzstd(const gather_stage *stage) {
  const gather_libzstd *library;
  GATHER_TRY(gather_libzstd_load(&library, stage->error));
  if (!stage->unfilter->zstd) stage->unfilter->zstd = library->createDCtx();
  if (!stage->unfilter->zstd) return gather_fail(stage->error, GATHER_OUT_OF_MEMORY, "out of memory for libzstd");
  const size_t given =
      library->decompressDCtx(stage->unfilter->zstd, stage->out, (size_t)stage->out_bytes, stage->in, (size_t)stage->in_bytes);
  if (library->isError(given)) return GATHER_FILTER_CORRUPT(stage, "zstd: %.100s", library->getErrorName(given));
  if ((int64_t)given == stage->out_bytes) return GATHER_OK;
  return GATHER_FILTER_CORRUPT(stage, "zstd: the frame ends after %zu of %" PRId64 " bytes", given, stage->out_bytes);
}

gather_status gather_unlz4(const gather_stage *stage) {
  const gather_liblz4 *library;
  GATHER_TRY(gather_liblz4_load(&library, stage->error));
  if (stage->in_bytes > INT_MAX) return GATHER_FILTER_CORRUPT(stage, "lz4: a block of %" PRId64 " bytes is too large", stage->in_bytes);
  const int given = library->decompress_safe(stage->in, stage->out, (int)stage->in_bytes, (int)stage->out_bytes);
  if (given == stage->out_bytes) return GATHER_OK;
  if (given < 0) return GATHER_FILTER_CORRUPT(stage, "lz4: the block is damaged");
  return GATHER_FILTER_CORRUPT(stage, "lz4: the block ends after %d of %" PRId64 " bytes", given, stage->out_bytes);
}

gather_status gather_unlz4_frame(const gather_stage *stage) {
  enum { VERSION = 100 };
  const gather_liblz4 *library;
  GATHER_TRY(gather_liblz4_load(&library, stage->error));
  void **context = &stage->unfilter->lz4;
  if (!*context && library->isError(library->createDecompressionContext(context, VERSION))) *context = NULL;
  if (!*context) return gather_fail(stage->error, GATHER_OUT_OF_MEMORY, "out of memory for liblz4");
  int64_t in = 0, out = 0;
  for (;;) {
    size_t used = (size_t)(stage->in_bytes - in), given = (size_t)(stage->out_bytes - out);
    const size_t more = library->decompress(*context, stage->out + out, &given, stage->in + in, &used, NULL);
    in += (int64_t)used, out += (int64_t)given;
    if (!library->isError(more) && more == 0) break;
    if (!library->isError(more) && used + given > 0) continue;
    library->resetDecompressionContext(*context);
    if (library->isError(more)) return GATHER_FILTER_CORRUPT(stage, "lz4: %.100s", library->getErrorName(more));
    return GATHER_FILTER_CORRUPT(stage, "lz4: the frame %s after %" PRId64 " of %" PRId64 " bytes",
                                 in == stage->in_bytes ? "is cut off" : "goes on", out, stage->out_bytes);
  }
  if (out == stage->out_bytes && in == stage->in_bytes) return GATHER_OK;
  return GATHER_FILTER_CORRUPT(stage, "lz4: the frame ends after %" PRId64 " of %" PRId64 " bytes", out, stage->out_bytes);
}

/* ---- HDF5's filter 32004: the length in 8 bytes and that of a block in 4, then blocks with their lengths, all big-endian */

gather_status gather_unlz4_hdf5(const gather_stage *stage) {
  enum { HEADER = 12, LENGTH = 4 };
  if (stage->in_bytes < HEADER) return too_short(stage);
  const int64_t block = big4(stage->in + 8);
  if (big8(stage->in) != (uint64_t)stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "lz4: its header gives %" PRIu64 " bytes, but the chunk has %" PRId64, big8(stage->in),
                                 stage->out_bytes);
  int64_t at = HEADER, out = 0;
  while (out < stage->out_bytes) {
    const int64_t left = stage->out_bytes - out, wanted = block > 0 && block < left ? block : left;
    if (stage->in_bytes - at < LENGTH) return GATHER_FILTER_CORRUPT(stage, "lz4: it ends before its last block");
    const int64_t len = big4(stage->in + at);
    at += LENGTH;
    if (len > stage->in_bytes - at) return GATHER_FILTER_CORRUPT(stage, "lz4: a block of %" PRId64 " bytes is cut off", len);
    const gather_stage part = gather_stage_part(stage, stage->in + at, len, stage->out + out, wanted);
    if (len == wanted)
      memcpy(part.out, part.in, (size_t)len);
    else
      GATHER_TRY(gather_unlz4(&part));
    at += len, out += wanted;
  }
  return at == stage->in_bytes ? GATHER_OK : GATHER_FILTER_CORRUPT(stage, "lz4: bytes follow its last block");
}

/* ---- HDF5's filter 32008: blocks of elements whose bits are in planes, each perhaps compressed */

enum { BITS_NONE = 0, BITS_LZ4 = 2, BITS_ZSTD = 3, BITS_UNIT = 8, BITS_TARGET = 8192, BITS_LEAST = 128 };

/* Elements of a block where the stream does not say. */
static int64_t default_block(int64_t item_bytes) {
  const int64_t block = BITS_TARGET / item_bytes / BITS_UNIT * BITS_UNIT;
  return block > BITS_LEAST ? block : BITS_LEAST;
}

/* One block: *at moves behind it. */
static gather_status unshuffle_block(const gather_stage *stage, int64_t *at, char *out, int64_t bytes) {
  enum { LENGTH = 4 };
  gather_unfilter *unfilter = stage->unfilter;
  int64_t len = bytes;
  const char *in = stage->in + *at;
  if (stage->filter->value != BITS_NONE) {
    if (stage->in_bytes - *at < LENGTH) return GATHER_FILTER_CORRUPT(stage, "bitshuffle: it ends before its last block");
    len = big4(in);
    *at += LENGTH, in += LENGTH;
  }
  if (len > stage->in_bytes - *at) return GATHER_FILTER_CORRUPT(stage, "bitshuffle: a block of %" PRId64 " bytes is cut off", len);
  *at += len;
  if (stage->filter->value != BITS_NONE) {
    const gather_stage part = gather_stage_part(stage, in, len, unfilter->block, bytes);
    GATHER_TRY(stage->filter->value == BITS_ZSTD ? gather_unzstd(&part) : gather_unlz4(&part));
    in = unfilter->block;
  }
  gather_unshuffle_bits(in, bytes, stage->filter->item_bytes, out);
  return GATHER_OK;
}

gather_status gather_unbitshuffle(const gather_stage *stage) {
  enum { HEADER = 12 };
  const int64_t item = stage->filter->item_bytes;
  int64_t at = 0, out = 0, block = stage->filter->block_len > 0 ? stage->filter->block_len : default_block(item);
  GATHER_TRY(gather_unfilter_room(stage->unfilter, &stage->unfilter->block, stage->error));
  if (stage->filter->value != BITS_NONE) {
    if (stage->in_bytes < HEADER) return too_short(stage);
    if (big8(stage->in) != (uint64_t)stage->out_bytes)
      return GATHER_FILTER_CORRUPT(stage, "bitshuffle: its header gives %" PRIu64 " bytes, but the chunk has %" PRId64, big8(stage->in),
                                   stage->out_bytes);
    if (big4(stage->in + 8) > 0) block = big4(stage->in + 8) / item;
    if (block < 1 || block % BITS_UNIT != 0)
      return GATHER_FILTER_CORRUPT(stage, "bitshuffle: invalid block size %" PRIu32, big4(stage->in + 8));
    at = HEADER;
  }
  const int64_t whole = stage->out_bytes / item / BITS_UNIT * BITS_UNIT * item;
  while (out < whole) {
    const int64_t bytes = block * item < whole - out ? block * item : whole - out;
    GATHER_TRY(unshuffle_block(stage, &at, stage->out + out, bytes));
    out += bytes;
  }
  if (stage->in_bytes - at != stage->out_bytes - out)
    return GATHER_FILTER_CORRUPT(stage, "bitshuffle: %" PRId64 " bytes are left, but %" PRId64 " are needed", stage->in_bytes - at,
                                 stage->out_bytes - out);
  memcpy(stage->out + out, stage->in + at, (size_t)(stage->out_bytes - out));
  return GATHER_OK;
}

/* ---- Arrow's buffers: the length in 8 bytes, -1 = what follows is not compressed */

gather_status gather_unarrow(const gather_stage *stage) {
  enum { LENGTH = 8 };
  if (stage->in_bytes < LENGTH) return too_short(stage);
  const int64_t raw = gather_read_i64((const uint8_t *)stage->in);
  gather_stage rest = gather_stage_part(stage, stage->in + LENGTH, stage->in_bytes - LENGTH, stage->out, stage->out_bytes);
  if (raw == -1) {
    if (rest.in_bytes < rest.out_bytes)
      return GATHER_FILTER_CORRUPT(stage, "the buffer has %" PRId64 " of %" PRId64 " bytes", rest.in_bytes, rest.out_bytes);
    memcpy(rest.out, rest.in, (size_t)rest.out_bytes);
    return GATHER_OK;
  }
  if (raw != stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "the buffer has %" PRId64 " bytes, but %" PRId64 " are needed", raw, stage->out_bytes);
  return stage->filter->kind == GATHER_FILTER_ARROW_ZSTD ? gather_unzstd(&rest) : gather_unlz4_frame(&rest);
}

/* SPDX-License-Identifier: MIT
 *
 * filter_blosc.c: buffers of Blosc 1: a header of 16 bytes, where each block begins, and blocks of one stream, or of one for each byte of
 * an element. Read here, since libblosc's functions do not know the length of their input. Source: README_CHUNK_FORMAT of c-blosc 1.21, and
 * what it writes.
 */
#include <inttypes.h>
#include <string.h>

#include "io/filter/filter_bytes.h"
#include "io/filter/filter_internal.h"

enum {
  HEADER = 16,
  SHUFFLED = 0x1,
  COPIED = 0x2,
  BITS = 0x4,
  NOT_SPLIT = 0x10,
  FORMAT_SHIFT = 5,
  MOST_SPLITS = 16,
  LEAST_SPLIT = 128 /* elements of a block that is split */
};

typedef enum blosc_format { BLOSCLZ = 0, LZ4 = 1, SNAPPY = 2, ZLIB = 3, ZSTD = 4 } blosc_format;

static int64_t little4(const char *at) { return gather_read_u32((const uint8_t *)at); }

/* ---- blosclz: control bytes below 32: so many literals and one more; else a copy, of 3 bits of length that may go on, and 13 of distance
 * or 16 more */

static int64_t unblosclz(const char *in, int64_t in_bytes, char *out, int64_t out_bytes) {
  enum { FAR = 8191, NEAR_MOST = 31 << 8 };
  const unsigned char *from = (const unsigned char *)in, *end = from + in_bytes;
  int64_t at = 0;
  for (bool first = true; from < end; first = false) {
    int64_t control = *from++;
    if (first) control &= 31;
    if (control < 32) {
      if (control + 1 > end - from || control + 1 > out_bytes - at) return -1;
      memcpy(out + at, from, (size_t)(control + 1));
      from += control + 1, at += control + 1;
      continue;
    }
    int64_t len = (control >> 5) - 1, distance = (control & 31) << 8, code = 255;
    for (bool more = len == 6; more; more = code == 255) {
      if (from == end) return -1;
      code = *from++;
      len += code;
    }
    if (from == end) return -1;
    code = *from++;
    if (code == 255 && distance == NEAR_MOST) {
      if (end - from < 2) return -1;
      distance = ((int64_t)from[0] << 8 | from[1]) + FAR;
      from += 2;
    } else {
      distance += code;
    }
    len += 3, distance++;
    if (distance > at || len > out_bytes - at) return -1;
    for (int64_t i = 0; i < len; i++) out[at + i] = out[at + i - distance];
    at += len;
  }
  return at;
}

/* ---- streams and blocks */

typedef struct blosc_buffer {
  const gather_stage *stage;
  int flags;
  int64_t item_bytes, block_bytes, blocks;
} blosc_buffer;

static gather_status decompress(const blosc_buffer *buffer, const gather_stage *part) {
  switch (buffer->flags >> FORMAT_SHIFT) {
    case BLOSCLZ:
      if (unblosclz(part->in, part->in_bytes, part->out, part->out_bytes) == part->out_bytes) return GATHER_OK;
      return GATHER_FILTER_CORRUPT(part, "blosc: a stream of blosclz is damaged");
    case LZ4:
      return gather_unlz4(part);
    case ZLIB:
      return gather_undeflate(part, false);
    case ZSTD:
      return gather_unzstd(part);
    case SNAPPY:
      return gather_fail(part->error, GATHER_UNSUPPORTED, "blosc: its compressor is snappy, which is not supported");
    default:
      return GATHER_FILTER_CORRUPT(part, "blosc: unknown compressor %d", buffer->flags >> FORMAT_SHIFT);
  }
}

/* The streams of a block, one after the other. */
static gather_status read_streams(const blosc_buffer *buffer, int64_t at, int64_t splits, char *out, int64_t bytes) {
  enum { LENGTH = 4 };
  const gather_stage *stage = buffer->stage;
  const int64_t each = bytes / splits;
  if (bytes % splits != 0)
    return GATHER_FILTER_CORRUPT(stage, "blosc: a block of %" PRId64 " bytes cannot have %" PRId64 " streams of equal length", bytes,
                                 splits);
  for (int64_t s = 0; s < splits; s++) {
    if (stage->in_bytes - at < LENGTH) return GATHER_FILTER_CORRUPT(stage, "blosc: a block is cut off");
    const int64_t len = little4(stage->in + at);
    at += LENGTH;
    if (len > stage->in_bytes - at) return GATHER_FILTER_CORRUPT(stage, "blosc: a stream of %" PRId64 " bytes is cut off", len);
    const gather_stage part = gather_stage_part(stage, stage->in + at, len, out + s * each, each);
    if (len == each)
      memcpy(part.out, part.in, (size_t)len);
    else
      GATHER_TRY(decompress(buffer, &part));
    at += len;
  }
  return GATHER_OK;
}

static gather_status read_block(const blosc_buffer *buffer, int64_t number) {
  const gather_stage *stage = buffer->stage;
  const int64_t item = buffer->item_bytes, first = number * buffer->block_bytes, left = stage->out_bytes - first;
  const int64_t bytes = left < buffer->block_bytes ? left : buffer->block_bytes, at = little4(stage->in + HEADER + 4 * number);
  const bool shuffled = (buffer->flags & SHUFFLED) && item > 1, bits = (buffer->flags & BITS) && !shuffled && bytes >= item;
  const bool split =
      !(buffer->flags & NOT_SPLIT) && item <= MOST_SPLITS && buffer->block_bytes / item >= LEAST_SPLIT && bytes == buffer->block_bytes;
  char *out = stage->out + first, *to = shuffled || bits ? stage->unfilter->block : out;
  if (at < HEADER + 4 * buffer->blocks)
    return GATHER_FILTER_CORRUPT(stage, "blosc: block %" PRId64 " begins at byte %" PRId64 ", within the header", number, at);
  GATHER_TRY(read_streams(buffer, at, split ? item : 1, to, bytes));
  if (shuffled) gather_unshuffle(to, bytes, item, 0, bytes, out);
  if (!bits) return GATHER_OK;
  const int64_t whole = bytes / item % 8 == 0 ? bytes / item * item : 0; /* other lengths were left as they are */
  if (whole > 0) gather_unshuffle_bits(to, whole, item, out);
  memcpy(out + whole, to + whole, (size_t)(bytes - whole));
  return GATHER_OK;
}

/* ---- the buffer */

static gather_status read_header(const gather_stage *stage, blosc_buffer *buffer) {
  const unsigned char *header = (const unsigned char *)stage->in;
  if (stage->in_bytes < HEADER) return GATHER_FILTER_CORRUPT(stage, "blosc: it ends within its header");
  const int64_t raw = little4(stage->in + 4), block = little4(stage->in + 8), all = little4(stage->in + 12);
  *buffer = (blosc_buffer){.stage = stage, .flags = header[2], .item_bytes = header[3] > 0 ? header[3] : 1, .block_bytes = block};
  if (header[0] < 1 || header[0] > 2)
    return gather_fail(stage->error, GATHER_UNSUPPORTED, "blosc: version %d of its format is not supported", header[0]);
  if (raw != stage->out_bytes)
    return GATHER_FILTER_CORRUPT(stage, "blosc: its header gives %" PRId64 " bytes, but the chunk has %" PRId64, raw, stage->out_bytes);
  if (all > stage->in_bytes)
    return GATHER_FILTER_CORRUPT(stage, "blosc: it has %" PRId64 " bytes, but its header gives %" PRId64, stage->in_bytes, all);
  if (raw > 0 && (block < 1 || (block > raw && !(buffer->flags & COPIED))))
    return GATHER_FILTER_CORRUPT(stage, "blosc: invalid block size %" PRId64, block);
  buffer->blocks = raw > 0 ? raw / block + (raw % block != 0) : 0;
  return GATHER_OK;
}

gather_status gather_unblosc(const gather_stage *stage) {
  blosc_buffer buffer = {0};
  GATHER_TRY(read_header(stage, &buffer));
  if (buffer.flags & COPIED) {
    if (stage->in_bytes - HEADER < stage->out_bytes) return GATHER_FILTER_CORRUPT(stage, "blosc: it is cut off");
    memcpy(stage->out, stage->in + HEADER, (size_t)stage->out_bytes);
    return GATHER_OK;
  }
  if (buffer.blocks > (stage->in_bytes - HEADER) / 4)
    return GATHER_FILTER_CORRUPT(stage, "blosc: it is too short for its %" PRId64 " blocks", buffer.blocks);
  GATHER_TRY(gather_unfilter_room(stage->unfilter, &stage->unfilter->block, stage->error));
  for (int64_t i = 0; i < buffer.blocks; i++) GATHER_TRY(read_block(&buffer, i));
  return GATHER_OK;
}

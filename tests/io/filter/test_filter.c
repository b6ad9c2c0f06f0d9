/* SPDX-License-Identifier: MIT
 *
 * test_filter.c: filters of chunks give back what tiny encoders made of known bytes; whatever byte of a stream is changed, and wherever it
 * is cut, the answer is an error or bytes of the right number, and nothing outside is touched.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "io/filter/filter.h"
#include "io/filter/filter_bytes.h"
#include "support/unit.h"

enum { RAW = 600, ROOM = 2048 };

static uint8_t raw[RAW];

static void know(void) {
  for (int i = 0; i < RAW; i++) raw[i] = (uint8_t)(i * 7 + i / 37);
}

typedef struct stream {
  uint8_t bytes[ROOM];
  int64_t len;
} stream;

static void put(stream *s, const void *bytes, int64_t count) {
  memcpy(s->bytes + s->len, bytes, (size_t)count);
  s->len += count;
}

static void put_number(stream *s, uint64_t value, int bytes, bool big) {
  for (int i = 0; i < bytes; i++) s->bytes[s->len++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

/* ---- encoders */

static uint32_t adler(const uint8_t *bytes, int64_t count) {
  uint32_t a = 1, b = 0;
  for (int64_t i = 0; i < count; i++) a = (a + bytes[i]) % 65521, b = (b + a) % 65521;
  return b << 16 | a;
}

static void zlib(stream *s, const uint8_t *bytes, int64_t count) {
  put(s, "\x78\x01\x01", 3);
  put_number(s, (uint64_t)count, 2, false);
  put_number(s, ~(uint64_t)count & 0xffff, 2, false);
  put(s, bytes, count);
  put_number(s, adler(bytes, count), 4, true);
}

static uint32_t crc32_of(const uint8_t *bytes, int64_t count) {
  uint32_t sum = 0xffffffff;
  for (int64_t i = 0; i < count; i++) {
    sum ^= bytes[i];
    for (int b = 0; b < 8; b++) sum = sum >> 1 ^ (0xedb88320 & (0u - (sum & 1)));
  }
  return ~sum;
}

static void gzip(stream *s, const uint8_t *bytes, int64_t count) {
  put(s, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  put_number(s, (uint64_t)count, 2, false);
  put_number(s, ~(uint64_t)count & 0xffff, 2, false);
  put(s, bytes, count);
  put_number(s, crc32_of(bytes, count), 4, false);
  put_number(s, (uint64_t)count, 4, false);
}

/* A frame with one raw block, and no length of its content. */
static void zstd(stream *s, const uint8_t *bytes, int64_t count) {
  put(s, "\x28\xb5\x2f\xfd\0\x58", 6);
  put_number(s, (uint64_t)count << 3 | 1, 3, false);
  put(s, bytes, count);
}

/* Literals only. */
static void lz4(stream *s, const uint8_t *bytes, int64_t count) {
  put_number(s, count < 15 ? (uint64_t)count << 4 : 0xf0, 1, false);
  for (int64_t left = count - 15; count >= 15; left -= 255) {
    put_number(s, left < 255 ? (uint64_t)left : 255, 1, false);
    if (left < 255) break;
  }
  put(s, bytes, count);
}

static void lzf(stream *s, const uint8_t *bytes, int64_t count) {
  for (int64_t at = 0; at < count; at += 32) {
    const int64_t now = count - at < 32 ? count - at : 32;
    put_number(s, (uint64_t)now - 1, 1, false);
    put(s, bytes + at, now);
  }
}

static void shuffle(const uint8_t *bytes, int64_t count, int64_t item, uint8_t *out) {
  const int64_t n = count / item;
  for (int64_t i = 0; i < count; i++) out[i < n * item ? i % item * n + i / item : i] = bytes[i];
}

/* Bit b of byte p of element e: bit e % 8 of byte e / 8 of plane 8 p + b. */
static void shuffle_bits(const uint8_t *bytes, int64_t count, int64_t item, uint8_t *out) {
  const int64_t n = count / item;
  memset(out, 0, (size_t)count);
  for (int64_t e = 0; e < n; e++)
    for (int64_t p = 0; p < item; p++)
      for (int b = 0; b < 8; b++)
        if (bytes[e * item + p] >> b & 1) out[(p * 8 + b) * (n / 8) + e / 8] |= (uint8_t)(1 << e % 8);
}

static void blosc_header(stream *s, int flags, int64_t item, int64_t block, int64_t all) {
  put_number(s, 2, 1, false), put_number(s, 1, 1, false), put_number(s, (uint64_t)flags, 1, false), put_number(s, (uint64_t)item, 1, false);
  put_number(s, RAW, 4, false), put_number(s, (uint64_t)block, 4, false), put_number(s, (uint64_t)all, 4, false);
}

/* Blocks of `block` bytes in `splits` streams each, stored, or compressed by LZ4. flags as in the header. */
static void blosc(stream *s, int flags, int64_t item, int64_t block, int64_t splits, bool stored) {
  uint8_t part[RAW];
  const int64_t blocks = (RAW + block - 1) / block;
  blosc_header(s, flags, item, block, 0);
  const int64_t starts = s->len;
  s->len += 4 * blocks;
  for (int64_t k = 0; k < blocks; k++) {
    const int64_t bytes = RAW - k * block < block ? RAW - k * block : block, all = s->len, n = bytes == block ? splits : 1;
    memcpy(part, raw + k * block, (size_t)bytes);
    if (flags & 1) shuffle(raw + k * block, bytes, item, part);
    if (flags & 4 && bytes / item % 8 == 0) shuffle_bits(raw + k * block, bytes / item * item, item, part);
    s->len = starts + 4 * k;
    put_number(s, (uint64_t)all, 4, false);
    s->len = all;
    for (int64_t i = 0; i < n; i++) {
      stream one = {.len = 0};
      if (!stored) lz4(&one, part + i * (bytes / n), bytes / n);
      put_number(s, (uint64_t)(stored ? bytes / n : one.len), 4, false);
      put(s, stored ? part + i * (bytes / n) : one.bytes, stored ? bytes / n : one.len);
    }
  }
  const int64_t all = s->len;
  s->len = 12;
  put_number(s, (uint64_t)all, 4, false);
  s->len = all;
}

static void fletcher(stream *s) {
  uint32_t a = 0, b = 0;
  for (int i = 0; i < RAW; i += 2) a = (a + (uint32_t)(raw[i] << 8 | raw[i + 1])) % 65535, b = (b + a) % 65535;
  put(s, raw, RAW);
  put_number(s, b << 16 | a, 4, false);
}

static void castagnoli(stream *s) {
  uint32_t sum = 0xffffffff;
  put(s, raw, RAW);
  for (int i = 0; i < RAW; i++) {
    sum ^= raw[i];
    for (int b = 0; b < 8; b++) sum = sum >> 1 ^ (0x82f63b78 & (0u - (sum & 1)));
  }
  put_number(s, ~sum, 4, false);
}

static void lz4_hdf5(stream *s) {
  put_number(s, RAW, 8, true);
  put_number(s, 256, 4, true);
  for (int at = 0; at < RAW; at += 256) {
    stream one = {.len = 0};
    const int64_t now = RAW - at < 256 ? RAW - at : 256;
    lz4(&one, raw + at, now);
    const bool stored = at == 256;
    put_number(s, (uint64_t)(stored ? now : one.len), 4, true);
    put(s, stored ? raw + at : one.bytes, stored ? now : one.len);
  }
}

static void bits(stream *s, int64_t item, int64_t block, bool compressed) {
  uint8_t part[RAW];
  const int64_t whole = RAW / item / 8 * 8 * item;
  if (compressed) put_number(s, RAW, 8, true), put_number(s, (uint64_t)(block * item), 4, true);
  for (int64_t at = 0; at < whole; at += block * item) {
    const int64_t now = whole - at < block * item ? whole - at : block * item;
    stream one = {.len = 0};
    shuffle_bits(raw + at, now, item, part);
    lz4(&one, part, now);
    if (compressed) put_number(s, (uint64_t)one.len, 4, true);
    put(s, compressed ? one.bytes : part, compressed ? one.len : now);
  }
  put(s, raw + whole, RAW - whole);
}

/* ---- cases */

static void make(int number, stream *s, gather_pipeline *p) {
  uint8_t part[RAW];
  gather_filter *f = p->filters;
  *s = (stream){.len = 0};
  *p = (gather_pipeline){.count = 1};
  switch (number) {
    case 0:
      p->count = 0, put(s, raw, RAW);
      break;
    case 1:
      f->kind = GATHER_FILTER_DEFLATE, zlib(s, raw, RAW);
      break;
    case 2:
      f->kind = GATHER_FILTER_GZIP, gzip(s, raw, RAW);
      break;
    case 3:
      f->kind = GATHER_FILTER_ZSTD, zstd(s, raw, RAW);
      break;
    case 4:
      f->kind = GATHER_FILTER_LZF, lzf(s, raw, RAW);
      break;
    case 5:
      f->kind = GATHER_FILTER_LZ4_SIZED, put_number(s, RAW, 4, false), lz4(s, raw, RAW);
      break;
    case 6:
      f->kind = GATHER_FILTER_LZ4_HDF5, lz4_hdf5(s);
      break;
    case 7:
      f->kind = GATHER_FILTER_FLETCHER32, fletcher(s);
      break;
    case 8:
      f->kind = GATHER_FILTER_CRC32C, castagnoli(s);
      break;
    case 9:
      f->kind = GATHER_FILTER_ARROW_ZSTD, put_number(s, RAW, 8, false), zstd(s, raw, RAW);
      break;
    case 10:
      f->kind = GATHER_FILTER_ARROW_LZ4, put_number(s, UINT64_MAX, 8, false), put(s, raw, RAW);
      break;
    case 11:
      *f = (gather_filter){.kind = GATHER_FILTER_BITSHUFFLE, .item_bytes = 4, .block_len = 64}, bits(s, 4, 64, false);
      break;
    case 12:
      *f = (gather_filter){.kind = GATHER_FILTER_BITSHUFFLE, .item_bytes = 4, .value = 2}, bits(s, 4, 40, true);
      break;
    case 13:
      f->kind = GATHER_FILTER_BLOSC, blosc_header(s, 2, 4, RAW, 16 + RAW), put(s, raw, RAW);
      break;
    case 14:
      f->kind = GATHER_FILTER_BLOSC, blosc(s, 1 | 0x10 | 1 << 5, 4, 256, 1, false);
      break;
    case 15:
      f->kind = GATHER_FILTER_BLOSC, blosc(s, 4 | 0x10 | 1 << 5, 2, 256, 1, false);
      break;
    case 16:
      f->kind = GATHER_FILTER_BLOSC, blosc(s, 1 | 1 << 5, 2, 256, 2, false);
      break;
    case 17:
      f->kind = GATHER_FILTER_BLOSC, blosc(s, 1 | 1 << 5, 3, 600, 3, true);
      break;
    default: /* shuffle, deflate, then a checksum */
      p->count = 3;
      f[0] = (gather_filter){.kind = GATHER_FILTER_SHUFFLE, .item_bytes = 8};
      f[1].kind = GATHER_FILTER_DEFLATE, f[2].kind = GATHER_FILTER_CRC32C;
      shuffle(raw, RAW, 8, part);
      zlib(s, part, RAW);
      put_number(s, gather_crc32c(s->bytes, s->len), 4, false);
  }
}

enum { CASES = 19 };

/* In memory of exactly its length, so that sanitizers see reads behind it. */
static gather_status undo(const gather_pipeline *p, const uint8_t *bytes, int64_t count, uint8_t *out, gather_error *error) {
  gather_unfilter *unfilter = NULL;
  gather_plain plain;
  uint8_t *stored = malloc((size_t)count + (count == 0));
  if (count > 0) memcpy(stored, bytes, (size_t)count);
  assert_int_equal(gather_unfilter_create(p, RAW, &unfilter, error), GATHER_OK);
  const gather_status status = gather_unfilter_run(unfilter, stored, count, 0, RAW, &plain, error);
  if (status == GATHER_OK) gather_plain_copy(&plain, 0, RAW, (char *)out);
  gather_unfilter_destroy(unfilter);
  free(stored);
  return status;
}

/* Whether this machine has the library that a case needs: emulated ones lack some. */
static bool is_here(int number, const gather_pipeline *p, const stream *s) {
  gather_error error = {.message = ""};
  uint8_t out[RAW];
  const bool lacks = gather_pipeline_check(p, &error) != GATHER_OK || undo(p, s->bytes, s->len, out, &error) == GATHER_UNSUPPORTED;
  if (lacks) print_message("case %d is not run: %s\n", number, error.message);
  return !lacks;
}

static void test_right_bytes(void **state) {
  for (int c = 0; c < CASES; c++) {
    stream s;
    gather_pipeline p;
    gather_error error = {0};
    uint8_t out[RAW];
    make(c, &s, &p);
    if (!is_here(c, &p, &s)) continue;
    if (undo(&p, s.bytes, s.len, out, &error) != GATHER_OK) fail_msg("case %d: %s", c, error.message);
    if (memcmp(out, raw, RAW) != 0) fail_msg("case %d: other bytes", c);
  }
}

static void test_every_cut_and_change(void **state) {
  for (int c = 0; c < CASES; c++) {
    stream s;
    gather_pipeline p;
    gather_error error;
    uint8_t out[RAW];
    make(c, &s, &p);
    if (!is_here(c, &p, &s)) continue;
    for (int64_t len = 0; len < s.len; len++)
      if (undo(&p, s.bytes, len, out, &error) == GATHER_OK) fail_msg("case %d: cut to %d bytes it is not noticed", c, (int)len);
    for (int64_t at = 0; at < s.len; at++)
      for (int bit = 0; bit < 8; bit += 3) {
        s.bytes[at] ^= (uint8_t)(1 << bit);
        const gather_status status = undo(&p, s.bytes, s.len, out, &error);
        assert_true(status == GATHER_OK || ((status == GATHER_FILE_MALFORMED || status == GATHER_UNSUPPORTED) && error.message[0]));
        if (c == 7 || c == 8 || c == 18) assert_int_equal(status, GATHER_FILE_MALFORMED); /* summed */
        s.bytes[at] ^= (uint8_t)(1 << bit);
      }
  }
}

static void test_parts_of_shuffled_elements(void **state) {
  uint8_t mixed[RAW], out[RAW];
  for (int64_t item = 1; item <= 17; item++)
    for (int64_t all = 0; all < 70; all += 3) {
      shuffle(raw, all, item, mixed);
      for (int64_t from = 0; from < all; from++)
        for (int64_t bytes = 0; bytes <= all - from; bytes++) {
          const gather_plain plain = {(const char *)mixed, all, item > 1 ? item : 0};
          memset(out, 0xee, sizeof out);
          gather_plain_copy(&plain, from, bytes, (char *)out);
          assert_memory_equal(out, raw + from, (size_t)bytes);
          assert_int_equal(out[bytes], 0xee);
        }
    }
}

static void test_sums_of_few_bytes(void **state) {
  assert_int_equal(gather_crc32c("", 0), 0);
  assert_int_equal(gather_crc32c("123456789", 9), 0xe3069283); /* the check value of RFC 3720's polynomial */
}

static void test_what_is_refused(void **state) {
  gather_error error;
  char text[64];
  const gather_pipeline twice = {2, {{.kind = GATHER_FILTER_BLOSC}, {.kind = GATHER_FILTER_ZSTD}}};
  const gather_status status = gather_pipeline_check(&twice, &error);
  assert_int_equal(status, GATHER_UNSUPPORTED);
  assert_string_equal(gather_pipeline_text(&twice, text, sizeof text), "zstd after blosc");
  assert_string_equal(gather_pipeline_text(&(gather_pipeline){0}, text, sizeof text), "no filter");
  assert_string_equal(gather_pipeline_text(&twice, text, 6), "zstd ");
  /* Streams of a block that do not fill it. */
  stream s = {.len = 0};
  uint8_t out[RAW];
  gather_pipeline p = {1, {{.kind = GATHER_FILTER_BLOSC}}};
  blosc(&s, 1 << 5, 7, 600, 1, true);
  assert_int_equal(undo(&p, s.bytes, s.len, out, &error), GATHER_OK); /* 85 elements: not split */
  s.bytes[3] = 4;
  (void)undo(&p, s.bytes, s.len, out, &error);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_bytes), cmocka_unit_test(test_every_cut_and_change),
                                     cmocka_unit_test(test_parts_of_shuffled_elements), cmocka_unit_test(test_sums_of_few_bytes),
                                     cmocka_unit_test(test_what_is_refused)};
  know();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

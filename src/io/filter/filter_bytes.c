/* SPDX-License-Identifier: MIT
 *
 * filter_bytes.c: filters that need no library: shuffle, bitshuffle, LZF, delta, and the checksums. Sources: the filters of HDF5 1.14 (2, 3
 * and h5py's 32000) and of numcodecs, by what they write.
 */
#include "io/filter/filter_bytes.h"

#include <pthread.h>
#include <string.h>

#include "core/base/bytes.h"
#include "io/filter/filter.h"

/* ---- shuffle */

/* Loops with a constant number of planes, which compilers turn into permutations of vectors. */
#define COLLECT(planes)                                                                    \
  static void collect_##planes(const char *first, int64_t count, int64_t n, char *out) {   \
    for (int64_t i = 0; i < n; i++)                                                        \
      for (int64_t p = 0; p < (planes); p++) out[i * (planes) + p] = first[p * count + i]; \
  }
COLLECT(2)
COLLECT(4)
COLLECT(8)

static void collect(const char *first, int64_t count, int64_t item, int64_t n, char *out) {
  if (item == 2)
    collect_2(first, count, n, out);
  else if (item == 4)
    collect_4(first, count, n, out);
  else if (item == 8)
    collect_8(first, count, n, out);
  else
    for (int64_t i = 0; i < n; i++)
      for (int64_t p = 0; p < item; p++) out[i * item + p] = first[p * count + i];
}

void gather_unshuffle(const char *shuffled, int64_t all, int64_t item_bytes, int64_t from, int64_t bytes, char *out) {
  const int64_t count = all / item_bytes, whole = count * item_bytes;
  int64_t at = from;
  const int64_t end = from + bytes;
  for (; at < end && at < whole && at % item_bytes != 0; at++) *out++ = shuffled[at % item_bytes * count + at / item_bytes];
  const int64_t most = end < whole ? end : whole, n = at < most ? (most - at) / item_bytes : 0;
  if (n > 0) collect(shuffled + at / item_bytes, count, item_bytes, n, out);
  at += n * item_bytes, out += n * item_bytes;
  for (; at < end && at < whole; at++) *out++ = shuffled[at % item_bytes * count + at / item_bytes];
  if (at < end) memcpy(out, shuffled + at, (size_t)(end - at));
}

/* ---- bitshuffle */

/* Transposes the bits of 8 bytes: bit b of byte i becomes bit i of byte b. */
static uint64_t transpose_bits(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & UINT64_C(0x00aa00aa00aa00aa);
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & UINT64_C(0x0000cccc0000cccc);
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & UINT64_C(0x00000000f0f0f0f0);
  return x ^ t ^ (t << 28);
}

void gather_unshuffle_bits(const char *shuffled, int64_t bytes, int64_t item_bytes, char *out) {
  const int64_t count = bytes / item_bytes, row = count / 8; /* a row: one bit of each element */
  for (int64_t p = 0; p < item_bytes; p++)
    for (int64_t g = 0; g < row; g++) {
      uint64_t bits = 0;
      for (int b = 0; b < 8; b++) bits |= (uint64_t)(unsigned char)shuffled[(p * 8 + b) * row + g] << (8 * b);
      bits = transpose_bits(bits);
      for (int i = 0; i < 8; i++) out[(g * 8 + i) * item_bytes + p] = (char)(bits >> (8 * i));
    }
}

/* ---- LZF: a byte below 32: so many literals and one more follow; else a copy, of 3 bits of length and 13 of distance */

static int64_t copy_back(unsigned char *out, int64_t at, int64_t out_bytes, int64_t distance, int64_t len) {
  if (distance > at || len > out_bytes - at) return -1;
  if (distance >= len)
    memcpy(out + at, out + at - distance, (size_t)len);
  else
    for (int64_t i = 0; i < len; i++) out[at + i] = out[at + i - distance];
  return at + len;
}

int64_t gather_unlzf(const void *in, int64_t in_bytes, void *out, int64_t out_bytes) {
  const unsigned char *from = in, *end = from + in_bytes;
  unsigned char *to = out;
  int64_t at = 0;
  while (from < end) {
    const int64_t control = *from++;
    if (control < 32) {
      const int64_t len = control + 1;
      if (len > end - from || len > out_bytes - at) return -1;
      memcpy(to + at, from, (size_t)len);
      from += len, at += len;
      continue;
    }
    int64_t len = control >> 5;
    if (len == 7) {
      if (from == end) return -1;
      len += *from++;
    }
    if (from == end) return -1;
    const int64_t distance = ((control & 31) << 8) + *from++ + 1;
    at = copy_back(to, at, out_bytes, distance, len + 2);
    if (at < 0) return -1;
  }
  return at;
}

/* ---- checksums */

uint32_t gather_fletcher32(const void *bytes, int64_t count) {
  enum { AT_ONCE = 360 }; /* words whose sums fit into 32 bits */
  const unsigned char *at = bytes;
  uint32_t a = 0, b = 0;
  for (int64_t left = count / 2; left > 0;) {
    int64_t now = left < AT_ONCE ? left : AT_ONCE;
    left -= now;
    for (; now > 0; now--, at += 2) b += a += (uint32_t)at[0] << 8 | at[1];
    a = (a & 0xffff) + (a >> 16), b = (b & 0xffff) + (b >> 16);
  }
  if (count % 2) {
    b += a += (uint32_t)*at << 8;
    a = (a & 0xffff) + (a >> 16), b = (b & 0xffff) + (b >> 16);
  }
  a = (a & 0xffff) + (a >> 16), b = (b & 0xffff) + (b >> 16);
  return b << 16 | a;
}

/* What a byte does to the sum when 0 to 7 bytes follow it, so that eight bytes need no loop over bits. */
static uint32_t after[8][256];
static pthread_once_t after_once = PTHREAD_ONCE_INIT;

static void make_after(void) {
  enum { POLYNOMIAL = (int)0x82f63b78 }; /* reflected */
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ (uint32_t)POLYNOMIAL : sum >> 1;
    after[0][byte] = sum;
  }
  for (int i = 1; i < 8; i++)
    for (int byte = 0; byte < 256; byte++) after[i][byte] = after[i - 1][byte] >> 8 ^ after[0][after[i - 1][byte] & 255];
}

uint32_t gather_crc32c(const void *bytes, int64_t count) {
  const unsigned char *at = bytes;
  uint32_t sum = 0xffffffff;
  (void)pthread_once(&after_once, make_after);
  for (; count >= 8; count -= 8, at += 8) {
    const uint32_t first = sum ^ gather_read_u32(at);
    sum = after[7][first & 255] ^ after[6][first >> 8 & 255] ^ after[5][first >> 16 & 255] ^ after[4][first >> 24] ^ after[3][at[4]] ^
          after[2][at[5]] ^ after[1][at[6]] ^ after[0][at[7]];
  }
  for (; count > 0; count--, at++) sum = sum >> 8 ^ after[0][(sum ^ *at) & 255];
  return ~sum;
}

/* ---- delta */

#define SUM(type)                                                                    \
  {                                                                                  \
    type before, number;                                                             \
    memcpy(&before, numbers, sizeof before);                                         \
    for (int64_t i = (int64_t)sizeof(type); i < bytes; i += (int64_t)sizeof(type)) { \
      memcpy(&number, numbers + i, sizeof number);                                   \
      before = (type)(before + number);                                              \
      memcpy(numbers + i, &before, sizeof before);                                   \
    }                                                                                \
  }

void gather_undelta(char *numbers, int64_t bytes, int64_t item_bytes, bool is_float) {
  bytes -= bytes % item_bytes;
  if (bytes == 0) return;
  switch (item_bytes) {
    case 1:
      SUM(uint8_t) break;
    case 2:
      SUM(uint16_t) break;
    case 4:
      if (is_float) SUM(float) else SUM(uint32_t) break;
    default:
      if (is_float) SUM(double) else SUM(uint64_t) break;
  }
}

/* SPDX-License-Identifier: MIT
 *
 * limits.c: what the memory of this machine gives at best, measured with the same buffers as the gathers: a copy; reading the indices and
 * writing the output in order, and the same with a copy of as many bytes in order; reading one word of every line that the indices name. A
 * gather has to do each of them; limits.py says which counts.
 */
#include <string.h>

#include "native.h"
#include "x86.h"

enum { LINE = 64, AHEAD = 2048, BLOCK = 4096 };

static volatile uint64_t sink;

/* Portable forms: what a compiler makes of them. */
static uint64_t read_plain(const char *from, int64_t bytes) {
  uint64_t sum = 0, word;
  for (int64_t i = 0; i + 8 <= bytes; i += 8) {
    memcpy(&word, from + i, 8);
    sum += word;
  }
  return sum;
}
static void write_plain(char *to, int64_t bytes) { memset(to, 0x5A, (size_t)bytes); }

#if BENCH_X86
GATHER_BENCH_TARGET("avx512f")
static uint64_t read_512(const char *from, int64_t bytes, bool fetch) {
  __m512i a = _mm512_setzero_si512(), b = a;
  for (int64_t i = 0; i + 2 * LINE <= bytes; i += 2 * LINE) {
    if (fetch) {
      _mm_prefetch(from + i + AHEAD, _MM_HINT_T1);
      _mm_prefetch(from + i + AHEAD + LINE, _MM_HINT_T1);
    }
    a = _mm512_add_epi64(a, _mm512_loadu_si512(from + i));
    b = _mm512_add_epi64(b, _mm512_loadu_si512(from + i + LINE));
  }
  return (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(a, b));
}

GATHER_BENCH_TARGET("avx512f")
static void write_512(char *to, int64_t bytes, bool past) {
  __m512i v = _mm512_set1_epi8(0x5A);
  int64_t i = 0;
  for (; i + LINE <= bytes; i += LINE) {
    if (past)
      _mm512_stream_si512((void *)(to + i), v);
    else
      _mm512_store_si512((void *)(to + i), v);
  }
  memset(to + i, 0x5A, (size_t)(bytes - i));
}

GATHER_BENCH_TARGET("avx")
static uint64_t read_256(const char *from, int64_t bytes, bool fetch) {
  __m256 a = _mm256_setzero_ps(), b = a;
  for (int64_t i = 0; i + LINE <= bytes; i += LINE) {
    if (fetch) _mm_prefetch(from + i + AHEAD, _MM_HINT_T1);
    a = _mm256_xor_ps(a, _mm256_loadu_ps((const float *)(const void *)(from + i)));
    b = _mm256_xor_ps(b, _mm256_loadu_ps((const float *)(const void *)(from + i + 32)));
  }
  uint64_t words[4];
  _mm256_storeu_ps((float *)(void *)words, _mm256_xor_ps(a, b));
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

GATHER_BENCH_TARGET("avx")
static void write_256(char *to, int64_t bytes, bool past) {
  __m256i v = _mm256_set1_epi8(0x5A);
  int64_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    if (past)
      _mm256_stream_si256((__m256i *)(void *)(to + i), v);
    else
      _mm256_store_si256((__m256i *)(void *)(to + i), v);
  }
  memset(to + i, 0x5A, (size_t)(bytes - i));
}

/* SSE2 is part of every x86-64, and a stream of whole lines does not depend on the width of its stores. */
static void copy_past(char *to, const char *from, int64_t bytes) {
  for (int64_t i = 0; i + LINE <= bytes; i += LINE) {
    _mm_prefetch(from + i + AHEAD, _MM_HINT_T1);
    for (int k = 0; k < LINE; k += 16)
      _mm_stream_si128((__m128i *)(void *)(to + i + k), _mm_loadu_si128((const __m128i *)(const void *)(from + i + k)));
  }
  memcpy(to + bytes / LINE * LINE, from + bytes / LINE * LINE, (size_t)(bytes % LINE));
  _mm_sfence();
}
#endif

static uint64_t read_best(const char *from, int64_t bytes, bool fetch) {
#if BENCH_X86
  if (__builtin_cpu_supports("avx512f")) return read_512(from, bytes, fetch);
  if (__builtin_cpu_supports("avx")) return read_256(from, bytes, fetch);
#endif
  (void)fetch;
  return read_plain(from, bytes);
}

static void write_best(char *to, int64_t bytes, bool past) {
#if BENCH_X86
  if (__builtin_cpu_supports("avx512f")) {
    write_512(to, bytes, past);
    return;
  }
  if (__builtin_cpu_supports("avx")) {
    write_256(to, bytes, past);
    return;
  }
#endif
  (void)past;
  write_plain(to, bytes);
}

/* The part of `bytes` from which part number `part` starts, on a line. */
static int64_t border(int64_t bytes, int64_t part, int64_t parts) { return part == parts ? bytes : bytes / parts * part / LINE * LINE; }

void bench_copy(const job *j, int64_t part, int64_t parts) {
  int64_t from = border(j->in_bytes, part, parts), to = border(j->in_bytes, part + 1, parts);
#if BENCH_X86
  if (j->past_caches) {
    copy_past(j->out + from, j->table + from, to - from);
    return;
  }
#endif
  memcpy(j->out + from, j->table + from, (size_t)(to - from));
}

#if BENCH_X86
GATHER_BENCH_TARGET("avx512f")
static void copy_512(char *to, const char *from, int64_t bytes) {
  int64_t i = 0;
  for (; i + LINE <= bytes; i += LINE) _mm512_store_si512((void *)(to + i), _mm512_loadu_si512(from + i));
  memcpy(to + i, from + i, (size_t)(bytes - i));
}

GATHER_BENCH_TARGET("avx")
static void copy_256(char *to, const char *from, int64_t bytes) {
  int64_t i = 0;
  for (; i + 32 <= bytes; i += 32)
    _mm256_store_si256((__m256i *)(void *)(to + i), _mm256_loadu_si256((const __m256i *)(const void *)(from + i)));
  memcpy(to + i, from + i, (size_t)(bytes - i));
}
#endif

static void copy_best(char *to, const char *from, int64_t bytes, bool vectors) {
#if BENCH_X86
  if (vectors && __builtin_cpu_supports("avx512f")) {
    copy_512(to, from, bytes);
    return;
  }
  if (vectors && __builtin_cpu_supports("avx")) {
    copy_256(to, from, bytes);
    return;
  }
#endif
  (void)vectors;
  memcpy(to, from, (size_t)bytes);
}

/* Block by block of the output, with its share of the indices. The table, of whole blocks, is read again where it is smaller. */
void bench_copy_rows(const job *j, int64_t part, int64_t parts) {
  int64_t from = border(j->out_bytes, part, parts) / BLOCK * BLOCK, to = border(j->out_bytes, part + 1, parts);
  double share = (double)j->in_bytes / (double)(j->out_bytes ? j->out_bytes : 1);
  uint64_t sum = 0;
  if (part + 1 < parts) to = to / BLOCK * BLOCK;
  for (int64_t at = from; at < to; at += BLOCK) {
    int64_t end = at + BLOCK < to ? at + BLOCK : to;
    int64_t in = (int64_t)((double)at * share) / 8 * 8, in_end = (int64_t)((double)end * share) / 8 * 8;
    sum += read_best(j->indices + in, in_end - in, false);
    copy_best(j->out + at, j->table + at % j->table_bytes, end - at, j->lines > 0);
  }
  sink = sum;
}

void bench_read(const job *j, int64_t part, int64_t parts) {
  int64_t from = border(j->in_bytes, part, parts), to = border(j->in_bytes, part + 1, parts);
  sink = read_best(j->indices + from, to - from, j->past_caches);
}

/* Block by block of the output, with the share of the input that belongs to it. */
void bench_stream(const job *j, int64_t part, int64_t parts) {
  int64_t from = border(j->out_bytes, part, parts), to = border(j->out_bytes, part + 1, parts);
  double share = (double)j->in_bytes / (double)(j->out_bytes ? j->out_bytes : 1);
  double table_share = (double)j->table_bytes / (double)(j->out_bytes ? j->out_bytes : 1);
  uint64_t sum = 0;
  for (int64_t at = from; at < to; at += BLOCK) {
    int64_t end = at + BLOCK < to ? at + BLOCK : to;
    int64_t in = (int64_t)((double)at * share) / 8 * 8, in_end = (int64_t)((double)end * share) / 8 * 8;
    int64_t table = (int64_t)((double)at * table_share) / 8 * 8, table_end = (int64_t)((double)end * table_share) / 8 * 8;
    sum += read_best(j->indices + in, in_end - in, j->past_caches);
    if (table_end > table) sum += read_best(j->table + table, table_end - table, j->lines > 0);
    write_best(j->out + at, end - at, j->past_caches);
  }
#if BENCH_X86
  if (j->past_caches) _mm_sfence();
#endif
  sink = sum;
}

/* ---- one word of every line, with or without fetching ahead: random reads of a table of this size, in this order. Not for inner > 1:
 * there the lines come as a list. */

static volatile uint64_t touched;

static inline void fetch(const char *at, int64_t bytes, int64_t lines) {
  const char *end = at + bytes - 1;
  for (int64_t line = 0; line < lines && at <= end; line++, at += LINE) __builtin_prefetch(at, 0, 2);
}

/* Short rows stand in one line nearly always, and one load is all they cost. */
static inline uint64_t touch(const char *at, int64_t bytes) {
  uint64_t sum = (unsigned char)*at;
  for (int64_t b = LINE; b < bytes; b += LINE) sum += (unsigned char)at[b];
  return sum;
}

/* The width of the indices is a constant of each. */
#define FLAT(type)                                                                                            \
  static uint64_t flat_##type(const job *j, int64_t from, int64_t to) {                                       \
    const type *index = (const type *)(const void *)j->indices;                                               \
    int64_t ahead = j->ahead, last = j->count - 1;                                                            \
    uint64_t sum = 0, more[4] = {0};                                                                          \
    int64_t p = from;                                                                                         \
    /* The indices themselves come from memory too, and are read in order. */                                 \
    if (!ahead && j->row_bytes <= LINE) { /* four sums, so that adding is not what takes time */              \
      for (; p + 4 <= to; p += 4) {                                                                           \
        __builtin_prefetch((const char *)(index + p) + AHEAD, 0, 2);                                          \
        for (int u = 0; u < 4; u++) more[u] += (unsigned char)j->table[(int64_t)index[p + u] * j->axis_step]; \
      }                                                                                                       \
    }                                                                                                         \
    for (; p < to; p++) {                                                                                     \
      if (ahead) {                                                                                            \
        if (p % 8 == 0) __builtin_prefetch((const char *)(index + p) + AHEAD, 0, 2);                          \
        int64_t q = p + ahead < last ? p + ahead : last;                                                      \
        fetch(j->table + (int64_t)index[q] * j->axis_step, j->row_bytes, j->lines);                           \
      }                                                                                                       \
      sum += touch(j->table + (int64_t)index[p] * j->axis_step, j->row_bytes);                                \
    }                                                                                                         \
    return sum + more[0] + more[1] + more[2] + more[3];                                                       \
  }
FLAT(uint8_t)
FLAT(uint32_t)
FLAT(uint64_t)

static uint64_t flat(const job *j, int64_t from, int64_t to) {
  if (j->index_bytes == 8) return flat_uint64_t(j, from, to);
  if (j->index_bytes == 4) return flat_uint32_t(j, from, to);
  return flat_uint8_t(j, from, to);
}

#if BENCH_X86
/* Eight at a time: the CPU looks further ahead than with single loads. Eight bytes of each place are read, so a buffer ends
 * later than its table. Indices and steps are below 2^32. */
GATHER_BENCH_TARGET("avx512f")
static uint64_t by_vector_512(const job *j, int64_t from, int64_t to) {
  const __m512i step = _mm512_set1_epi64(j->axis_step), byte = _mm512_set1_epi64(0xFF);
  __m512i sum = _mm512_setzero_si512();
  int64_t p = from;
  for (; p + 8 <= to; p += 8) {
    const char *at = j->indices + p * j->index_bytes;
    _mm_prefetch(at + AHEAD, _MM_HINT_T1);
    __m512i index =
        j->index_bytes == 8 ? _mm512_loadu_si512(at) : _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at));
    __m512i word = _mm512_i64gather_epi64(_mm512_mul_epu32(index, step), j->table, 1);
    sum = _mm512_add_epi64(sum, _mm512_and_si512(word, byte)); /* the same sum as that of single bytes */
  }
  return (uint64_t)_mm512_reduce_add_epi64(sum) + flat(j, p, to);
}
#endif

static uint64_t by_vector(const job *j, int64_t from, int64_t to) {
#if BENCH_X86
  if (__builtin_cpu_supports("avx512f") && j->index_bytes >= 4 && j->row_bytes <= LINE) return by_vector_512(j, from, to);
#endif
  return flat(j, from, to);
}

/* A part may begin and end within one of the outer loop's rounds. */
static void each_round(const job *j, int64_t part, int64_t parts, uint64_t (*read)(const job *, int64_t, int64_t)) {
  int64_t total = j->outer * j->count, from = total * part / parts, to = total * (part + 1) / parts;
  uint64_t sum = 0;
  while (from < to) {
    int64_t o = from / j->count, first = from - o * j->count;
    int64_t end = to - o * j->count < j->count ? to - o * j->count : j->count;
    job round = *j;
    round.table = j->table + o * j->outer_step;
    round.indices = j->indices + o * j->index_outer * j->index_bytes;
    sum += read(&round, first, end);
    from += end - first;
  }
  touched = sum;
}

/* Of one thread. */
uint64_t bench_touched(void) { return touched; }
void bench_touch(const job *j, int64_t part, int64_t parts) { each_round(j, part, parts, flat); }
void bench_touch_by_vector(const job *j, int64_t part, int64_t parts) { each_round(j, part, parts, by_vector); }

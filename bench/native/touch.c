/* SPDX-License-Identifier: MIT
 *
 * touch.c: reads one word of every line that the indices name, with or without fetching ahead, and writes nothing: the limit of
 * random reads for a table of this size, in this order. Not for inner > 1: there the lines come as a list, see limits.py.
 */
#include "native.h"
#include "x86.h"

enum { LINE = 64, FAR = 2048 };

static volatile uint64_t sink;

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
        __builtin_prefetch((const char *)(index + p) + FAR, 0, 2);                                            \
        for (int u = 0; u < 4; u++) more[u] += (unsigned char)j->table[(int64_t)index[p + u] * j->axis_step]; \
      }                                                                                                       \
    }                                                                                                         \
    for (; p < to; p++) {                                                                                     \
      if (ahead) {                                                                                            \
        if (p % 8 == 0) __builtin_prefetch((const char *)(index + p) + FAR, 0, 2);                            \
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
    _mm_prefetch(at + FAR, _MM_HINT_T1);
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
  sink = sum;
}

/* Of one thread. */
uint64_t bench_touched(void) { return sink; }
void bench_touch(const job *j, int64_t part, int64_t parts) { each_round(j, part, parts, flat); }
void bench_touch_by_vector(const job *j, int64_t part, int64_t parts) { each_round(j, part, parts, by_vector); }

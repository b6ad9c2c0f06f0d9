/* SPDX-License-Identifier: MIT
 *
 * touch.c: reads one word of every line that the indices name, with or without fetching ahead, and writes nothing: the limit of
 * random reads for a table of this size, in this order. One loop over the indices (outer = inner = 1).
 */
#include "native.h"

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

void bench_touch(const job *j, int64_t part, int64_t parts) {
  int64_t from = j->count * part / parts, to = j->count * (part + 1) / parts;
  if (j->index_bytes == 8)
    sink = flat_uint64_t(j, from, to);
  else if (j->index_bytes == 4)
    sink = flat_uint32_t(j, from, to);
  else
    sink = flat_uint8_t(j, from, to);
}

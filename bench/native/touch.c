/* SPDX-License-Identifier: MIT
 *
 * touch.c: reads one word of every line that the indices name, with or without fetching ahead, and writes nothing: the limit of
 * random reads for a table of this size, in this order.
 */
#include <string.h>

#include "native.h"

enum { LINE = 64 };

static volatile uint64_t sink;

/* Where the walk over (o, i, k) stands. */
typedef struct {
  int64_t o, i, k;
} cursor;

static inline void step(const job *j, cursor *c) {
  if (++c->k < j->inner) return;
  c->k = 0;
  if (++c->i < j->count) return;
  c->i = 0;
  c->o++;
}

static inline const char *row(const job *j, const cursor *c) {
  int64_t at = c->o * j->index_outer + c->i * j->inner + c->k;
  uint64_t index;
  if (j->index_bytes == 8)
    index = ((const uint64_t *)(const void *)j->indices)[at];
  else if (j->index_bytes == 4)
    index = ((const uint32_t *)(const void *)j->indices)[at];
  else
    index = ((const uint8_t *)(const void *)j->indices)[at];
  return j->table + c->o * j->outer_step + (int64_t)index * j->axis_step + c->k * j->inner_step;
}

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

/* One loop for all cases of the plain take, so that the compiler sees a width and nothing else. */
#define FLAT(type)                                                                              \
  static uint64_t flat_##type(const job *j, int64_t from, int64_t to) {                         \
    const type *index = (const type *)(const void *)j->indices;                                 \
    int64_t ahead = j->ahead, last = j->count - 1;                                              \
    uint64_t sum = 0, more[4] = {0};                                                            \
    int64_t p = from;                                                                           \
    if (!ahead && j->row_bytes <= LINE) { /* four sums, so that adding is not what takes time */ \
      for (; p + 4 <= to; p += 4)                                                               \
        for (int u = 0; u < 4; u++)                                                             \
          more[u] += (unsigned char)j->table[(int64_t)index[p + u] * j->axis_step];             \
    }                                                                                           \
    for (; p < to; p++) {                                                                       \
      if (ahead) {                                                                              \
        int64_t q = p + ahead < last ? p + ahead : last;                                        \
        fetch(j->table + (int64_t)index[q] * j->axis_step, j->row_bytes, j->lines);             \
      }                                                                                         \
      sum += touch(j->table + (int64_t)index[p] * j->axis_step, j->row_bytes);                  \
    }                                                                                           \
    return sum + more[0] + more[1] + more[2] + more[3];                                         \
  }
FLAT(uint8_t)
FLAT(uint32_t)
FLAT(uint64_t)

static uint64_t walk(const job *j, int64_t from, int64_t to) {
  int64_t plane = j->count * j->inner, all = j->outer * plane;
  cursor now = {from / plane, from % plane / j->inner, from % j->inner};
  int64_t q = from + j->ahead < all ? from + j->ahead : all - 1;
  cursor ahead = {q / plane, q % plane / j->inner, q % j->inner};
  uint64_t sum = 0;
  for (int64_t p = from; p < to; p++) {
    if (j->ahead && p + j->ahead < all) {
      fetch(row(j, &ahead), j->row_bytes, j->lines);
      step(j, &ahead);
    }
    sum += touch(row(j, &now), j->row_bytes);
    step(j, &now);
  }
  return sum;
}

void bench_touch(const job *j, int64_t part, int64_t parts) {
  int64_t all = j->outer * j->count * j->inner, from = all / parts * part, to = part + 1 == parts ? all : all / parts * (part + 1);
  if (j->outer > 1 || j->inner > 1)
    sink = walk(j, from, to);
  else if (j->index_bytes == 8)
    sink = flat_uint64_t(j, from, to);
  else if (j->index_bytes == 4)
    sink = flat_uint32_t(j, from, to);
  else
    sink = flat_uint8_t(j, from, to);
}

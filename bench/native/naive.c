/* SPDX-License-Identifier: MIT
 *
 * naive.c: the loop that anybody writes: one row after another, no check of the indices, no prefetch. Sizes of rows up to 64
 * bytes are constants, so that the compiler knows them; one thread is one loop.
 */
#include <string.h>

#include "native.h"

/* Take: one row per index. */
#define TAKE(index_type, bytes)                                                                                                \
  for (int64_t o = from_outer; o < to_outer; o++) {                                                                            \
    const index_type *index = (const index_type *)(const void *)j->indices + o * j->index_outer;                               \
    const char *table = j->table + o * j->outer_step;                                                                          \
    char *out = j->out + o * j->count * (int64_t)(bytes);                                                                      \
    for (int64_t i = from; i < to; i++) memcpy(out + i * (int64_t)(bytes), table + (int64_t)index[i] * step, (size_t)(bytes)); \
  }

/* GatherElements: one element per index, and another place in the table for each. */
#define ELEMENTS(index_type, bytes)                                                                                   \
  for (int64_t o = from_outer; o < to_outer; o++) {                                                                   \
    for (int64_t i = from; i < to; i++) {                                                                             \
      const index_type *index = (const index_type *)(const void *)j->indices + o * j->index_outer + i * j->inner;     \
      const char *table = j->table + o * j->outer_step;                                                               \
      char *out = j->out + (o * j->count + i) * j->inner * (int64_t)(bytes);                                          \
      for (int64_t k = 0; k < j->inner; k++)                                                                          \
        memcpy(out + k * (int64_t)(bytes), table + (int64_t)index[k] * step + k * (int64_t)(bytes), (size_t)(bytes)); \
    }                                                                                                                 \
  }

#define BY_SIZE(loop, index_type)           \
  switch (j->row_bytes) {                   \
    case 1:                                 \
      loop(index_type, 1) break;            \
    case 2:                                 \
      loop(index_type, 2) break;            \
    case 3:                                 \
      loop(index_type, 3) break;            \
    case 4:                                 \
      loop(index_type, 4) break;            \
    case 6:                                 \
      loop(index_type, 6) break;            \
    case 8:                                 \
      loop(index_type, 8) break;            \
    case 12:                                \
      loop(index_type, 12) break;           \
    case 16:                                \
      loop(index_type, 16) break;           \
    case 24:                                \
      loop(index_type, 24) break;           \
    case 32:                                \
      loop(index_type, 32) break;           \
    case 64:                                \
      loop(index_type, 64) break;           \
    default:                                \
      loop(index_type, j->row_bytes) break; \
  }

#define BY_WIDTH(loop)               \
  switch (j->index_bytes) {          \
    case 8:                          \
      BY_SIZE(loop, uint64_t) break; \
    case 4:                          \
      BY_SIZE(loop, uint32_t) break; \
    default:                         \
      BY_SIZE(loop, uint8_t) break;  \
  }

void bench_naive(const job *j, int64_t part, int64_t parts) {
  int64_t step = j->axis_step;
  /* Shared out over the outer loop where there is one, else over the indices. */
  bool by_outer = j->outer > 1;
  int64_t from_outer = by_outer ? j->outer * part / parts : 0, to_outer = by_outer ? j->outer * (part + 1) / parts : j->outer;
  int64_t from = by_outer ? 0 : j->count * part / parts, to = by_outer ? j->count : j->count * (part + 1) / parts;
  if (j->inner > 1) {
    BY_WIDTH(ELEMENTS)
  } else {
    BY_WIDTH(TAKE)
  }
}

/* Elements of four bits, the first in the low half of its byte: row_bytes counts elements, and so do the steps. */
void bench_naive_int4(const job *j, int64_t part, int64_t parts) {
  const unsigned char *table = (const unsigned char *)j->table;
  int64_t from = j->count * part / parts / 2 * 2, to = part + 1 == parts ? j->count : j->count * (part + 1) / parts / 2 * 2;
  for (int64_t i = from; i < to; i++) {
    int64_t index = j->index_bytes == 8 ? ((const int64_t *)(const void *)j->indices)[i] : ((const int32_t *)(const void *)j->indices)[i];
    for (int64_t k = 0; k < j->row_bytes; k++) {
      int64_t in = index * j->row_bytes + k, at = i * j->row_bytes + k;
      unsigned value = (table[in >> 1] >> ((in & 1) * 4)) & 15u;
      unsigned char *byte = (unsigned char *)j->out + (at >> 1);
      *byte = (unsigned char)((at & 1) ? (*byte & 15u) | value << 4 : value);
    }
  }
}

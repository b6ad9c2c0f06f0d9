/* SPDX-License-Identifier: MIT
 *
 * tuples_vector.tmpl.h: tuples by vectors of LANES numbers of 64 bits: K vectors are LANES tuples. Included once per instruction set,
 * after tuples.tmpl.h; the file that includes it defines
 *   numbers, LANES, load_4 and load_8 (LANES numbers of either width), periodic(K, v, values): value (LANES * v + lane) % K in each
 *   lane, worst(seen, moved, last): what any_outside(seen, last) needs to tell whether some moved was not in [0, last], wrap(number, back),
 *   product(a, b): of 32 bits each, plus_numbers, store_numbers, add_2, add_3, add_4: sums of LANES tuples from their K vectors.
 */
/* Prefetches the line of indices that follows much later: the CPU's own prefetcher does not use the full memory bandwidth. */
GATHER_INLINE void later_tuples(const char *indices, int bytes) {
  for (int at = 0; at < bytes; at += 64) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH + at);
}

#define TUPLES(K, w)                                                                                                                     \
  static bool tuples_within_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count) {                                  \
    NUMBERS back[K], last[K], seen[K];                                                                                                   \
    int64_t most[K];                                                                                                                     \
    int64_t j = 0;                                                                                                                       \
    for (int c = 0; c < K; c++) most[c] = a->len[c] + a->back[c] - 1;                                                                    \
    for (int v = 0; v < K; v++) back[v] = periodic(K, v, a->back), last[v] = periodic(K, v, most), seen[v] = every_number(0);            \
    for (; j + LANES <= count; j += LANES) {                                                                                             \
      later_tuples(indices + j * K * w, K * LANES * w);                                                                                  \
      for (int v = 0; v < K; v++) seen[v] = worst(seen[v], plus_numbers(load_##w(indices + (j * K + v * LANES) * w), back[v]), last[v]); \
    }                                                                                                                                    \
    for (int v = 0; v < K; v++)                                                                                                          \
      if (any_outside(seen[v], last[v])) return false;                                                                                   \
    return within_rest_##K##_##w(a, indices + j * K * w, count - j);                                                                     \
  }                                                                                                                                      \
  static void tuples_fold_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count, int64_t *offsets) {                  \
    const NUMBERS base = every_number(a->base);                                                                                          \
    NUMBERS back[K], step[K];                                                                                                            \
    int64_t j = 0;                                                                                                                       \
    for (int v = 0; v < K; v++) back[v] = periodic(K, v, a->back), step[v] = periodic(K, v, a->step);                                    \
    for (; j + LANES <= count; j += LANES) {                                                                                             \
      later_tuples(indices + j * K * w, K * LANES * w);                                                                                  \
      NUMBERS p[K];                                                                                                                      \
      for (int v = 0; v < K; v++) p[v] = product(wrap(load_##w(indices + (j * K + v * LANES) * w), back[v]), step[v]);                   \
      store_numbers(offsets + j, plus_numbers(base, add_##K(p)));                                                                        \
    }                                                                                                                                    \
    fold_rest_##K##_##w(a, indices + j * K * w, count - j, offsets + j);                                                                 \
  }
TUPLES(2, 4)
TUPLES(3, 4)
TUPLES(4, 4)
TUPLES(2, 8)
TUPLES(3, 8)
TUPLES(4, 8)
#undef TUPLES

/* SPDX-License-Identifier: MIT
 *
 * bag_vector.tmpl.h: the kernels of embedding bags for one kind of sums, by vectors. Before, define KIND and SLOT, its number; ACC, the
 * type of a sum; VECTOR, of BAG_LANES_KIND sums, BAG_MOST_KIND of which (4 or 8) stay in registers; and inline functions
 *   load_KIND(at), put_KIND(at, v)           elements as sums, and back, rounded
 *   acc_KIND(at), keep_KIND(at, v)           sums in memory
 *   every_KIND(a), plus_KIND, times_KIND, divide_KIND
 *   higher_KIND(row, acc)                    of each lane the row's number where it is the larger one or no number, else that of acc
 *
 * Columns of a few vectors are summed over all rows of a bag, so that each line of a row is read once and the sums stay in registers. The
 * last columns overlap those before them. Rows below one vector are left to plain C.
 */
#define BAG_JOIN(a, b) a##_##b
#define BAG_NAME(a, b) BAG_JOIN(a, b)
#define OF(name) BAG_NAME(name, KIND)
#define VECTOR_LANES OF(BAG_LANES)
#define VECTOR_BYTES OF(BAG_BYTES)

GATHER_INLINE VECTOR OF(next)(VECTOR acc, VECTOR row, VECTOR weight, int fold) {
  if (fold == GATHER_BAG_MAX) return OF(higher)(row, acc);
  return OF(plus)(acc, fold == GATHER_BAG_WEIGHTED ? OF(times)(row, weight) : row);
}

/* One row. */
GATHER_INLINE void OF(add)(VECTOR *acc, const char *row, ACC weight, int fold, const int count) {
  const VECTOR all = OF(every)(weight);
  for (int k = 0; k < count; k++) acc[k] = OF(next)(acc[k], OF(load)(row + k * VECTOR_LANES * VECTOR_BYTES), all, fold);
}

GATHER_INLINE void OF(begin)(VECTOR *acc, const char *row, ACC weight, int fold, const int count) {
  const VECTOR all = OF(every)(weight);
  for (int k = 0; k < count; k++) acc[k] = OF(load)(row + k * VECTOR_LANES * VECTOR_BYTES);
  for (int k = 0; fold == GATHER_BAG_WEIGHTED && k < count; k++) acc[k] = OF(times)(acc[k], all);
}

/* Vectors from `column` on, for one bag of n rows. slot: the place of their sums in s->acc. stay: rows from this one on are added without
 * prefetching. */
GATHER_INLINE void OF(columns)(const gather_bag_span *s, const int64_t *rows, const ACC *weights, int64_t n, int64_t stay, int64_t column,
                               int64_t slot, char *out, int fold, const int count) {
  VECTOR acc[BAG_VECTORS];
  const char *base = s->table + column * VECTOR_BYTES;
  ACC *kept = s->acc ? (ACC *)s->acc + slot : NULL;
  const int64_t step = s->axis_step, distance = s->prefetch_rows;
  int64_t j = s->resume ? 0 : 1;
  if (s->resume)
    for (int k = 0; k < count; k++) acc[k] = OF(acc)(kept + k * VECTOR_LANES);
  else
    OF(begin)(acc, base + rows[0] * step, fold == GATHER_BAG_WEIGHTED ? weights[0] : 0, fold, count);
  if (j == 1 && stay > 0)
    for (int b = 0; b < count * VECTOR_LANES * VECTOR_BYTES; b += 64) BAG_PREFETCH(base + rows[distance] * step + b);
  for (; j < stay; j++) {
    for (int b = 0; b < count * VECTOR_LANES * VECTOR_BYTES; b += 64) BAG_PREFETCH(base + rows[j + distance] * step + b);
    OF(add)(acc, base + rows[j] * step, fold == GATHER_BAG_WEIGHTED ? weights[j] : 0, fold, count);
  }
  for (; j < n; j++) OF(add)(acc, base + rows[j] * step, fold == GATHER_BAG_WEIGHTED ? weights[j] : 0, fold, count);
  if (s->keep) {
    for (int k = 0; k < count; k++) OF(keep)(kept + k * VECTOR_LANES, acc[k]);
    return;
  }
  const VECTOR number = OF(every)((ACC)(s->total ? s->total : n));
  for (int k = 0; s->mean && k < count; k++) acc[k] = OF(divide)(acc[k], number);
  for (int k = 0; k < count; k++) OF(put)(out + (column + k * VECTOR_LANES) * VECTOR_BYTES, acc[k]);
}

/* One bag. */
GATHER_INLINE void OF(bag)(const gather_bag_span *s, const int64_t *rows, const ACC *weights, int64_t n, int64_t stay, char *out,
                           int fold) {
  const int64_t len = s->len;
  int64_t column = 0;
  for (; OF(BAG_MOST) == 8 && column + 8 * VECTOR_LANES <= len; column += 8 * VECTOR_LANES)
    OF(columns)(s, rows, weights, n, stay, column, column, out, fold, 8);
  for (; column + 4 * VECTOR_LANES <= len; column += 4 * VECTOR_LANES) OF(columns)(s, rows, weights, n, stay, column, column, out, fold, 4);
  if (column + 2 * VECTOR_LANES <= len) OF(columns)(s, rows, weights, n, stay, column, column, out, fold, 2), column += 2 * VECTOR_LANES;
  if (column + VECTOR_LANES <= len) OF(columns)(s, rows, weights, n, stay, column, column, out, fold, 1), column += VECTOR_LANES;
  if (column < len) OF(columns)(s, rows, weights, n, stay, len - VECTOR_LANES, column, out, fold, 1);
}

GATHER_INLINE void OF(bags)(const gather_bag_span *s, int fold) {
  if (s->len < VECTOR_LANES) {
    gather_bagging_portable.fold[SLOT][fold](s);
    return;
  }
  const int64_t *rows = s->rows;
  const ACC *weights = s->weights;
  int64_t known = s->prefetch_rows > 0 ? s->row_count + s->more - s->prefetch_rows : 0;
  for (int64_t i = 0; i < s->bags; i++) {
    const int64_t n = s->lens[i];
    if (n > 0 || s->resume) OF(bag)(s, rows, weights, n, known < n ? known : n, s->out + i * s->out_step, fold);
    rows += n, known -= n;
    if (fold == GATHER_BAG_WEIGHTED) weights += n;
  }
}

static void OF(sum)(const gather_bag_span *s) { OF(bags)(s, GATHER_BAG_SUM); }
static void OF(weighted)(const gather_bag_span *s) { OF(bags)(s, GATHER_BAG_WEIGHTED); }
static void OF(max)(const gather_bag_span *s) { OF(bags)(s, GATHER_BAG_MAX); }

#undef OF
#undef BAG_NAME
#undef BAG_JOIN
#undef VECTOR_LANES
#undef VECTOR_BYTES
#undef KIND
#undef SLOT
#undef ACC
#undef VECTOR

/* SPDX-License-Identifier: MIT
 *
 * bag.tmpl.h: the kernels of embedding bags for one kind of sums, in plain C. Before, define KIND, the end of the functions' names, and
 * STORED and ACC, the types of an element and of a sum; and inline functions
 *   value_KIND(element), element_KIND(sum)   the one of the other
 *   plus_KIND(a, b), times_KIND(a, b)
 *   above_KIND(a, b)                         whether a is the larger one, or no number
 *   divide_KIND(a, n)                        by an int64_t of at least 1
 */
#define BAG_JOIN(a, b) a##_##b
#define BAG_NAME(a, b) BAG_JOIN(a, b)
#define OF(name) BAG_NAME(name, KIND)

GATHER_INLINE ACC OF(read)(const char *at) {
  STORED element;
  memcpy(&element, at, sizeof element);
  return OF(value)(element);
}

GATHER_INLINE ACC OF(next)(ACC acc, ACC row, ACC weight, int fold) {
  if (fold == GATHER_BAG_MAX) return OF(above)(row, acc) ? row : acc;
  return OF(plus)(acc, fold == GATHER_BAG_WEIGHTED ? OF(times)(row, weight) : row);
}

/* `count` columns of one bag of n rows, from `column` on. stay: rows from this one on are added without prefetching. */
GATHER_INLINE void OF(columns)(const gather_bag_span *s, const int64_t *rows, const ACC *weights, int64_t n, int64_t stay, int64_t column,
                               int64_t count, char *out, int fold) {
  const int64_t bytes = (int64_t)sizeof(STORED);
  ACC acc[BAG_COLUMNS], *kept = s->acc ? (ACC *)s->acc + column : NULL;
  const char *base = s->table + column * bytes;
  int64_t j = 0;
  if (s->resume) {
    memcpy(acc, kept, (size_t)count * sizeof *acc);
  } else {
    const char *row = base + rows[0] * s->axis_step;
    for (int64_t k = 0; k < count; k++) acc[k] = OF(read)(row + k * bytes);
    for (int64_t k = 0; fold == GATHER_BAG_WEIGHTED && k < count; k++) acc[k] = OF(times)(acc[k], weights[0]);
    j = 1;
  }
  for (; j < n; j++) {
    const char *row = base + rows[j] * s->axis_step;
    for (int64_t b = 0; j < stay && b < count * bytes; b += 64) BAG_PREFETCH(base + rows[j + s->prefetch_rows] * s->axis_step + b);
    const ACC weight = fold == GATHER_BAG_WEIGHTED ? weights[j] : 0;
    for (int64_t k = 0; k < count; k++) acc[k] = OF(next)(acc[k], OF(read)(row + k * bytes), weight, fold);
  }
  if (s->keep) {
    memcpy(kept, acc, (size_t)count * sizeof *acc);
    return;
  }
  for (int64_t k = 0; s->mean && k < count; k++) acc[k] = OF(divide)(acc[k], s->total ? s->total : n);
  for (int64_t k = 0; k < count; k++) {
    const STORED element = OF(element)(acc[k]);
    memcpy(out + (column + k) * bytes, &element, sizeof element);
  }
}

GATHER_INLINE void OF(bags)(const gather_bag_span *s, int fold) {
  const int64_t *rows = s->rows;
  const ACC *weights = s->weights;
  int64_t known = s->prefetch_rows > 0 ? s->row_count + s->more - s->prefetch_rows : 0;
  for (int64_t i = 0; i < s->bags; i++) {
    const int64_t n = s->lens[i];
    char *out = s->out + i * s->out_step;
    for (int64_t column = 0; column < s->len && (n > 0 || s->resume); column += BAG_COLUMNS)
      OF(columns)(s, rows, weights, n, known, column, s->len - column < BAG_COLUMNS ? s->len - column : BAG_COLUMNS, out, fold);
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
#undef KIND
#undef STORED
#undef ACC

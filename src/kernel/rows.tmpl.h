/* SPDX-License-Identifier: MIT
 *
 * rows.tmpl.h: the kernels of one index width, one per row class. Included once per width and instruction set.
 *
 * Parameters (undefined again at the end):
 *   INDEX       uint32_t or uint64_t
 *   SUFFIX      ends the names of the functions (u32_portable)
 *   SHORTEST_ROW  1, 32 or 64: rows that gain nothing from wider registers are left out
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

GATHER_INLINE int64_t NAME(row_at)(const char *index) {
  INDEX value;
  memcpy(&value, index, sizeof value);
  return (int64_t)value;
}

GATHER_INLINE void NAME(fetch)(const char *data, const char *index, int64_t axis_step, int64_t lines) {
  const char *row = data + NAME(row_at)(index) * axis_step;
  GATHER_PREFETCH(row);
  for (int64_t line = 1; line < lines; line++) GATHER_PREFETCH(row + line * 64);
}

/* One round, `at_once` rows at a time: 8 or 1. Of eight, all indices are read before the first row is, so that their loads are
 * under way together. The steps are arguments, so that the compiler sees those that are constant. */
GATHER_INLINE void NAME(loop)(const gather_span *s, const char *restrict data, const char *restrict indices,
                              char *restrict out, int64_t index_step, int64_t data_step, int64_t out_step,
                              int64_t axis_step, int at_once, size_t bytes, gather_copy_fn copy) {
  const int64_t count = s->count, ahead = s->ahead;
  const int64_t known = count + s->more - ahead, last = ahead > 0 && known < count ? known : count;
  int64_t j = 0;
  if (ahead > 0)
    for (; j + at_once <= last; j += at_once) {
      int64_t at[8];
      for (int u = 0; u < at_once; u++) NAME(fetch)
      (data + (j + ahead + u) * data_step, indices + (j + ahead + u) * index_step, axis_step,
       bytes > 64 ? s->lines : 1);
      for (int u = 0; u < at_once; u++)
        at[u] = NAME(row_at)(indices + (j + u) * index_step) * axis_step + (j + u) * data_step;
      for (int u = 0; u < at_once; u++) copy(out + (j + u) * out_step, data + at[u], bytes);
    }
  if (at_once == 8)
    for (; j + 8 <= count; j += 8) {
      int64_t at[8];
      for (int u = 0; u < 8; u++)
        at[u] = NAME(row_at)(indices + (j + u) * index_step) * axis_step + (j + u) * data_step;
      for (int u = 0; u < 8; u++) copy(out + (j + u) * out_step, data + at[u], bytes);
    }
  for (; j < count; j++)
    copy(out + j * out_step, data + j * data_step + NAME(row_at)(indices + j * index_step) * axis_step, bytes);
}

/* The usual steps - dense indices, dense output, one source or one that moves along - get their own copies of the loop. */
GATHER_INLINE void NAME(rows)(const gather_span *s, int at_once, size_t bytes, gather_copy_fn copy) {
  const int64_t size = (int64_t)bytes, width = (int64_t)sizeof(INDEX);
  const bool dense = at_once == 8 && s->index_step == width && s->out_step == size;
  for (int64_t i = 0; i < s->rounds; i++) {
    const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;
    char *out = s->out + i * s->out_round;
    if (dense && s->data_step == 0 && s->axis_step == size)
      NAME(loop)(s, data, indices, out, width, 0, size, size, 8, bytes, copy);
    else if (dense && s->data_step == size)
      NAME(loop)(s, data, indices, out, width, size, size, s->axis_step, 8, bytes, copy);
    else
      NAME(loop)(s, data, indices, out, s->index_step, s->data_step, s->out_step, s->axis_step, 1, bytes, copy);
  }
}

#define ROWS(class, AT_ONCE, BYTES) \
  static void NAME(rows_##class)(const gather_span *s) { NAME(rows)(s, AT_ONCE, (BYTES), gather_copy_##class); }

#if SHORTEST_ROW == 1
ROWS(1, 8, 1)
ROWS(2, 8, 2)
ROWS(3, 8, 3)
ROWS(4, 8, 4)
ROWS(5_to_7, 8, (size_t)s->row_bytes)
ROWS(8, 8, 8)
ROWS(9_to_15, 8, (size_t)s->row_bytes)
ROWS(16, 8, 16)
ROWS(17_to_31, 8, (size_t)s->row_bytes)
#endif
#if SHORTEST_ROW <= 32
ROWS(32, 8, 32)
ROWS(33_to_63, 8, (size_t)s->row_bytes)
#endif
ROWS(64, 8, 64)
ROWS(long, 1, (size_t)s->row_bytes)

#undef ROWS
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX
#undef SHORTEST_ROW

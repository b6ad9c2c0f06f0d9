/* SPDX-License-Identifier: MIT
 *
 * rows.tmpl.h: the kernels of one index type, one per row class. Included once per index type and instruction set.
 *
 * Parameters (undefined again at the end):
 *   INDEX       the integer type of an index (int8_t ... uint64_t)
 *   SUFFIX      ends the names of the functions (i64_portable)
 *   IS_SIGNED   1 where INDEX can be negative
 *   TARGET      the function attribute of the instruction set, or empty
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

/* The row an index means. Indices were checked: adding the length once is all that is left to do. */
TARGET GATHER_INLINE int64_t NAME(row_at)(const char *index, int64_t axis_len) {
  INDEX value;
  memcpy(&value, index, sizeof value);
  int64_t row = (int64_t)value;
#if IS_SIGNED
  row += row < 0 ? axis_len : 0;
#else
  (void)axis_len;
#endif
  return row;
}

/* The loop of every class. The usual case - dense indices, dense rows, one source - gets its own copy, in which the compiler
 * sees constant steps. */
#define ROWS(name, SIZE, COPY)                                                                                      \
  TARGET static void NAME(name)(const gather_span *s) {                                                             \
    const char *data = s->data, *indices = s->indices;                                                              \
    char *out = s->out;                                                                                             \
    const int64_t count = s->count, axis_len = s->axis_len, axis_step = s->axis_step;                               \
    const int64_t size = (SIZE);                                                                                    \
    if (s->index_step == (int64_t)sizeof(INDEX) && s->out_step == size && s->data_step == 0 && axis_step == size) { \
      for (int64_t j = 0; j < count; j++)                                                                           \
        COPY(out + j * size, data + NAME(row_at)(indices + j * (int64_t)sizeof(INDEX), axis_len) * size,            \
             (size_t)size);                                                                                         \
      return;                                                                                                       \
    }                                                                                                               \
    for (int64_t j = 0; j < count; j++) {                                                                           \
      COPY(out, data + NAME(row_at)(indices, axis_len) * axis_step, (size_t)size);                                  \
      out += s->out_step, data += s->data_step, indices += s->index_step;                                           \
    }                                                                                                               \
  }

ROWS(rows_b1, 1, memcpy)
ROWS(rows_b2, 2, memcpy)
ROWS(rows_b4, 4, memcpy)
ROWS(rows_b8, 8, memcpy)
ROWS(rows_b16, 16, memcpy)
ROWS(rows_short, s->row_bytes, gather_copy_short)
ROWS(rows_long, s->row_bytes, memcpy)

#undef ROWS
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX
#undef IS_SIGNED

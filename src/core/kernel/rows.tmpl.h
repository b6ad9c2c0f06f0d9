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

/* Four times: some compilers keep a loop over four as a loop, and more rows at once need too many registers. */
#define FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define PREFETCH_ROW(u) \
  gather_prefetch_row(  \
      data + (prefetch_rows + (u)) * data_step + NAME(gather_row)(indices + (prefetch_rows + (u)) * index_step) * axis_step, lines);
#define MOVE(u) copy(out + (u)*out_step, data + (u)*data_step + NAME(gather_row)(indices + (u)*index_step) * axis_step, bytes);
#define PASS(n) out += (n)*out_step, data += (n)*data_step, indices += (n)*index_step, left -= (n);

/* All rounds. The steps are arguments, so the compiler can use constants. */
GATHER_INLINE void NAME(loop)(const gather_span *s, int64_t index_step, int64_t data_step, int64_t out_step, int64_t axis_step,
                              bool by_four, size_t bytes, gather_copy_fn copy) {
  const int64_t prefetch_rows = s->prefetch_rows, lines = bytes > 64 ? s->prefetch_lines : 1, count = s->count;
  const int64_t stay = gather_span_stay(s);
  const int64_t data_back = s->data_round - count * data_step, index_back = s->index_round - count * index_step;
  const int64_t out_back = s->out_round - count * out_step;
  const char *restrict data = s->data, *restrict indices = s->indices;
  char *restrict out = s->out;
  enum { line = 64 / sizeof(INDEX) };
  const bool many = s->many && count >= line, many_rounds = s->many && count < line;
  for (int64_t round = s->rounds; round > 0; round--) {
    int64_t left = count;
    if (many_rounds) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
    if (by_four)
      while (left >= stay + 4) {
        if (many) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
        FOUR(PREFETCH_ROW)
        FOUR(MOVE)
        PASS(4)
      }
    while (left > stay) {
      PREFETCH_ROW(0)
      MOVE(0)
      PASS(1)
    }
    /* With many indices, each line prefetches a later one. */
    if (by_four && many)
      while (left >= line) {
        GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
        for (int k = 0; k < line / 4; k++) {
          FOUR(MOVE)
          PASS(4)
        }
      }
    if (by_four)
      while (left >= 4) {
        FOUR(MOVE)
        PASS(4)
      }
    while (left > 0) {
      MOVE(0)
      PASS(1)
    }
    data += data_back, indices += index_back, out += out_back;
  }
}

/* For gather_span_is_again. */
GATHER_INLINE void NAME(again)(const gather_span *s, size_t bytes, gather_copy_fn copy) {
  int64_t from[GATHER_FEW_AGAIN];
  const char *restrict data = s->data;
  char *restrict out = s->out;
  const int64_t count = s->count, out_step = s->out_step;
  for (int64_t j = 0; j < count; j++) from[j] = NAME(gather_row)(s->indices + j * s->index_step) * s->axis_step + j * s->data_step;
  for (int64_t round = s->rounds; round > 0; round--) {
    GATHER_PREFETCH(data + 4096);
    for (int64_t j = 0; j < count; j++) copy(out + j * out_step, data + from[j], bytes);
    data += s->data_round, out += s->out_round;
  }
}

/* Many rounds of `count` rows, a constant 2, 4 or 8; all but the data is dense. Nothing but the moves and three pointers: for so
 * few rows the general loop takes longer to begin and end a round than to move it. */
GATHER_INLINE void NAME(rounds_of)(const gather_span *s, int count, int64_t data_step, int64_t axis_step, size_t bytes,
                                   gather_copy_fn copy) {
  const int64_t index_step = (int64_t)sizeof(INDEX), out_step = (int64_t)bytes, data_round = s->data_round;
  const char *restrict data = s->data, *restrict indices = s->indices;
  char *restrict out = s->out;
  const bool many = s->many;
  for (int64_t round = s->rounds; round > 0; round--) {
    if (many) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
    MOVE(0)
    MOVE(1)
    if (count > 2) {
      MOVE(2)
      MOVE(3)
    }
    if (count > 4) {
      MOVE(4)
      MOVE(5)
      MOVE(6)
      MOVE(7)
    }
    data += data_round, indices += count * index_step, out += count * out_step;
  }
}

/* Moves rounds of 2, 4 and 8 rows that are dense but for the data, without prefetching; false: they are others. */
GATHER_INLINE bool NAME(short_rounds)(const gather_span *s, size_t bytes, gather_copy_fn copy) {
  const int64_t size = (int64_t)bytes, width = (int64_t)sizeof(INDEX), count = s->count;
  if (GATHER_SMALL || count > 8 || s->rounds < 2 || s->prefetch_rows > 0 || s->index_step != width || s->out_step != size) return false;
  if (s->index_round != count * width || s->out_round != count * size) return false;
  const bool walks = s->data_step == size;
  if (!walks && (s->data_step != 0 || s->axis_step != size)) return false;
#define ROUNDS_OF(n)                                          \
  case n:                                                     \
    if (walks)                                                \
      NAME(rounds_of)(s, n, size, s->axis_step, bytes, copy); \
    else /* two steps that are constants */                   \
      NAME(rounds_of)(s, n, 0, size, bytes, copy);            \
    return true;
  switch (count) {
    ROUNDS_OF(2)
    ROUNDS_OF(4)
    ROUNDS_OF(8)
    default:
      return false;
  }
#undef ROUNDS_OF
}

/* Rows of one small table, all dense, by one move of `wide` bytes each, at most one byte less than two rows: the bytes too many belong
 * to the next row of the table, and the next row of the output replaces them. The last row of the table is read from a copy, and the last
 * row of a round is written by `copy`. Larger tables gain nothing, and of rows of 17 bytes and more moves of 32 bytes cross too many lines.
 * Returns false if the rows are others. */
GATHER_INLINE bool NAME(wider)(const gather_span *s, int64_t bytes, size_t wide, gather_copy_fn copy) {
  enum { L1_BYTES = 32768, MOST = 16 };
  const int64_t width = (int64_t)sizeof(INDEX), count = s->count;
  if (GATHER_SMALL || s->prefetch_rows > 0 || s->table_bytes > L1_BYTES || s->table_bytes < bytes || count < 16) return false;
  if (s->index_step != width || s->out_step != bytes || s->axis_step != bytes || s->data_step != 0) return false;
  const int64_t last = s->table_bytes / bytes - 1;
  for (int64_t round = 0; round < s->rounds; round++) {
    const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
    char *restrict out = s->out + round * s->out_round;
    char end[MOST] = {0};
    copy(end, data + last * bytes, (size_t)bytes);
    int64_t left = count - 1;
#define MOVE_WIDER(u)                                            \
  const int64_t row_##u = NAME(gather_row)(indices + (u)*width); \
  memcpy(out + (u)*bytes, row_##u == last ? end : data + row_##u * bytes, wide);
    for (; left >= 4; left -= 4, indices += 4 * width, out += 4 * bytes) {
      FOUR(MOVE_WIDER)
    }
    for (; left > 0; left--, indices += width, out += bytes) {
      MOVE_WIDER(0)
    }
#undef MOVE_WIDER
    copy(out, data + NAME(gather_row)(indices) * bytes, (size_t)bytes);
  }
  return true;
}

#if defined(GATHER_VECTORS) && !GATHER_SMALL
/* Rounds of one table's rows of a constant number of vectors; all is dense, nothing is prefetched. */
GATHER_INLINE void NAME(vectors_of)(const gather_span *s, int vectors, bool aligned) {
  const int64_t row = s->row_bytes, width = (int64_t)sizeof(INDEX), count = s->count;
  const bool many = s->many;
  for (int64_t round = 0; round < s->rounds; round++) {
    const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
    char *restrict out = s->out + round * s->out_round;
    for (int64_t j = 0; j < count; j++, indices += width, out += row) {
      if (many) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
      GATHER_VECTORS(out, data + NAME(gather_row)(indices) * row, (size_t)row, vectors, aligned);
    }
  }
}

/* Moves rows of 3 to 8 vectors, which gain from a constant number of them; false: they are others. */
static bool NAME(vectors)(const gather_span *s) {
  const int64_t size = s->row_bytes;
  if (s->index_step != (int64_t)sizeof(INDEX) || s->out_step != size || s->axis_step != size || s->data_step != 0) return false;
  const bool aligned = (((uintptr_t)s->out | (uintptr_t)size | (uintptr_t)s->out_round) & 31) == 0;
#define VECTORS_OF(n)                \
  case n:                            \
    if (aligned)                     \
      NAME(vectors_of)(s, n, true);  \
    else                             \
      NAME(vectors_of)(s, n, false); \
    return true;
  switch ((size - 1) / 32 + 1) {
    VECTORS_OF(3)
    VECTORS_OF(4)
    VECTORS_OF(5)
    VECTORS_OF(6)
    VECTORS_OF(7)
    VECTORS_OF(8)
    default:
      return false;
  }
#undef VECTORS_OF
}
#endif

#undef FOUR
#undef PREFETCH_ROW
#undef MOVE
#undef PASS

/* The usual steps - dense indices, dense output, one table or one that advances - have their own copies of the loop. */
GATHER_INLINE void NAME(rows)(const gather_span *s, bool by_four, size_t bytes, gather_copy_fn copy) {
  const int64_t size = (int64_t)bytes, width = (int64_t)sizeof(INDEX);
  const bool copies = by_four && !GATHER_SMALL, dense = copies && s->index_step == width && s->out_step == size;
  if (copies && gather_span_is_again(s))
    NAME(again)(s, bytes, copy);
  else if (dense && s->data_step == 0 && s->axis_step == size)
    NAME(loop)(s, width, 0, size, size, true, bytes, copy);
  else if (dense && s->data_step == size)
    NAME(loop)(s, width, size, size, s->axis_step, true, bytes, copy);
  else
    NAME(loop)(s, s->index_step, s->data_step, s->out_step, s->axis_step, false, bytes, copy);
}

#define ROWS_BY(copy, class, BY_FOUR, BYTES) \
  static void NAME(rows_##class)(const gather_span *s) { NAME(rows)(s, BY_FOUR, (BYTES), NAME_(copy, class)); }
#define ROWS(class, BY_FOUR, BYTES) ROWS_BY(gather_copy, class, BY_FOUR, BYTES)
#define WIDE_ROWS(class, BY_FOUR, BYTES) ROWS_BY(GATHER_WIDE, class, BY_FOUR, BYTES)

/* Elements of the usual sizes. */
#define ELEMENTS(class)                                                                                      \
  static void NAME(rows_##class)(const gather_span *s) {                                                     \
    if (!NAME(short_rounds)(s, class, gather_copy_##class)) NAME(rows)(s, true, class, gather_copy_##class); \
  }

/* Rows between those sizes. */
#define SHORT_ROWS(class, BYTES, WIDE)                                                                                  \
  static void NAME(rows_##class)(const gather_span *s) {                                                                \
    if (!NAME(wider)(s, (BYTES), WIDE, gather_copy_##class)) NAME(rows)(s, true, (size_t)(BYTES), gather_copy_##class); \
  }

#if SHORTEST_ROW == 1
ELEMENTS(1)
ELEMENTS(2)
SHORT_ROWS(3, 3, 4)
ELEMENTS(4)
SHORT_ROWS(5_to_7, s->row_bytes, 8)
ELEMENTS(8)
SHORT_ROWS(9_to_15, s->row_bytes, 16)
ROWS(16, true, 16)
ROWS(17_to_31, true, (size_t)s->row_bytes)
#endif
#if SHORTEST_ROW <= 32
WIDE_ROWS(32, true, 32)
WIDE_ROWS(33_to_63, true, (size_t)s->row_bytes)
#endif
WIDE_ROWS(64, true, 64)
#if defined(GATHER_VECTORS) && !GATHER_SMALL
#define LONG_ROWS_BY(copy)                                              \
  static void NAME(rows_long)(const gather_span *s) {                   \
    if (s->prefetch_rows > 0)                                           \
      NAME(rows)(s, false, (size_t)s->row_bytes, NAME_(copy, long));    \
    else if (!NAME(vectors)(s))                                         \
      NAME(rows)(s, false, (size_t)s->row_bytes, NAME_(copy, aligned)); \
  }
#define LONG_ROWS(copy) LONG_ROWS_BY(copy)
LONG_ROWS(GATHER_WIDE)
#undef LONG_ROWS
#undef LONG_ROWS_BY
#else
WIDE_ROWS(long, false, (size_t)s->row_bytes)
#endif

#undef ROWS_BY
#undef ELEMENTS
#undef SHORT_ROWS
#undef ROWS
#undef WIDE_ROWS
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX
#undef SHORTEST_ROW

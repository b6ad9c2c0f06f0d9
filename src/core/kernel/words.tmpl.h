/* SPDX-License-Identifier: MIT
 *
 * words.tmpl.h: rows of 12 and 24 bytes with non-temporal stores. 24 bytes of rows become three words in registers, which are
 * stored directly: a line on the stack (lines.tmpl.h), read back at once, waits for its stores. Included once per index width and
 * instruction set, after lines.tmpl.h, which moves the other rows of the same classes.
 *
 * Parameters (undefined again at the end): INDEX, SUFFIX as in rows.tmpl.h; the file that includes this has stores_x86.h.
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

#define ROW(u) (data + (u)*data_step + NAME(gather_row)(indices + (u)*index_step) * axis_step)

/* All rounds; the steps are arguments, so the compiler can use constants. Rows before an aligned word, and at the end of a round, move
 * one by one. */
GATHER_INLINE void NAME(words)(const gather_span *s, int64_t index_step, int64_t data_step, int64_t axis_step, int64_t bytes,
                               three_words_fn three_words) {
  enum { STEP = 4 };
  const int64_t prefetch_rows = s->prefetch_rows, stay = gather_span_stay(s);
  const bool many = s->many;
  char *out = s->out;
  for (int64_t i = 0; i < s->rounds; i++) {
    const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;
    for (int64_t left = s->count, now; left > 0; left -= now) {
      now = left >= STEP && (uintptr_t)out % 8 == 0 ? STEP : 1;
      if (prefetch_rows > 0 && left >= stay + now)
        for (int64_t u = 0; u < now; u++) gather_prefetch_row(ROW(prefetch_rows + u), 1);
      if (now == STEP) {
        const char *rows[STEP];
        if (many) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH);
        for (int64_t u = 0; u < STEP; u++) rows[u] = ROW(u);
        for (int64_t u = 0; u < STEP; u += 24 / bytes) three_words(out + u * bytes, rows + u);
      } else {
        memcpy(out, ROW(0), (size_t)bytes);
      }
      data += now * data_step, indices += now * index_step, out += now * bytes;
    }
  }
}
#undef ROW

/* Whether some row begins on an aligned word, and most rows are in whole steps. */
GATHER_INLINE bool NAME(in_words)(const gather_span *s, int64_t bytes) {
  return s->row_bytes == bytes && (uintptr_t)s->out % (uintptr_t)(bytes & -bytes) == 0 && (s->rounds == 1 || s->count >= 64);
}

#define WORDS(class, BYTES)                                                                  \
  static void NAME(words_##class)(const gather_span *s) {                                    \
    const int64_t width = (int64_t)sizeof(INDEX);                                            \
    if (!NAME(in_words)(s, BYTES))                                                           \
      NAME(lines_##class)(s);                                                                \
    else if (s->data_step == 0 && s->axis_step == BYTES && s->index_step == width)           \
      NAME(words)(s, width, 0, BYTES, BYTES, three_words_##BYTES);                           \
    else                                                                                     \
      NAME(words)(s, s->index_step, s->data_step, s->axis_step, BYTES, three_words_##BYTES); \
  }
WORDS(9_to_15, 12)
WORDS(17_to_31, 24)

#undef WORDS
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX

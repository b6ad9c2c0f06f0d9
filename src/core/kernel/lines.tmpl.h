/* SPDX-License-Identifier: MIT
 *
 * lines.tmpl.h: rows of 1 to 64 bytes with non-temporal stores, one kernel per row class. Rows are gathered into lines
 * on the stack; whole lines are stored, the rest waits for the next rows. Gathering and storing alternate line by line:
 * with 4 KiB at a time this was a third slower, because the CPU has few buffers for such stores, and does not load
 * while it waits for them. Included once per index width and instruction set.
 *
 * Parameters (undefined again at the end): INDEX, SUFFIX as in rows.tmpl.h; the file that includes this defines nontemporal_line(out, in),
 * which copies 64 bytes to an aligned place.
 *   NONTEMPORAL_WHOLE   1: it also defines nontemporal_16, nontemporal_32 and nontemporal_64 (stores_x86.h), and includes rows.tmpl.h
 * before; stays
 * The output is dense: round follows upon round.
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

/* Stores the whole lines of the `end` bytes in `lines`, of which the first `head` belong to others. Returns the number
 * of remaining bytes, which become the first. */
GATHER_INLINE int64_t NAME(flush)(char *out, char *lines, int64_t head, int64_t end) {
  int64_t at = 0;
  if (head > 0) {
    memcpy(out + head, lines + head, (size_t)(64 - head));
    at = 64;
  }
  for (; at + 64 <= end; at += 64) nontemporal_line(out + at, lines + at);
  if (at < end) memcpy(lines, lines + at, 64);
  return end - at;
}

/* The state of a kernel. `out` is the start of a line; the first `end` bytes of the lines on the stack are not stored
 * yet, of which the first `head` belong to others. */
typedef struct {
  const char *data, *indices;
  char *out;
  int64_t left, head, end;
} NAME(lines_place);

/* Gathers `step` rows, and prefetches as many at the distance `prefetch_rows`, if it is not 0. The steps are arguments,
 * so the compiler can use constants. */
GATHER_INLINE void NAME(fill)(NAME(lines_place) * p, char *lines, int64_t prefetch_rows, bool many, int64_t index_step, int64_t data_step,
                              int64_t axis_step, int step, size_t bytes, gather_copy_fn copy) {
  const char *data = p->data, *indices = p->indices;
  if (prefetch_rows > 0)
    for (int64_t u = prefetch_rows; u < prefetch_rows + step; u++)
      gather_prefetch_row(data + u * data_step + NAME(gather_row)(indices + u * index_step) * axis_step, 1);
  if (many)
    for (int at = 0; at < step * (int)sizeof(INDEX); at += 64) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH + at);
  for (int u = 0; u < step; u++)
    copy(lines + u * (int64_t)bytes, data + u * data_step + NAME(gather_row)(indices + u * index_step) * axis_step, bytes);
  p->data += step * data_step, p->indices += step * index_step, p->left -= step;
}

/* Stores the full lines. */
GATHER_INLINE void NAME(store_lines)(NAME(lines_place) * p, char *lines) {
  const int64_t rest = NAME(flush)(p->out, lines, p->head, p->end);
  p->out += p->end - rest, p->end = rest, p->head = 0;
}

GATHER_INLINE void NAME(end_lines)(NAME(lines_place) * p, char *lines) {
  if (p->end >= 64) NAME(store_lines)(p, lines);
  if (p->end > p->head) memcpy(p->out + p->head, lines + p->head, (size_t)(p->end - p->head));
}

GATHER_INLINE NAME(lines_place) NAME(begin_lines)(const gather_span *s) {
  const int64_t head = (int64_t)((uintptr_t)s->out & 63);
  NAME(lines_place) p = {.data = s->data, .indices = s->indices, .out = s->out - head, .head = head, .end = head};
  return p;
}

enum { NAME(FULL) = 256 /* bytes that are worth storing */ };
#define FILL(to, n) NAME(fill)(&p, to, p.left >= stay + (n) ? prefetch_rows : 0, many, index_step, data_step, axis_step, n, bytes, copy)

/* All rounds. If rows divide a line and the output starts on a line, `step` rows are whole lines; other rows are
 * collected until a few lines are full. */
GATHER_INLINE void NAME(lines)(const gather_span *s, int64_t index_step, int64_t data_step, int64_t axis_step, int step, size_t bytes,
                               gather_copy_fn copy) {
  _Alignas(64) char lines[NAME(FULL) + 256 /* `step` rows */ + 64];
  const bool divides = 64 % bytes == 0, many = s->many;
  const int64_t prefetch_rows = s->prefetch_rows, stay = gather_span_stay(s);
  NAME(lines_place) p = NAME(begin_lines)(s);
  for (int64_t i = 0; i < s->rounds; i++) {
    p.data = s->data + i * s->data_round, p.indices = s->indices + i * s->index_round, p.left = s->count;
    while (divides && p.end == 0 && p.left >= step) {
      FILL(lines, step);
      for (size_t at = 0; at < (size_t)step * bytes; at += 64) nontemporal_line(p.out + at, lines + at);
      p.out += (size_t)step * bytes;
    }
    while (p.left > 0) {
      const int now = p.left >= step ? step : p.left >= 4 ? 4 : 1;
      if (now == step)
        FILL(lines + p.end, step);
      else if (now == 4)
        FILL(lines + p.end, 4);
      else
        FILL(lines + p.end, 1);
      p.end += now * (int64_t)bytes;
      if (p.end >= (divides ? 64 : NAME(FULL))) NAME(store_lines)(&p, lines);
    }
  }
  NAME(end_lines)(&p, lines);
}
#undef FILL

/* For gather_span_is_again: `again` of rows.tmpl.h. */
GATHER_INLINE void NAME(lines_again)(const gather_span *s, size_t bytes, gather_copy_fn copy) {
  _Alignas(64) char lines[NAME(FULL) + GATHER_FEW_AGAIN * 64 + 64];
  int64_t from[GATHER_FEW_AGAIN];
  const int64_t count = s->count;
  NAME(lines_place) p = NAME(begin_lines)(s);
  for (int64_t j = 0; j < count; j++) from[j] = NAME(gather_row)(s->indices + j * s->index_step) * s->axis_step + j * s->data_step;
  for (int64_t round = s->rounds; round > 0; round--, p.data += s->data_round) {
    GATHER_PREFETCH(p.data + 4096);
    for (int64_t j = 0; j < count; j++) copy(lines + p.end + j * (int64_t)bytes, p.data + from[j], bytes);
    p.end += count * (int64_t)bytes;
    if (p.end >= NAME(FULL)) NAME(store_lines)(&p, lines);
  }
  NAME(end_lines)(&p, lines);
}

#define LINES(class, STEP, BYTES) LINES_AS(lines_##class, class, STEP, BYTES)
#define LINES_AS(name, class, STEP, BYTES)                                                           \
  static void NAME(name)(const gather_span *s) {                                                     \
    const int64_t size = (int64_t)(BYTES), width = (int64_t)sizeof(INDEX);                           \
    if (gather_span_is_again(s))                                                                     \
      NAME(lines_again)(s, (BYTES), gather_copy_##class);                                            \
    else if (s->data_step == 0 && s->axis_step == size && s->index_step == width)                    \
      NAME(lines)(s, width, 0, size, STEP, (BYTES), gather_copy_##class);                            \
    else                                                                                             \
      NAME(lines)(s, s->index_step, s->data_step, s->axis_step, STEP, (BYTES), gather_copy_##class); \
  }

/* Rows of 16, 32 and 64 bytes are stored directly if the output is aligned to them: the CPU combines the line. */
#if NONTEMPORAL_WHOLE
#define WHOLE(class, STEP)                                                                         \
  static void NAME(lines_##class)(const gather_span *s) {                                          \
    if ((uintptr_t)s->out % class == 0)                                                            \
      NAME(rows)(s, true, class, nontemporal_##class);                                             \
    else                                                                                           \
      NAME(lines)(s, s->index_step, s->data_step, s->axis_step, STEP, class, gather_copy_##class); \
  }
#else
#define WHOLE(class, STEP) LINES(class, STEP, class)
#endif

/* Short rounds of elements are stored directly, too: lines of them would have to be put together round by round. */
#if NONTEMPORAL_WHOLE
#define ELEMENTS(class, STEP)                                                                                               \
  LINES_AS(whole_lines_##class, class, STEP, class)                                                                         \
  static void NAME(lines_##class)(const gather_span *s) {                                                                   \
    if ((uintptr_t)s->out % class != 0 || !NAME(short_rounds)(s, class, nontemporal_##class)) NAME(whole_lines_##class)(s); \
  }
#else
#define ELEMENTS(class, STEP) LINES(class, STEP, class)
#endif

LINES(1, 64, 1)
LINES(2, 32, 2)
LINES(3, 32, 3)
ELEMENTS(4, 16)
LINES(5_to_7, 16, (size_t)s->row_bytes)
ELEMENTS(8, 8)
LINES(9_to_15, 8, (size_t)s->row_bytes)
WHOLE(16, 4)
LINES(17_to_31, 4, (size_t)s->row_bytes)
WHOLE(32, 4)
LINES(33_to_63, 4, (size_t)s->row_bytes)
WHOLE(64, 4)

#undef ELEMENTS
#undef LINES
#undef LINES_AS
#undef WHOLE
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX

/* SPDX-License-Identifier: MIT
 *
 * checked.tmpl.h: rows by indices that nobody has validated. Sixteen of them are compared with the limit just before their rows move, while
 * the rows before them are on their way. In passes of their own, validation waits for indices and then moving waits for rows. Included once
 * per instruction set, after below.tmpl.h and, for rows of 32 bytes and more, the definition of GATHER_WIDE.
 */
#define MOVE(u) copy(out + (u) * (int64_t)bytes, data + (u)*data_step + gather_row(indices, width, u) * axis_step, bytes);
#define PREFETCH_ROW(u) GATHER_PREFETCH(data + (ahead + (u)) * data_step + gather_row(indices, width, ahead + (u)) * axis_step);
#define FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define PASS(n) out += (n) * (int64_t)bytes, data += (n)*data_step, indices += (n)*width, left -= (n)

/* gather_checked_fn. The width and the steps are arguments, so the compiler can use constants. Elements gain from copies of the loops for
 * what it knows: the turns of a group, and whether indices are prefetched (if not, their own line is). */
GATHER_INLINE int64_t checked_steps(const gather_span *s, uint64_t limit, int width, int64_t data_step, int64_t axis_step, size_t bytes,
                                    gather_copy_fn copy) {
  enum { GROUP = 16 };
  const int64_t count = s->count, ahead = s->prefetch_rows, stay = gather_span_stay(s), later = s->many ? GATHER_INDEX_PREFETCH : 0;
  const bool copies = bytes <= 8, fetches = s->many || !copies;
  if (limit > BELOW_MOST(width)) return 0;
  for (int64_t round = 0; round < s->rounds; round++) {
    const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
    char *restrict out = s->out + round * s->out_round;
    int64_t left = count;
    /* What is prefetched is compared first, too: the place of a row out of range may be no address at all. */
    if (left >= stay + GROUP && !first_below(indices, width, ahead, limit)) return round * count;
    while (left >= stay + GROUP && all_below(indices + ahead * width, width, GROUP, limit)) {
      int turns = GROUP / 4;
      if (!copies) GATHER_OPAQUE(turns);
      for (int at = 0; fetches && at < GROUP * width; at += 64) GATHER_PREFETCH(indices + later + at);
      for (; turns > 0; turns--) {
        FOUR(PREFETCH_ROW)
        FOUR(MOVE)
        PASS(4);
      }
    }
    while (left >= GROUP) {
      int turns = GROUP / 4;
      if (!copies) GATHER_OPAQUE(turns);
      for (int at = 0; fetches && at < GROUP * width; at += 64) GATHER_PREFETCH(indices + later + at);
      if (!all_below(indices, width, GROUP, limit)) return (round + 1) * count - left;
      for (; turns > 0; turns--) {
        FOUR(MOVE)
        PASS(4);
      }
    }
    GATHER_OPAQUE(left);
    while (left > 0) {
      if ((uint64_t)gather_row(indices, width, 0) >= limit) return (round + 1) * count - left;
      MOVE(0)
      PASS(1);
    }
  }
  return s->rounds * count;
}
#undef MOVE
#undef PREFETCH_ROW
#undef FOUR
#undef PASS

/* Rows of one dense table, or others. */
GATHER_INLINE int64_t checked_rows(const gather_span *s, uint64_t limit, int width, size_t bytes, gather_copy_fn copy) {
  const int64_t size = (int64_t)bytes;
  if (s->data_step == 0 && s->axis_step == size) return checked_steps(s, limit, width, 0, size, bytes, copy);
  return checked_steps(s, limit, width, s->data_step, s->axis_step, bytes, copy);
}

/* Rows of 3 to 15 bytes that are no elements, of a small table: as `wider` of rows.tmpl.h. */
GATHER_INLINE int64_t checked_wider(const gather_span *s, uint64_t limit, int width, size_t bytes, size_t wide, gather_copy_fn copy) {
  enum { L1_BYTES = 32768, MOST = 16, GROUP = 16 };
  const int64_t size = (int64_t)bytes, count = s->count, last = s->table_bytes / size - 1;
  const bool dense = s->data_step == 0 && s->axis_step == size;
  if (!dense || s->prefetch_rows > 0 || s->table_bytes > L1_BYTES || last < 0 || limit > BELOW_MOST(width))
    return checked_rows(s, limit, width, bytes, copy);
  for (int64_t round = 0; round < s->rounds; round++) {
    const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
    char *restrict out = s->out + round * s->out_round;
    char end[MOST] = {0};
    copy(end, data + last * size, bytes);
    int64_t j = 0;
    for (; j + GROUP < count && all_below(indices + j * width, width, GROUP, limit); j += GROUP)
      for (int64_t k = j; k < j + GROUP; k++) {
        const int64_t row = gather_row(indices, width, k);
        memcpy(out + k * size, row == last ? end : data + row * size, wide);
      }
    GATHER_OPAQUE(j);
    for (; j < count; j++) {
      const int64_t row = gather_row(indices, width, j);
      if ((uint64_t)row >= limit) return round * count + j;
      copy(out + j * size, data + row * size, bytes);
    }
  }
  return s->rounds * count;
}

#define CHECKED_(copy, class, BYTES)                                           \
  static int64_t checked_##class##_u32(const gather_span *s, uint64_t limit) { \
    return checked_rows(s, limit, 4, (BYTES), copy##_##class);                 \
  }                                                                            \
  static int64_t checked_##class##_u64(const gather_span *s, uint64_t limit) { return checked_rows(s, limit, 8, (BYTES), copy##_##class); }
#define CHECKED(copy, class, BYTES) CHECKED_(copy, class, BYTES)
#define WIDER_CHECKED(class, BYTES, wide)                                      \
  static int64_t checked_##class##_u32(const gather_span *s, uint64_t limit) { \
    return checked_wider(s, limit, 4, (BYTES), wide, gather_copy_##class);     \
  }                                                                            \
  static int64_t checked_##class##_u64(const gather_span *s, uint64_t limit) { \
    return checked_wider(s, limit, 8, (BYTES), wide, gather_copy_##class);     \
  }
CHECKED(gather_copy, 1, 1)
CHECKED(gather_copy, 2, 2)
WIDER_CHECKED(3, 3, 4)
CHECKED(gather_copy, 4, 4)
WIDER_CHECKED(5_to_7, (size_t)s->row_bytes, 8)
CHECKED(gather_copy, 8, 8)
WIDER_CHECKED(9_to_15, (size_t)s->row_bytes, 16)
CHECKED(gather_copy, 16, 16)
CHECKED(gather_copy, 17_to_31, (size_t)s->row_bytes)
CHECKED(GATHER_WIDE, 32, 32)
CHECKED(GATHER_WIDE, 33_to_63, (size_t)s->row_bytes)
CHECKED(GATHER_WIDE, 64, 64)

#if NONTEMPORAL_WHOLE
/* Rows of 16, 32 and 64 bytes with non-temporal stores, if the output is aligned to them (lines.tmpl.h). */
#define CHECKED_WHOLE(class)                                                                           \
  static int64_t checked_streamed_##class##_u32(const gather_span *s, uint64_t limit) {                \
    return (uintptr_t)s->out % class == 0 ? checked_rows(s, limit, 4, class, nontemporal_##class) : 0; \
  }                                                                                                    \
  static int64_t checked_streamed_##class##_u64(const gather_span *s, uint64_t limit) {                \
    return (uintptr_t)s->out % class == 0 ? checked_rows(s, limit, 8, class, nontemporal_##class) : 0; \
  }
CHECKED_WHOLE(16)
CHECKED_WHOLE(32)
CHECKED_WHOLE(64)
#endif

/* elements: the kernels of 1 and 2 bytes; `checked`, or others. Of rows of more than 64 bytes validation is a small share. */
#define CHECKED_OF(w, elements)                                                                                               \
  {                                                                                                                           \
    elements##_1_##w, elements##_2_##w, checked_3_##w, checked_4_##w, checked_5_to_7_##w, checked_8_##w, checked_9_to_15_##w, \
        checked_16_##w, checked_17_to_31_##w, checked_32_##w, checked_33_to_63_##w, checked_64_##w, NULL                      \
  }

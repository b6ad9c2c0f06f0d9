/* SPDX-License-Identifier: MIT
 *
 * elements_x86.h: elements of dense tables, assembled in registers, for isa_avx2.c and isa_avx512.c: those of 1 and 2 bytes, and with
 * non-temporal stores those of 4 and 8 as well. Included after below.tmpl.h and nontemporals.tmpl.h, with the target on. Sixteen bytes
 * are one store instead of sixteen or eight, and a line for non-temporal stores is not read back from the stack, where a wide load waits
 * for all small stores before it.
 */
#ifndef GATHER_KERNEL_ELEMENTS_X86_H
#define GATHER_KERNEL_ELEMENTS_X86_H

extern const gather_isa gather_isa_portable;

/* Element k of vector v, by index k. */
#define PICK_1(k) v = _mm_insert_epi8(v, data[gather_row(indices, width, k)], k);
#define PICK_2(k)                                                \
  memcpy(&element, data + gather_row(indices, width, k) * 2, 2); \
  v = _mm_insert_epi16(v, element, k);
#define PICK_EIGHT(PICK, k) PICK(k) PICK(k + 1) PICK(k + 2) PICK(k + 3) PICK(k + 4) PICK(k + 5) PICK(k + 6) PICK(k + 7)

GATHER_INLINE __m128i vector_1(const char *data, const char *indices, int width) {
  __m128i v = _mm_setzero_si128();
  PICK_EIGHT(PICK_1, 0)
  PICK_EIGHT(PICK_1, 8)
  return v;
}

GATHER_INLINE __m128i vector_2(const char *data, const char *indices, int width) {
  __m128i v = _mm_setzero_si128();
  int16_t element;
  PICK_EIGHT(PICK_2, 0)
  return v;
}
#undef PICK_1
#undef PICK_2
#undef PICK_EIGHT

GATHER_INLINE int element_4(const char *data, const char *indices, int width, int64_t k) {
  int element;
  memcpy(&element, data + gather_row(indices, width, k) * 4, 4);
  return element;
}
#define PICK(k) element_4(data, indices, width, k)
GATHER_INLINE __m256i vector_4(const char *data, const char *indices, int width) {
  return _mm256_setr_epi32(PICK(0), PICK(1), PICK(2), PICK(3), PICK(4), PICK(5), PICK(6), PICK(7));
}
#undef PICK

GATHER_INLINE long long element_8(const char *data, const char *indices, int width, int64_t k) {
  long long element;
  memcpy(&element, data + gather_row(indices, width, k) * 8, 8);
  return element;
}
#define PICK(k) element_8(data, indices, width, k)
GATHER_INLINE __m256i vector_8(const char *data, const char *indices, int width) {
  return _mm256_setr_epi64x(PICK(0), PICK(1), PICK(2), PICK(3));
}
#undef PICK

/* The elements of a line. */
GATHER_INLINE void put_line(char *out, const char *data, const char *indices, int width, int bytes, bool nontemporal) {
  for (int at = 0; at < 64 && bytes <= 2; at += 16, indices += 16 / bytes * width) {
    const __m128i value = bytes == 1 ? vector_1(data, indices, width) : vector_2(data, indices, width);
    if (nontemporal)
      _mm_stream_si128((void *)(out + at), value);
    else
      _mm_storeu_si128((void *)(out + at), value);
  }
  /* Ordinary stores of 4 and 8 bytes gain nothing from vectors: there is no such kernel. */
  for (int at = 0; at < 64 && bytes > 2; at += 32, indices += 32 / bytes * width)
    _mm256_stream_si256((void *)(out + at), bytes == 4 ? vector_4(data, indices, width) : vector_8(data, indices, width));
}

/* Element j by itself. */
GATHER_INLINE void put_one(char *out, const char *data, const char *indices, int width, int bytes, int64_t j) {
  memcpy(out + j * bytes, data + gather_row(indices, width, j) * bytes, (size_t)bytes);
}

/* A round: the elements before the first whole line and after the last one singly, the others line by line. Returns how many it moved.
 * checked: it ends before an index that is not below the limit. */
GATHER_INLINE int64_t pick_round(const gather_span *s, int64_t round, int width, int bytes, bool nontemporal, bool checked,
                                 uint64_t limit) {
  const int line = 64 / bytes;
  const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
  char *restrict out = s->out + round * s->out_round;
  /* With ordinary stores nothing is prefetched: then the memory limits, and other kernels are as fast. */
  const int64_t count = s->count, ahead = nontemporal ? s->prefetch_rows : 0, stay = nontemporal ? gather_span_stay(s) : count,
                apart = (int64_t)(-(uintptr_t)out & 63) / bytes;
  const int64_t head = !nontemporal ? 0 : apart < count ? apart : count;
  const bool many = s->many;
  int64_t j = 0;
  for (; j < head; j++) {
    if (checked && (uint64_t)gather_row(indices, width, j) >= limit) return j;
    put_one(out, data, indices, width, bytes, j);
  }
  if (checked && ahead > 0 && j + line + stay <= count && !first_below(indices + j * width, width, ahead, limit)) return j;
  for (; ahead > 0 && j + line + stay <= count && (!checked || all_below(indices + (j + ahead) * width, width, line, limit)); j += line) {
    for (int at = 0; many && at < line * width; at += 64) GATHER_PREFETCH(indices + j * width + GATHER_INDEX_PREFETCH + at);
    for (int64_t k = j + ahead, end = k + line; k < end; k += 4)
      for (int u = 0; u < 4; u++) GATHER_PREFETCH(data + gather_row(indices, width, k + u) * bytes);
    put_line(out + j * bytes, data, indices + j * width, width, bytes, nontemporal);
  }
  for (; j + line <= count; j += line) {
    for (int at = 0; many && at < line * width; at += 64) GATHER_PREFETCH(indices + j * width + GATHER_INDEX_PREFETCH + at);
    if (checked && !all_below(indices + j * width, width, line, limit)) return j;
    put_line(out + j * bytes, data, indices + j * width, width, bytes, nontemporal);
  }
  GATHER_OPAQUE(j);
  for (; j < count; j++) {
    if (checked && (uint64_t)gather_row(indices, width, j) >= limit) return j;
    put_one(out, data, indices, width, bytes, j);
  }
  return j;
}

GATHER_INLINE int64_t pick_rounds(const gather_span *s, int width, int bytes, bool nontemporal, bool checked, uint64_t limit) {
  for (int64_t i = 0; i < s->rounds; i++) {
    const int64_t moved = pick_round(s, i, width, bytes, nontemporal, checked, limit);
    if (moved < s->count) return i * s->count + moved;
  }
  return s->rounds * s->count;
}

/* The other kernels take all that is not dense, several tables, and short rounds. */
GATHER_INLINE bool picks(const gather_span *s, int width, int bytes) {
  return s->data_step == 0 && s->axis_step == bytes && s->index_step == width && s->out_step == bytes && s->count >= 64 / bytes;
}

/* Rounds of whole lines, or a single one: else lines of two rounds would be stored one element at a time. */
GATHER_INLINE bool picks_lines(const gather_span *s, int width, int bytes) {
  return picks(s, width, bytes) && (uintptr_t)s->out % (unsigned)bytes == 0 && (s->rounds == 1 || s->out_round % 64 == 0);
}

#define ELEMENTS(w, width, slot, E)                      \
  static void elements_##E##_##w(const gather_span *s) { \
    if (picks(s, width, E) && s->prefetch_rows == 0)     \
      pick_rounds(s, width, E, false, false, 0);         \
    else                                                 \
      gather_isa_portable.rows[slot][E - 1](s);          \
  }
ELEMENTS(u32, 4, GATHER_WIDTH_4, 1)
ELEMENTS(u32, 4, GATHER_WIDTH_4, 2)
ELEMENTS(u64, 8, GATHER_WIDTH_8, 1)
ELEMENTS(u64, 8, GATHER_WIDTH_8, 2)
#undef ELEMENTS

#if !GATHER_SMALL
#define STREAMED(w, width, E)                            \
  static void streamed_##E##_##w(const gather_span *s) { \
    if (picks_lines(s, width, E))                        \
      pick_rounds(s, width, E, true, false, 0);          \
    else                                                 \
      lines_##E##_##w(s);                                \
  }
STREAMED(u32, 4, 1)
STREAMED(u32, 4, 2)
STREAMED(u32, 4, 4)
STREAMED(u32, 4, 8)
STREAMED(u64, 8, 1)
STREAMED(u64, 8, 2)
STREAMED(u64, 8, 4)
STREAMED(u64, 8, 8)
#undef STREAMED
#endif

/* ---- by indices that nobody has validated; where checked.tmpl.h was included */
#ifdef CHECKED_OF
#define PICKED(w, width, E)                                                                                                             \
  static int64_t picked_##E##_##w(const gather_span *s, uint64_t limit) {                                                               \
    if (limit <= BELOW_MOST(width) && picks(s, width, E) && s->prefetch_rows == 0) return pick_rounds(s, width, E, false, true, limit); \
    return checked_##E##_##w(s, limit);                                                                                                 \
  }
PICKED(u32, 4, 1)
PICKED(u32, 4, 2)
PICKED(u64, 8, 1)
PICKED(u64, 8, 2)
#undef PICKED

#define CHECKED_STREAMED(w, width, E)                                               \
  static int64_t checked_streamed_##E##_##w(const gather_span *s, uint64_t limit) { \
    const bool can = limit <= BELOW_MOST(width) && picks_lines(s, width, E);        \
    return can ? pick_rounds(s, width, E, true, true, limit) : 0;                   \
  }
CHECKED_STREAMED(u32, 4, 1)
CHECKED_STREAMED(u32, 4, 2)
CHECKED_STREAMED(u32, 4, 4)
CHECKED_STREAMED(u32, 4, 8)
CHECKED_STREAMED(u64, 8, 1)
CHECKED_STREAMED(u64, 8, 2)
CHECKED_STREAMED(u64, 8, 4)
CHECKED_STREAMED(u64, 8, 8)
#undef CHECKED_STREAMED

#define CHECKED_STREAMED_OF(w)                                                                                        \
  {                                                                                                                   \
    checked_streamed_1_##w, checked_streamed_2_##w, NULL, checked_streamed_4_##w, NULL, checked_streamed_8_##w, NULL, \
        checked_streamed_16_##w, NULL, checked_streamed_32_##w, NULL, checked_streamed_64_##w, NULL                   \
  }
#endif

#endif

/* SPDX-License-Identifier: MIT
 *
 * elements_x86.h: elements of 1 and 2 bytes for isa_avx2.c and isa_avx512.c, assembled in registers: included after
 * nontemporals.tmpl.h, with the target on. Sixteen bytes are one store instead of sixteen or eight, and a line for non-temporal
 * stores is not read back from the stack, where a wide load waits for all small stores before it.
 */
#ifndef GATHER_KERNEL_ELEMENTS_X86_H
#define GATHER_KERNEL_ELEMENTS_X86_H

extern const gather_isa gather_isa_portable;

enum { WIDTH_u32 = 4, WIDTH_u64 = 8 };

/* Element k of vector v, by index k. */
#define PICK_1(w, k) v = _mm_insert_epi8(v, data[gather_row_##w(indices + (k)*WIDTH_##w)], k);
#define PICK_2(w, k)                                                       \
  memcpy(&element, data + gather_row_##w(indices + (k)*WIDTH_##w) * 2, 2); \
  v = _mm_insert_epi16(v, element, k);
#define PICK_EIGHT(PICK, w, k) \
  PICK(w, k) PICK(w, k + 1) PICK(w, k + 2) PICK(w, k + 3) PICK(w, k + 4) PICK(w, k + 5) PICK(w, k + 6) PICK(w, k + 7)

#define VECTORS(w)                                                            \
  GATHER_INLINE __m128i vector_1_##w(const char *data, const char *indices) { \
    __m128i v = _mm_setzero_si128();                                          \
    PICK_EIGHT(PICK_1, w, 0)                                                  \
    PICK_EIGHT(PICK_1, w, 8)                                                  \
    return v;                                                                 \
  }                                                                           \
  GATHER_INLINE __m128i vector_2_##w(const char *data, const char *indices) { \
    __m128i v = _mm_setzero_si128();                                          \
    int16_t element;                                                          \
    PICK_EIGHT(PICK_2, w, 0)                                                  \
    return v;                                                                 \
  }
VECTORS(u32)
VECTORS(u64)

GATHER_INLINE void put_sixteen(char *out, __m128i value, bool nontemporal) {
  if (nontemporal)
    _mm_stream_si128((void *)out, value);
  else
    _mm_storeu_si128((void *)out, value);
}

/* The first `head` elements and the last ones singly, the others line by line. The other kernels take all that is not dense, several
 * tables, short rounds, and prefetching: there the memory limits. */
#define ELEMENTS(w, E, slot)                                                                                                              \
  GATHER_INLINE void pick_lines_##E##_##w(const char *restrict data, const char *restrict indices, char *restrict out, int64_t head,      \
                                          int64_t count, bool many, bool nontemporal) {                                                   \
    enum { WIDTH = WIDTH_##w, LINE = 64 / E };                                                                                            \
    int64_t j = 0;                                                                                                                        \
    for (; j < head; j++) memcpy(out + j * E, data + gather_row_##w(indices + j * WIDTH) * E, E);                                         \
    for (; j + LINE <= count; j += LINE) {                                                                                                \
      for (int at = 0; many && at < LINE * WIDTH; at += 64) GATHER_PREFETCH(indices + j * WIDTH + GATHER_INDEX_PREFETCH + at);            \
      for (int64_t k = j; k < j + LINE; k += 16 / E) put_sixteen(out + k * E, vector_##E##_##w(data, indices + k * WIDTH), nontemporal);  \
    }                                                                                                                                     \
    for (; j < count; j++) memcpy(out + j * E, data + gather_row_##w(indices + j * WIDTH) * E, E);                                        \
  }                                                                                                                                       \
  GATHER_INLINE bool is_plain_##E##_##w(const gather_span *s) {                                                                           \
    return s->prefetch_rows == 0 && s->data_step == 0 && s->axis_step == E && s->index_step == WIDTH_##w && s->out_step == E &&           \
           s->count >= 64 / E;                                                                                                            \
  }                                                                                                                                       \
  static void elements_##E##_##w(const gather_span *s) {                                                                                  \
    if (!is_plain_##E##_##w(s)) {                                                                                                         \
      gather_isa_portable.rows[slot][E - 1](s);                                                                                           \
      return;                                                                                                                             \
    }                                                                                                                                     \
    for (int64_t i = 0; i < s->rounds; i++)                                                                                               \
      pick_lines_##E##_##w(s->data + i * s->data_round, s->indices + i * s->index_round, s->out + i * s->out_round, 0, s->count, s->many, \
                           false);                                                                                                        \
  }
ELEMENTS(u32, 1, GATHER_WIDTH_4)
ELEMENTS(u32, 2, GATHER_WIDTH_4)
ELEMENTS(u64, 1, GATHER_WIDTH_8)
ELEMENTS(u64, 2, GATHER_WIDTH_8)

#if !GATHER_SMALL
#define STREAMED(w, E)                                                                  \
  static void streamed_##E##_##w(const gather_span *s) {                                \
    const int64_t head = (int64_t)(-(uintptr_t)s->out & 63) / E;                        \
    if (is_plain_##E##_##w(s) && s->rounds == 1 && (uintptr_t)s->out % E == 0)          \
      pick_lines_##E##_##w(s->data, s->indices, s->out, head, s->count, s->many, true); \
    else                                                                                \
      lines_##E##_##w(s);                                                               \
  }
STREAMED(u32, 1)
STREAMED(u32, 2)
STREAMED(u64, 1)
STREAMED(u64, 2)
#undef STREAMED
#endif

#undef PICK_1
#undef PICK_2
#undef PICK_EIGHT
#undef VECTORS
#undef ELEMENTS

#endif

/* SPDX-License-Identifier: MIT
 *
 * combine.tmpl.h: the kernels that combine (combine.h), by loops over the functions of combine_number.h. Included once per instruction set.
 */

/* Reduces a row of `bytes` bytes, at least one element. */
typedef void (*reduce_fn)(char *restrict row, const char *restrict update, int64_t bytes);

/* All updates. The bytes of a row, and whether there are places, are arguments so that the compiler can use constants. */
GATHER_INLINE void walk(const gather_combine_span *s, int64_t bytes, bool placed, reduce_fn reduce) {
  const int64_t count = s->count, ahead = s->prefetch_rows, axis_step = s->axis_step, out_step = s->out_step, step = s->update_step;
  const int64_t lines = bytes > 64 ? s->prefetch_lines : 1, stay = ahead <= 0 ? count : s->more >= ahead ? 0 : ahead - s->more;
  const int64_t *rows = s->rows, *places = s->places;
  const char *updates = s->updates;
  char *out = s->out;
  int64_t j = 0;
  for (; j < count - stay; j++) {
    gather_prefetch_row(out + ahead * out_step + rows[j + ahead] * axis_step, lines);
    if (placed) gather_prefetch_row(updates + places[j + ahead], lines);
    reduce(out + rows[j] * axis_step, placed ? updates + places[j] : updates + j * step, bytes);
    out += out_step;
  }
  for (; j < count; j++) {
    reduce(out + rows[j] * axis_step, placed ? updates + places[j] : updates + j * step, bytes);
    out += out_step;
  }
}

GATHER_INLINE void walk_both(const gather_combine_span *s, int64_t bytes, reduce_fn reduce) {
  if (s->places)
    walk(s, bytes, true, reduce);
  else
    walk(s, bytes, false, reduce);
}

/* ---- replaced */

#define NONE(class, bytes)                                                                            \
  GATHER_INLINE void replace_##class(char *restrict row, const char *restrict update, int64_t size) { \
    gather_copy_##class(row, update, (size_t)size);                                                   \
  }                                                                                                   \
  static void none_##class(const gather_combine_span *s) { walk_both(s, (bytes), replace_##class); }
NONE(1, 1)
NONE(2, 2)
NONE(3, 3)
NONE(4, 4)
NONE(5_to_7, s->row_bytes)
NONE(8, 8)
NONE(9_to_15, s->row_bytes)
NONE(16, 16)
NONE(17_to_31, s->row_bytes)
NONE(32, 32)
NONE(33_to_63, s->row_bytes)
NONE(64, 64)
NONE(long, s->row_bytes)
#undef NONE

#define NONE_SLOTS \
  { none_1, none_2, none_3, none_4, none_5_to_7, none_8, none_9_to_15, none_16, none_17_to_31, none_32, none_33_to_63, none_64, none_long }

/* ---- reduced: elements_<reduction>_<type> and rows_<reduction>_<type> */

#define REDUCED(name, suffix, type)                                                                                           \
  GATHER_INLINE void one_##name##_##suffix(char *restrict row, const char *restrict update, int64_t bytes) {                  \
    type a, b;                                                                                                                \
    (void)bytes;                                                                                                              \
    memcpy(&a, row, sizeof a);                                                                                                \
    memcpy(&b, update, sizeof b);                                                                                             \
    a = gather_##name##_##suffix(a, b);                                                                                       \
    memcpy(row, &a, sizeof a);                                                                                                \
  }                                                                                                                           \
  GATHER_INLINE void row_##name##_##suffix(char *restrict row, const char *restrict update, int64_t bytes) {                  \
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(type)) one_##name##_##suffix(row + at, update + at, bytes);        \
  }                                                                                                                           \
  static void elements_##name##_##suffix(const gather_combine_span *s) { walk_both(s, sizeof(type), one_##name##_##suffix); } \
  static void rows_##name##_##suffix(const gather_combine_span *s) { walk_both(s, s->row_bytes, row_##name##_##suffix); }

#define SUMS(suffix, type)   \
  REDUCED(add, suffix, type) \
  REDUCED(sub, suffix, type) \
  REDUCED(mul, suffix, type)
#define EXTREMES(suffix, type) \
  REDUCED(min, suffix, type)   \
  REDUCED(max, suffix, type)
#define ALL(suffix, type) \
  SUMS(suffix, type)      \
  EXTREMES(suffix, type)

SUMS(b8, gather_bool8)
ALL(u8, uint8_t)
ALL(u16, uint16_t)
ALL(u32, uint32_t)
ALL(u64, uint64_t)
EXTREMES(i8, int8_t)
EXTREMES(i16, int16_t)
EXTREMES(i32, int32_t)
EXTREMES(i64, int64_t)
ALL(f16, gather_half)
ALL(bf16, gather_bfloat)
ALL(f32, float)
ALL(f64, double)
REDUCED(mul, c64, gather_complex64)
REDUCED(mul, c128, gather_complex128)
#undef REDUCED
#undef SUMS
#undef EXTREMES
#undef ALL

/* By type, from bool on. Integers of both kinds have the same sums; those of complex numbers are rows of floats. */
#define SUM_SLOTS(elements, rows, name)                                                                                              \
  {                                                                                                                                  \
    elements##name##_b8, elements##name##_u8, elements##name##_u16, elements##name##_u32, elements##name##_u64, elements##name##_u8, \
        elements##name##_u16, elements##name##_u32, elements##name##_u64, elements##name##_f16, elements##name##_bf16,               \
        elements##name##_f32, elements##name##_f64, rows##name##_f32, rows##name##_f64                                               \
  }
#define PRODUCT_SLOTS(kind)                                                                                                             \
  {                                                                                                                                     \
    kind##mul_b8, kind##mul_u8, kind##mul_u16, kind##mul_u32, kind##mul_u64, kind##mul_u8, kind##mul_u16, kind##mul_u32, kind##mul_u64, \
        kind##mul_f16, kind##mul_bf16, kind##mul_f32, kind##mul_f64, kind##mul_c64, kind##mul_c128                                      \
  }
#define EXTREME_SLOTS(kind, name, of_bool)                                                                                        \
  {                                                                                                                               \
    kind##of_bool##_b8, kind##name##_i8, kind##name##_i16, kind##name##_i32, kind##name##_i64, kind##name##_u8, kind##name##_u16, \
        kind##name##_u32, kind##name##_u64, kind##name##_f16, kind##name##_bf16, kind##name##_f32, kind##name##_f64               \
  }
#define ELEMENTS_SLOTS                                                                                                                \
  {                                                                                                                                   \
    SUM_SLOTS(elements_, rows_, add), SUM_SLOTS(elements_, rows_, sub), PRODUCT_SLOTS(elements_), EXTREME_SLOTS(elements_, min, mul), \
        EXTREME_SLOTS(elements_, max, add)                                                                                            \
  }
#define ROWS_SLOTS                                                                                                    \
  {                                                                                                                   \
    SUM_SLOTS(rows_, rows_, add), SUM_SLOTS(rows_, rows_, sub), PRODUCT_SLOTS(rows_), EXTREME_SLOTS(rows_, min, mul), \
        EXTREME_SLOTS(rows_, max, add)                                                                                \
  }

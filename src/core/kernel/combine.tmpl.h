/* SPDX-License-Identifier: MIT
 *
 * combine.tmpl.h: the kernels that reduce rows (combine.h): pieces of them by vectors, and what is left by the functions of
 * combine_number.h. Pieces do not overlap, so that the next update of the same row loads them as they were stored. Included once per
 * instruction set, before combine_wide.tmpl.h.
 *
 * Parameters:
 *   LONGEST       the bytes of the longest piece: 16, 32 or 64; 0: no vectors
 *   LONGEST_HALF  that of halves, whose floats have twice as many bytes: 8, 16 or 32; 0: no vectors. For each width w up to it there are
 *                 load_f16_<w>, load_bf16_<w>, which return floats, and store_f16_<w>, store_bf16_<w>
 *   WIDE_F16, NARROW_F16  functions that convert one float16
 *   ONLY_HALVES   defined: no rows of others
 *   EVERY_ELEMENT defined: elements of others, and products of complex numbers, which gain nothing from vectors
 */
/* Takes the row from byte `at` on in pieces, each by DO(width, ...); none is smaller than an element of `size` bytes. */
#define PIECES_OF(longest, DO, size, ...) PIECES_##longest(DO, size, __VA_ARGS__)
#define PIECES(longest, DO, size, ...) PIECES_OF(longest, DO, size, __VA_ARGS__)
#define PIECES_0(DO, size, ...)
#define PIECES_8(DO, size, ...) ALL_PIECES(8, DO, __VA_ARGS__)
#define PIECES_16(DO, size, ...) ALL_PIECES(16, DO, __VA_ARGS__) LAST_PIECE(8, DO, size, __VA_ARGS__)
#define PIECES_32(DO, size, ...)  \
  ALL_PIECES(32, DO, __VA_ARGS__) \
  LAST_PIECE(16, DO, size, __VA_ARGS__) LAST_PIECE(8, DO, size, __VA_ARGS__)
#define PIECES_64(DO, size, ...)  \
  ALL_PIECES(64, DO, __VA_ARGS__) \
  LAST_PIECE(32, DO, size, __VA_ARGS__) LAST_PIECE(16, DO, size, __VA_ARGS__) LAST_PIECE(8, DO, size, __VA_ARGS__)
#define ALL_PIECES(width, DO, ...)                                                       \
  for (const int64_t whole = bytes & ~(int64_t)((width)-1); at < whole; at += (width)) { \
    DO(width, __VA_ARGS__);                                                              \
  }
#define LAST_PIECE(width, DO, size, ...)            \
  if ((size) < (width) && (bytes & (width)) != 0) { \
    DO(width, __VA_ARGS__);                         \
    at += (width);                                  \
  }

/* The elements behind the last piece, each by DO(...): after pieces of 8 bytes at most one of 4 or 8. */
#define REST(longest, DO, size, ...)         \
  while (at < bytes) {                       \
    DO(__VA_ARGS__);                         \
    at += (int64_t)(size);                   \
    if ((longest) > 0 && (size) >= 4) break; \
    GATHER_OPAQUE(at);                       \
  }

/* DO(width, ...) for the widths of pieces up to the longest. */
#define WIDTHS_OF(longest, DO, ...) WIDTHS_##longest(DO, __VA_ARGS__)
#define WIDTHS(longest, DO, ...) WIDTHS_OF(longest, DO, __VA_ARGS__)
#define WIDTHS_0(DO, ...)
#define WIDTHS_8(DO, ...) DO(8, __VA_ARGS__)
#define WIDTHS_16(DO, ...) WIDTHS_8(DO, __VA_ARGS__) DO(16, __VA_ARGS__)
#define WIDTHS_32(DO, ...) WIDTHS_16(DO, __VA_ARGS__) DO(32, __VA_ARGS__)
#define WIDTHS_64(DO, ...) WIDTHS_32(DO, __VA_ARGS__) DO(64, __VA_ARGS__)

/* ---- halves, one by one */

#define ONE_HALF(name)                                                                        \
  GATHER_INLINE gather_half half_##name##_f16(gather_half a, gather_half b) {                 \
    return NARROW_F16(gather_##name##_f32(WIDE_F16(a), WIDE_F16(b)));                         \
  }                                                                                           \
  GATHER_INLINE gather_bfloat half_##name##_bf16(gather_bfloat a, gather_bfloat b) {          \
    return gather_narrow_bf16(gather_##name##_f32(gather_wide_bf16(a), gather_wide_bf16(b))); \
  }
ONE_HALF(add)
ONE_HALF(sub)
ONE_HALF(mul)
ONE_HALF(min)
ONE_HALF(max)

/* ---- elements and rows of each reduction and type; `reduce` is the function of two numbers, `kind` of vectors */

#define ELEMENT(name, suffix, type, reduce)                                                                  \
  GATHER_INLINE void one_##name##_##suffix(char *restrict row, const char *restrict update, int64_t bytes) { \
    type a, b;                                                                                               \
    (void)bytes;                                                                                             \
    memcpy(&a, row, sizeof a);                                                                               \
    memcpy(&b, update, sizeof b);                                                                            \
    a = reduce(a, b);                                                                                        \
    memcpy(row, &a, sizeof a);                                                                               \
  }

#define REDUCE_PIECE(width, name, suffix) piece_##name##_##suffix##_##width(row + at, update + at)
#define REDUCE_ONE(name, suffix) one_##name##_##suffix(row + at, update + at, bytes)
#define ROW(name, suffix, type, longest)                                                                     \
  GATHER_INLINE void row_##name##_##suffix(char *restrict row, const char *restrict update, int64_t bytes) { \
    int64_t at = 0;                                                                                          \
    PIECES(longest, REDUCE_PIECE, sizeof(type), name, suffix);                                               \
    REST(longest, REDUCE_ONE, sizeof(type), name, suffix);                                                   \
  }                                                                                                          \
  static void rows_##name##_##suffix(const gather_combine_span *s) { gather_combine_rows(s, row_##name##_##suffix); }

#define PIECE(width, name, suffix, kind)                                                                            \
  GATHER_INLINE void piece_##name##_##suffix##_##width(char *restrict row, const char *restrict update) {           \
    gather_v_##suffix##_##width a, b;                                                                               \
    memcpy(&a, row, sizeof a);                                                                                      \
    memcpy(&b, update, sizeof b);                                                                                   \
    GATHER_VECTOR_##kind##name(gather_v_##suffix##_##width, gather_m_##suffix##_##width) memcpy(row, &a, sizeof a); \
  }
#define NUMBERS(name, suffix, type, kind)               \
  ELEMENT(name, suffix, type, gather_##name##_##suffix) \
  WIDTHS(LONGEST, PIECE, name, suffix, kind) ROW(name, suffix, type, LONGEST)

/* Halves: their floats. */
#define WIDE_8(type, what) gather_##what##_##type##_16
#define WIDE_16(type, what) gather_##what##_##type##_32
#define WIDE_32(type, what) gather_##what##_##type##_64
#define HALF_PIECE(width, name, suffix)                                                                      \
  GATHER_INLINE void piece_##name##_##suffix##_##width(char *restrict row, const char *restrict update) {    \
    WIDE_##width(f32, v) a = load_##suffix##_##width(row), b = load_##suffix##_##width(update);              \
    GATHER_VECTOR_float_##name(WIDE_##width(f32, v), WIDE_##width(f32, m)) store_##suffix##_##width(row, a); \
  }
#define HALF_NUMBERS(name, suffix, type, kind)        \
  ELEMENT(name, suffix, type, half_##name##_##suffix) \
  WIDTHS(LONGEST_HALF, HALF_PIECE, name, suffix) ROW(name, suffix, type, LONGEST_HALF)

#define EACH_HALF(DO)                 \
  DO(add, f16, gather_half, half_)    \
  DO(sub, f16, gather_half, half_)    \
  DO(mul, f16, gather_half, half_)    \
  DO(min, f16, gather_half, half_)    \
  DO(max, f16, gather_half, half_)    \
  DO(add, bf16, gather_bfloat, half_) \
  DO(sub, bf16, gather_bfloat, half_) \
  DO(mul, bf16, gather_bfloat, half_) \
  DO(min, bf16, gather_bfloat, half_) \
  DO(max, bf16, gather_bfloat, half_)
EACH_HALF(HALF_NUMBERS)

/* Integers of both kinds have the same sums. Sums of complex numbers are rows of floats. */
#define EACH_SUM(DO, suffix, type, kind) DO(add, suffix, type, kind) DO(sub, suffix, type, kind) DO(mul, suffix, type, kind)
#define EACH_EXTREME(DO, suffix, type, kind) DO(min, suffix, type, kind) DO(max, suffix, type, kind)
#define EACH_NUMBER(DO)                 \
  EACH_SUM(DO, b8, gather_bool8, bool_) \
  EACH_SUM(DO, u8, uint8_t, )           \
  EACH_SUM(DO, u16, uint16_t, )         \
  EACH_SUM(DO, u32, uint32_t, )         \
  EACH_SUM(DO, u64, uint64_t, )         \
  EACH_SUM(DO, f32, float, float_)      \
  EACH_SUM(DO, f64, double, float_)     \
  EACH_EXTREME(DO, u8, uint8_t, )       \
  EACH_EXTREME(DO, u16, uint16_t, )     \
  EACH_EXTREME(DO, u32, uint32_t, )     \
  EACH_EXTREME(DO, u64, uint64_t, )     \
  EACH_EXTREME(DO, i8, int8_t, )        \
  EACH_EXTREME(DO, i16, int16_t, )      \
  EACH_EXTREME(DO, i32, int32_t, )      \
  EACH_EXTREME(DO, i64, int64_t, )      \
  EACH_EXTREME(DO, f32, float, float_)  \
  EACH_EXTREME(DO, f64, double, float_)
#if !defined(ONLY_HALVES)
EACH_NUMBER(NUMBERS)
#endif

#define ELEMENTS(name, suffix, type, kind) \
  static void elements_##name##_##suffix(const gather_combine_span *s) { gather_combine_elements(s, one_##name##_##suffix); }
EACH_HALF(ELEMENTS)
#if defined(EVERY_ELEMENT)
ELEMENT(mul, c64, gather_complex64, gather_mul_c64)
ELEMENT(mul, c128, gather_complex128, gather_mul_c128)
ROW(mul, c64, gather_complex64, 0)
ROW(mul, c128, gather_complex128, 0)
EACH_NUMBER(ELEMENTS)
ELEMENTS(mul, c64, gather_complex64, )
ELEMENTS(mul, c128, gather_complex128, )
#endif

#define HALF_SLOTS_OF(kind, name) \
  { [GATHER_TYPE_FLOAT16 - 1] = kind##_##name##_f16, [GATHER_TYPE_BFLOAT16 - 1] = kind##_##name##_bf16 }
#define HALF_SLOTS(kind) \
  { HALF_SLOTS_OF(kind, add), HALF_SLOTS_OF(kind, sub), HALF_SLOTS_OF(kind, mul), HALF_SLOTS_OF(kind, min), HALF_SLOTS_OF(kind, max) }

/* By type, from bool on. */
#define SUM_SLOTS(kind, name, complex)                                                                                                 \
  {                                                                                                                                    \
    kind##_##name##_b8, kind##_##name##_u8, kind##_##name##_u16, kind##_##name##_u32, kind##_##name##_u64, kind##_##name##_u8,         \
        kind##_##name##_u16, kind##_##name##_u32, kind##_##name##_u64, kind##_##name##_f16, kind##_##name##_bf16, kind##_##name##_f32, \
        kind##_##name##_f64, complex                                                                                                   \
  }
#define EXTREME_SLOTS(kind, name, of_bool)                                                                                             \
  {                                                                                                                                    \
    kind##_##of_bool##_b8, kind##_##name##_i8, kind##_##name##_i16, kind##_##name##_i32, kind##_##name##_i64, kind##_##name##_u8,      \
        kind##_##name##_u16, kind##_##name##_u32, kind##_##name##_u64, kind##_##name##_f16, kind##_##name##_bf16, kind##_##name##_f32, \
        kind##_##name##_f64                                                                                                            \
  }
#define ALL_SLOTS(kind)                                                                                       \
  {                                                                                                           \
    SUM_SLOTS(kind, add, PARTS(add)), SUM_SLOTS(kind, sub, PARTS(sub)), SUM_SLOTS(kind, mul, PRODUCTS(kind)), \
        EXTREME_SLOTS(kind, min, mul), EXTREME_SLOTS(kind, max, add)                                          \
  }
#define PARTS(name) rows_##name##_f32, rows_##name##_f64
#if defined(EVERY_ELEMENT)
#define PRODUCTS(kind) kind##_mul_c64, kind##_mul_c128
#else
#define PRODUCTS(kind) NULL, NULL
#endif

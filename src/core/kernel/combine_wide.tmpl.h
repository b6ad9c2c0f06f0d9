/* SPDX-License-Identifier: MIT
 *
 * combine_wide.tmpl.h: rows whose sums are rounded once (gather_wide in combine.h). Included after combine.tmpl.h, whose macros it uses.
 * Pieces of float32 are as long as those of halves, as their numbers are twice as wide too: load_f32_<w> and store_f32_<w>.
 */
#define WIDE_ONE_f16 WIDE_F16
#define WIDE_ONE_bf16 gather_wide_bf16
#define WIDE_ONE_f32 gather_wide_f32
#define NARROW_ONE_f16 NARROW_F16
#define NARROW_ONE_bf16 gather_narrow_bf16
#define NARROW_ONE_f32 gather_narrow_f32

/* For each piece and number: the accumulator is `sums`, twice as many bytes. wide: the suffix of its numbers. */
#define WIDE_PIECE(width, suffix, wide)                                                         \
  GATHER_INLINE void widen_##suffix##_##width(char *restrict sums, const char *restrict row) {  \
    const WIDE_##width(wide, v) numbers = load_##suffix##_##width(row);                         \
    memcpy(sums, &numbers, sizeof numbers);                                                     \
  }                                                                                             \
  GATHER_INLINE void narrow_##suffix##_##width(const char *restrict sums, char *restrict row) { \
    WIDE_##width(wide, v) numbers;                                                              \
    memcpy(&numbers, sums, sizeof numbers);                                                     \
    store_##suffix##_##width(row, numbers);                                                     \
  }
#define FOLD_PIECE(width, name, suffix, wide)                                                             \
  GATHER_INLINE void fold_##name##_##suffix##_##width(char *restrict sums, const char *restrict update) { \
    WIDE_##width(wide, v) a, b = load_##suffix##_##width(update);                                         \
    memcpy(&a, sums, sizeof a);                                                                           \
    GATHER_VECTOR_float_##name(WIDE_##width(wide, v), WIDE_##width(wide, m)) memcpy(sums, &a, sizeof a);  \
  }
#define FOLD_AT(width, name, suffix) fold_##name##_##suffix##_##width(sums + 2 * at, update + at)
#define WIDEN_AT(width, suffix) widen_##suffix##_##width(sums + 2 * at, row + at)
#define NARROW_AT(width, suffix) narrow_##suffix##_##width(sums + 2 * at, row + at)

/* The same for one number. */
#define ONE_WIDE(suffix, type, wide, wide_type)                                           \
  GATHER_INLINE void widen_one_##suffix(char *restrict sums, const char *restrict row) {  \
    type narrow;                                                                          \
    memcpy(&narrow, row, sizeof narrow);                                                  \
    const wide_type number = WIDE_ONE_##suffix(narrow);                                   \
    memcpy(sums, &number, sizeof number);                                                 \
  }                                                                                       \
  GATHER_INLINE void narrow_one_##suffix(const char *restrict sums, char *restrict row) { \
    wide_type number;                                                                     \
    memcpy(&number, sums, sizeof number);                                                 \
    const type narrow = NARROW_ONE_##suffix(number);                                      \
    memcpy(row, &narrow, sizeof narrow);                                                  \
  }
#define FOLD_ONE(name, suffix, type, wide, wide_type)                                               \
  GATHER_INLINE wide_type fold_sum_##name##_##suffix(wide_type sum, const char *update) {           \
    type b;                                                                                         \
    memcpy(&b, update, sizeof b);                                                                   \
    return gather_##name##_##wide(sum, WIDE_ONE_##suffix(b));                                       \
  }                                                                                                 \
  GATHER_INLINE void fold_one_##name##_##suffix(char *restrict sums, const char *restrict update) { \
    wide_type sum;                                                                                  \
    memcpy(&sum, sums, sizeof sum);                                                                 \
    sum = fold_sum_##name##_##suffix(sum, update);                                                  \
    memcpy(sums, &sum, sizeof sum);                                                                 \
  }
#define FOLD_ONE_AT(name, suffix) fold_one_##name##_##suffix(sums + 2 * at, update + at)
#define WIDEN_ONE_AT(suffix) widen_one_##suffix(sums + 2 * at, row + at)
#define NARROW_ONE_AT(suffix) narrow_one_##suffix(sums + 2 * at, row + at)

/* Rows. Of one number the sum stays in a register. */
#define FOLD(name, suffix, type, wide, wide_type)                                                                                       \
  WIDTHS(LONGEST_HALF, FOLD_PIECE, name, suffix, wide)                                                                                  \
  FOLD_ONE(name, suffix, type, wide, wide_type)                                                                                         \
  GATHER_INLINE void fold_row_##name##_##suffix(char *restrict sums, const char *restrict update, int64_t bytes) {                      \
    int64_t at = 0;                                                                                                                     \
    PIECES(LONGEST_HALF, FOLD_AT, sizeof(type), name, suffix);                                                                          \
    REST(LONGEST_HALF, FOLD_ONE_AT, sizeof(type), name, suffix);                                                                        \
  }                                                                                                                                     \
  static void fold_##name##_##suffix(void *acc, const char *updates, const int64_t *places, int64_t step, int64_t count, int64_t len) { \
    int64_t bytes = len * (int64_t)sizeof(type);                                                                                        \
    if (len > 1) {                                                                                                                      \
      for (int64_t j = 0; j < count; j++) {                                                                                             \
        GATHER_OPAQUE(bytes);                                                                                                           \
        fold_row_##name##_##suffix(acc, updates + (places ? places[j] : j * step), bytes);                                              \
      }                                                                                                                                 \
      return;                                                                                                                           \
    }                                                                                                                                   \
    wide_type sum;                                                                                                                      \
    memcpy(&sum, acc, sizeof sum);                                                                                                      \
    if (places)                                                                                                                         \
      for (int64_t j = 0; j < count; j++) sum = fold_sum_##name##_##suffix(sum, updates + places[j]);                                   \
    else                                                                                                                                \
      for (int64_t j = 0; j < count; j++, updates += step) sum = fold_sum_##name##_##suffix(sum, updates);                              \
    memcpy(acc, &sum, sizeof sum);                                                                                                      \
  }

#define ROUNDED_ONCE(suffix, type, wide, wide_type)                         \
  WIDTHS(LONGEST_HALF, WIDE_PIECE, suffix, wide)                            \
  ONE_WIDE(suffix, type, wide, wide_type)                                   \
  static void load_row_##suffix(void *acc, const char *row, int64_t len) {  \
    const int64_t bytes = len * (int64_t)sizeof(type);                      \
    char *restrict sums = acc;                                              \
    int64_t at = 0;                                                         \
    PIECES(LONGEST_HALF, WIDEN_AT, sizeof(type), suffix);                   \
    REST(LONGEST_HALF, WIDEN_ONE_AT, sizeof(type), suffix);                 \
  }                                                                         \
  static void store_row_##suffix(const void *acc, char *row, int64_t len) { \
    const int64_t bytes = len * (int64_t)sizeof(type);                      \
    const char *restrict sums = acc;                                        \
    int64_t at = 0;                                                         \
    PIECES(LONGEST_HALF, NARROW_AT, sizeof(type), suffix);                  \
    REST(LONGEST_HALF, NARROW_ONE_AT, sizeof(type), suffix);                \
  }                                                                         \
  FOLD(add, suffix, type, wide, wide_type)                                  \
  FOLD(sub, suffix, type, wide, wide_type)                                  \
  FOLD(mul, suffix, type, wide, wide_type)
ROUNDED_ONCE(f16, gather_half, f32, float)
ROUNDED_ONCE(bf16, gather_bfloat, f32, float)
ROUNDED_ONCE(f32, float, f64, double)

#define SETTING(wide, wide_type)                                             \
  static void set_##wide(void *acc, double number, int64_t len) {            \
    wide_type *sums = acc;                                                   \
    for (int64_t k = 0; k < len; k++) sums[k] = (wide_type)number;           \
  }                                                                          \
  static void divide_##wide(void *acc, int64_t number, int64_t len) {        \
    wide_type *sums = acc;                                                   \
    for (int64_t k = 0; k < len; k++) sums[k] = sums[k] / (wide_type)number; \
  }
SETTING(f32, float)
SETTING(f64, double)

#define WIDE_SLOTS_OF(suffix, wide, wide_type)                                                                                          \
  {                                                                                                                                     \
    .acc_bytes = sizeof(wide_type), .load = load_row_##suffix, .fold = {NULL, fold_add_##suffix, fold_sub_##suffix, fold_mul_##suffix}, \
    .set = set_##wide, .divide = divide_##wide, .store = store_row_##suffix                                                             \
  }
#define WIDE_SLOTS \
  { WIDE_SLOTS_OF(f16, f32, float), WIDE_SLOTS_OF(bf16, f32, float), WIDE_SLOTS_OF(f32, f64, double) }

#undef WIDE_ONE_f16
#undef WIDE_ONE_bf16
#undef WIDE_ONE_f32
#undef NARROW_ONE_f16
#undef NARROW_ONE_bf16
#undef NARROW_ONE_f32
#undef WIDE_PIECE
#undef FOLD_PIECE
#undef FOLD_AT
#undef WIDEN_AT
#undef NARROW_AT
#undef FOLD
#undef ROUNDED_ONCE
#undef SETTING

/* SPDX-License-Identifier: MIT
 *
 * combine_wide.tmpl.h: rows whose sums are rounded once (gather_wide in combine.h). Included once per instruction set, after combine.tmpl.h.
 */

/* One update of one number: the accumulator stays in a register for all updates. */
#define FOLD(name, suffix, narrow, wide, wide_suffix)                                                                                   \
  static void wide_##name##_##suffix(void *acc, const char *updates, const int64_t *places, int64_t step, int64_t count, int64_t len) { \
    if (len == 1) {                                                                                                                     \
      wide sum;                                                                                                                         \
      memcpy(&sum, acc, sizeof sum);                                                                                                    \
      for (int64_t j = 0; j < count; j++) {                                                                                             \
        narrow b;                                                                                                                       \
        memcpy(&b, places ? updates + places[j] : updates + j * step, sizeof b);                                                        \
        sum = gather_##name##_##wide_suffix(sum, gather_wide_##suffix(b));                                                              \
      }                                                                                                                                 \
      memcpy(acc, &sum, sizeof sum);                                                                                                    \
      return;                                                                                                                           \
    }                                                                                                                                   \
    for (int64_t j = 0; j < count; j++) {                                                                                               \
      const char *update = places ? updates + places[j] : updates + j * step;                                                           \
      wide *restrict sums = acc;                                                                                                        \
      for (int64_t k = 0; k < len; k++) {                                                                                               \
        narrow b;                                                                                                                       \
        memcpy(&b, update + k * (int64_t)sizeof b, sizeof b);                                                                           \
        sums[k] = gather_##name##_##wide_suffix(sums[k], gather_wide_##suffix(b));                                                      \
      }                                                                                                                                 \
    }                                                                                                                                   \
  }

#define WIDE(suffix, narrow, wide, wide_suffix)                               \
  static void load_##suffix(void *acc, const char *row, int64_t len) {        \
    wide *restrict numbers = acc;                                             \
    for (int64_t k = 0; k < len; k++) {                                       \
      narrow a;                                                               \
      memcpy(&a, row + k * (int64_t)sizeof a, sizeof a);                      \
      numbers[k] = gather_wide_##suffix(a);                                   \
    }                                                                         \
  }                                                                           \
  static void store_##suffix(const void *acc, char *row, int64_t len) {       \
    const wide *restrict numbers = acc;                                       \
    for (int64_t k = 0; k < len; k++) {                                       \
      const narrow a = gather_narrow_##suffix(numbers[k]);                    \
      memcpy(row + k * (int64_t)sizeof a, &a, sizeof a);                      \
    }                                                                         \
  }                                                                           \
  static void set_##suffix(void *acc, double number, int64_t len) {           \
    wide *numbers = acc;                                                      \
    for (int64_t k = 0; k < len; k++) numbers[k] = (wide)number;              \
  }                                                                           \
  static void wide_divide_##suffix(void *acc, int64_t number, int64_t len) {  \
    wide *numbers = acc;                                                      \
    for (int64_t k = 0; k < len; k++) numbers[k] = numbers[k] / (wide)number; \
  }                                                                           \
  FOLD(add, suffix, narrow, wide, wide_suffix)                                \
  FOLD(sub, suffix, narrow, wide, wide_suffix)                                \
  FOLD(mul, suffix, narrow, wide, wide_suffix)

WIDE(f16, gather_half, float, f32)
WIDE(bf16, gather_bfloat, float, f32)
WIDE(f32, float, double, f64)
#undef WIDE
#undef FOLD

#define WIDE_OF(suffix, bytes)                                                                                          \
  {                                                                                                                     \
    .acc_bytes = bytes, .load = load_##suffix, .fold = {NULL, wide_add_##suffix, wide_sub_##suffix, wide_mul_##suffix}, \
    .set = set_##suffix, .divide = wide_divide_##suffix, .store = store_##suffix                                        \
  }
#define WIDE_SLOTS \
  { WIDE_OF(f16, 4), WIDE_OF(bf16, 4), WIDE_OF(f32, 8) }

/* SPDX-License-Identifier: MIT
 *
 * combine_portable.c: the kernels that combine in plain C11, for every machine, and the means, which are no faster otherwise.
 */
#include <string.h>

#include "core/kernel/combine_number.h"
#include "core/kernel/combine_vector.h"
#include "core/kernel/combine_walk.h"

#define SHORTEST_ROW 1
#include "core/kernel/combine_none.tmpl.h"

#define LONGEST GATHER_VECTOR_BYTES
#define LONGEST_HALF 0
#define WIDE_F16 gather_wide_f16
#define NARROW_F16 gather_narrow_f16
#define EVERY_ELEMENT
#include "core/kernel/combine.tmpl.h"

#include "core/kernel/combine_wide.tmpl.h"

/* ---- means */

GATHER_INLINE int64_t quotient_signed(int64_t sum, int64_t number) {
  const int64_t quotient = sum / number;
  return quotient - (sum % number < 0); /* rounded down */
}
GATHER_INLINE uint64_t quotient_unsigned(uint64_t sum, int64_t number) { return sum / (uint64_t)number; }
GATHER_INLINE float quotient_f32(float sum, int64_t number) {
  const float quotient = sum / (float)number;
  return quotient;
}
GATHER_INLINE double quotient_f64(double sum, int64_t number) {
  const double quotient = sum / (double)number;
  return quotient;
}
GATHER_INLINE gather_half quotient_f16(gather_half sum, int64_t number) {
  return gather_narrow_f16(quotient_f32(gather_wide_f16(sum), number));
}
GATHER_INLINE gather_bfloat quotient_bf16(gather_bfloat sum, int64_t number) {
  return gather_narrow_bf16(quotient_f32(gather_wide_bf16(sum), number));
}

/* parts: 2 of complex numbers, else 1. */
#define DIVIDE(suffix, type, by, parts)                                     \
  static void divide_row_##suffix(char *row, int64_t number, int64_t len) { \
    for (int64_t k = 0; k < len * (parts); k++) {                           \
      type a;                                                               \
      memcpy(&a, row + k * (int64_t)sizeof a, sizeof a);                    \
      a = (type)by(a, number);                                              \
      memcpy(row + k * (int64_t)sizeof a, &a, sizeof a);                    \
    }                                                                       \
  }
DIVIDE(i8, int8_t, quotient_signed, 1)
DIVIDE(i16, int16_t, quotient_signed, 1)
DIVIDE(i32, int32_t, quotient_signed, 1)
DIVIDE(i64, int64_t, quotient_signed, 1)
DIVIDE(u8, uint8_t, quotient_unsigned, 1)
DIVIDE(u16, uint16_t, quotient_unsigned, 1)
DIVIDE(u32, uint32_t, quotient_unsigned, 1)
DIVIDE(u64, uint64_t, quotient_unsigned, 1)
DIVIDE(f16, gather_half, quotient_f16, 1)
DIVIDE(bf16, gather_bfloat, quotient_bf16, 1)
DIVIDE(f32, float, quotient_f32, 1)
DIVIDE(f64, double, quotient_f64, 1)
DIVIDE(c64, float, quotient_f32, 2)
DIVIDE(c128, double, quotient_f64, 2)

const gather_combining gather_combining_portable = {
    .none = {none_1, none_2, none_3, none_4, none_5_to_7, none_8, none_9_to_15, none_16, none_17_to_31, none_32, none_33_to_63, none_64,
             none_long},
    .elements = ALL_SLOTS(elements),
    .rows = ALL_SLOTS(rows),
    .wide = WIDE_SLOTS,
    .divide = {NULL, divide_row_i8, divide_row_i16, divide_row_i32, divide_row_i64, divide_row_u8, divide_row_u16, divide_row_u32,
               divide_row_u64, divide_row_f16, divide_row_bf16, divide_row_f32, divide_row_f64, divide_row_c64, divide_row_c128},
};

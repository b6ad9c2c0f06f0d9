/* SPDX-License-Identifier: MIT
 *
 * bag_portable.c: embedding bags in plain C: what each kind of sums means. Integers wrap around; a mean of integers is rounded down.
 */
#include <string.h>

#include "core/kernel/bag.h"
#include "core/kernel/copy.h"
#include "core/kernel/float_bits.h"

#if !defined(GATHER_ONLY_GATHER)

/* Columns at a time: their sums are in registers or in L1. */
enum { BAG_COLUMNS = 64 };

/* ---- integers: sums and products are those of unsigned numbers */

#define INTEGER(kind, STORED, NUMBER)                                                                                    \
  GATHER_INLINE STORED value_##kind(STORED e) { return e; }                                                              \
  GATHER_INLINE STORED element_##kind(STORED a) { return a; }                                                            \
  GATHER_INLINE STORED plus_##kind(STORED a, STORED b) { return (STORED)(a + b); }                                       \
  GATHER_INLINE STORED times_##kind(STORED a, STORED b) { return (STORED)((uint64_t)a * (uint64_t)b); /* not as int */ } \
  GATHER_INLINE bool above_##kind(STORED a, STORED b) { return (NUMBER)a > (NUMBER)b; }
#define DIVIDE_DOWN(kind, STORED, NUMBER)                     \
  GATHER_INLINE STORED divide_##kind(STORED sum, int64_t n) { \
    const int64_t number = (NUMBER)sum, rest = number % n;    \
    return (STORED)(number / n - (rest < 0));                 \
  }
#define DIVIDE_UNSIGNED(kind, STORED) \
  GATHER_INLINE STORED divide_##kind(STORED sum, int64_t n) { return (STORED)((uint64_t)sum / (uint64_t)n); }

INTEGER(i8, uint8_t, int8_t)
INTEGER(i16, uint16_t, int16_t)
INTEGER(i32, uint32_t, int32_t)
INTEGER(i64, uint64_t, int64_t)
INTEGER(u8, uint8_t, uint8_t)
INTEGER(u16, uint16_t, uint16_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(u64, uint64_t, uint64_t)
DIVIDE_DOWN(i8, uint8_t, int8_t)
DIVIDE_DOWN(i16, uint16_t, int16_t)
DIVIDE_DOWN(i32, uint32_t, int32_t)
DIVIDE_DOWN(i64, uint64_t, int64_t)
DIVIDE_UNSIGNED(u8, uint8_t)
DIVIDE_UNSIGNED(u16, uint16_t)
DIVIDE_UNSIGNED(u32, uint32_t)
DIVIDE_UNSIGNED(u64, uint64_t)

/* ---- floats. Each operation has its result in a variable, as in float_bits.h. */

#define FLOAT(kind, ACC)                              \
  GATHER_INLINE ACC plus_##kind(ACC a, ACC b) {       \
    const ACC sum = a + b;                            \
    return sum;                                       \
  }                                                   \
  GATHER_INLINE ACC times_##kind(ACC a, ACC b) {      \
    const ACC product = a * b;                        \
    return product;                                   \
  }                                                   \
  GATHER_INLINE ACC divide_##kind(ACC a, int64_t n) { \
    const ACC quotient = a / (ACC)n;                  \
    return quotient;                                  \
  }                                                   \
  GATHER_INLINE bool above_##kind(ACC a, ACC b) { return a > b || a != a; }
FLOAT(f32, float)
FLOAT(f64, double)
FLOAT(half, float)
FLOAT(bfloat, float)
FLOAT(wide, double)

GATHER_INLINE float value_f32(float e) { return e; }
GATHER_INLINE float element_f32(float a) { return a; }
GATHER_INLINE double value_f64(double e) { return e; }
GATHER_INLINE double element_f64(double a) { return a; }
GATHER_INLINE float value_half(uint16_t e) { return gather_half_value(e); }
GATHER_INLINE uint16_t element_half(float a) { return gather_half_nearest(a); }
GATHER_INLINE float value_bfloat(uint16_t e) { return gather_float_of((uint32_t)e << 16); }
GATHER_INLINE uint16_t element_bfloat(float a) { return gather_bfloat_nearest(a); }
GATHER_INLINE double value_wide(float e) { return (double)e; }
GATHER_INLINE float element_wide(double a) { return (float)a; }

/* Halves in steps: float32 has more than twice their digits, so an operation on them that is rounded twice is rounded once. */
#define STEPS(kind, of)                                                                                                  \
  GATHER_INLINE float value_##kind(uint16_t e) { return value_##of(e); }                                                 \
  GATHER_INLINE uint16_t element_##kind(float a) { return element_##of(a); }                                             \
  GATHER_INLINE float plus_##kind(float a, float b) { return value_##of(element_##of(plus_##of(a, b))); }                \
  GATHER_INLINE float times_##kind(float a, float b) { return value_##of(element_##of(times_##of(a, b))); }              \
  GATHER_INLINE float divide_##kind(float a, int64_t n) { return divide_##of(a, n); /* then rounded, as any element */ } \
  GATHER_INLINE bool above_##kind(float a, float b) { return above_##of(a, b); }
STEPS(half_steps, half)
STEPS(bfloat_steps, bfloat)

/* ---- the kernels */

#define KIND i8
#define STORED uint8_t
#define ACC uint8_t
#include "core/kernel/bag.tmpl.h"
#define KIND i16
#define STORED uint16_t
#define ACC uint16_t
#include "core/kernel/bag.tmpl.h"
#define KIND i32
#define STORED uint32_t
#define ACC uint32_t
#include "core/kernel/bag.tmpl.h"
#define KIND i64
#define STORED uint64_t
#define ACC uint64_t
#include "core/kernel/bag.tmpl.h"
#define KIND u8
#define STORED uint8_t
#define ACC uint8_t
#include "core/kernel/bag.tmpl.h"
#define KIND u16
#define STORED uint16_t
#define ACC uint16_t
#include "core/kernel/bag.tmpl.h"
#define KIND u32
#define STORED uint32_t
#define ACC uint32_t
#include "core/kernel/bag.tmpl.h"
#define KIND u64
#define STORED uint64_t
#define ACC uint64_t
#include "core/kernel/bag.tmpl.h"
#define KIND f32
#define STORED float
#define ACC float
#include "core/kernel/bag.tmpl.h"
#define KIND f64
#define STORED double
#define ACC double
#include "core/kernel/bag.tmpl.h"
#define KIND half
#define STORED uint16_t
#define ACC float
#include "core/kernel/bag.tmpl.h"
#define KIND bfloat
#define STORED uint16_t
#define ACC float
#include "core/kernel/bag.tmpl.h"
#define KIND half_steps
#define STORED uint16_t
#define ACC float
#include "core/kernel/bag.tmpl.h"
#define KIND bfloat_steps
#define STORED uint16_t
#define ACC float
#include "core/kernel/bag.tmpl.h"
#define KIND wide
#define STORED float
#define ACC double
#include "core/kernel/bag.tmpl.h"

#define FOLDS(kind) \
  { sum_##kind, weighted_##kind, max_##kind }

const gather_bagging gather_bagging_portable = {{FOLDS(i8), FOLDS(i16), FOLDS(i32), FOLDS(i64), FOLDS(u8), FOLDS(u16), FOLDS(u32),
                                                 FOLDS(u64), FOLDS(f32), FOLDS(f64), FOLDS(half), FOLDS(bfloat), FOLDS(half_steps),
                                                 FOLDS(bfloat_steps), FOLDS(wide)}};
#endif

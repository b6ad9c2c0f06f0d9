/* SPDX-License-Identifier: MIT
 *
 * bag_vectors.tmpl.h: the kernels of embedding bags for the kinds of sums that have vectors, once per instruction set. Before, define
 * FLOATS and DOUBLES, vectors of BAG_LANES_f32 and BAG_LANES_f64 numbers, and what bag_vector.tmpl.h needs of each kind.
 */

/* Vectors whose sums stay in registers: of all kinds, and of one. */
enum { BAG_VECTORS = 8, BAG_MOST_f32 = 8, BAG_MOST_f64 = 8, BAG_MOST_half = 8, BAG_MOST_wide = 8 };
enum { BAG_LANES_half = BAG_LANES_f32, BAG_LANES_wide = BAG_LANES_f64 };
enum { BAG_BYTES_f32 = 4, BAG_BYTES_f64 = 8, BAG_BYTES_half = 2, BAG_BYTES_bfloat = 2, BAG_BYTES_wide = 4 };

/* Sums of one kind are those of another. */
#define SAME(kind, of, VECTOR, ACC)                                                    \
  GATHER_INLINE VECTOR acc_##kind(const ACC *at) { return acc_##of(at); }              \
  GATHER_INLINE void keep_##kind(ACC *at, VECTOR v) { keep_##of(at, v); }              \
  GATHER_INLINE VECTOR every_##kind(ACC a) { return every_##of(a); }                   \
  GATHER_INLINE VECTOR plus_##kind(VECTOR a, VECTOR b) { return plus_##of(a, b); }     \
  GATHER_INLINE VECTOR times_##kind(VECTOR a, VECTOR b) { return times_##of(a, b); }   \
  GATHER_INLINE VECTOR divide_##kind(VECTOR a, VECTOR b) { return divide_##of(a, b); } \
  GATHER_INLINE VECTOR higher_##kind(VECTOR row, VECTOR acc) { return higher_##of(row, acc); }
SAME(half, f32, FLOATS, float)
#if !defined(BFLOATS) /* with vectors of its own */
#define BFLOATS FLOATS
enum { BAG_LANES_bfloat = BAG_LANES_f32, BAG_MOST_bfloat = 8 };
SAME(bfloat, f32, FLOATS, float)
#endif
SAME(wide, f64, DOUBLES, double)
#undef SAME

#define KIND f32
#define SLOT GATHER_BAG_FLOAT32
#define ACC float
#define VECTOR FLOATS
#include "core/kernel/bag_vector.tmpl.h"
#define KIND f64
#define SLOT GATHER_BAG_FLOAT64
#define ACC double
#define VECTOR DOUBLES
#include "core/kernel/bag_vector.tmpl.h"
#define KIND half
#define SLOT GATHER_BAG_HALF
#define ACC float
#define VECTOR FLOATS
#include "core/kernel/bag_vector.tmpl.h"
#define KIND bfloat
#define SLOT GATHER_BAG_BFLOAT
#define ACC float
#define VECTOR BFLOATS
#include "core/kernel/bag_vector.tmpl.h"
#undef BFLOATS
#define KIND wide
#define SLOT GATHER_BAG_WIDE
#define ACC double
#define VECTOR DOUBLES
#include "core/kernel/bag_vector.tmpl.h"

#define BAG_FOLDS(kind) \
  { sum_##kind, weighted_##kind, max_##kind }
/* Largest elements are exact in any numbers: those of steps and WIDE are their own types'. */
#define BAG_SLOTS                                                                                                        \
  {                                                                                                                      \
    {                                                                                                                    \
      [GATHER_BAG_FLOAT32] = BAG_FOLDS(f32), [GATHER_BAG_FLOAT64] = BAG_FOLDS(f64), [GATHER_BAG_HALF] = BAG_FOLDS(half), \
      [GATHER_BAG_BFLOAT] = BAG_FOLDS(bfloat), [GATHER_BAG_WIDE] = BAG_FOLDS(wide)                                       \
    }                                                                                                                    \
  }

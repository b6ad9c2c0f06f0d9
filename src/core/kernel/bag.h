/* SPDX-License-Identifier: MIT
 *
 * bag.h: kernels of embedding bags: rows that an index selects are summed, or their largest elements taken. They know element types. They
 * allocate nothing and read no byte outside the rows they were given.
 *
 * Every kernel gives the bits of the portable one (bag_portable.c): of each element ((w0 * r0) + w1 * r1) + ..., in the order of the rows,
 * each operation rounded, none fused. What is not a number may have any payload.
 */
#ifndef GATHER_KERNEL_BAG_H
#define GATHER_KERNEL_BAG_H

#include <stdbool.h>
#include <stdint.h>

/* Prefetches a line into L1: rows come soon, and all of their lines. Never faults. */
#if defined(__GNUC__)
#define BAG_PREFETCH(address) __builtin_prefetch((address), 0, 3)
#else
#define BAG_PREFETCH(address) ((void)(address))
#endif

/* What kernels sum: the types of integers in the order of gather_type, floats, and in which numbers. HALF and BFLOAT are summed in float32
 * and rounded once; in steps each product and each sum is rounded. WIDE: float32 in float64, likewise. */
enum {
  GATHER_BAG_INT8 = 0,
  GATHER_BAG_INT16,
  GATHER_BAG_INT32,
  GATHER_BAG_INT64,
  GATHER_BAG_UINT8,
  GATHER_BAG_UINT16,
  GATHER_BAG_UINT32,
  GATHER_BAG_UINT64,
  GATHER_BAG_FLOAT32,
  GATHER_BAG_FLOAT64,
  GATHER_BAG_HALF,
  GATHER_BAG_BFLOAT,
  GATHER_BAG_HALF_STEPS,
  GATHER_BAG_BFLOAT_STEPS,
  GATHER_BAG_WIDE,
  GATHER_BAG_KINDS
};

enum { GATHER_BAG_SUM = 0, GATHER_BAG_WEIGHTED, GATHER_BAG_MAX, GATHER_BAG_FOLDS };

/* The elements of a row that `acc` has room for, and what follows them. */
enum { GATHER_BAG_ACC = 4096, GATHER_BAG_ACC_MORE = 64 };

/* For each bag i in [0, bags): out + i * out_step = the fold of the next lens[i] of `rows`. Of a bag without rows nothing is written. */
typedef struct gather_bag_span {
  const char *table;   /* row 0; not aligned, as nothing else here */
  const int64_t *rows; /* numbers of rows, in range: of all bags, one after the other */
  const void
      *weights;      /* WEIGHTED: one for each of them, in the type of the sums: that of the elements, float for halves, double for WIDE */
  int64_t axis_step; /* bytes from one row of the table to the next */
  const int64_t *lens;
  int64_t bags, row_count; /* row_count: the sum of lens */
  char *out;
  int64_t out_step;
  int64_t len;           /* elements of a row, at least 1 */
  bool mean;             /* SUM: divided by the number of rows */
  int64_t more;          /* rows that follow those of the last bag and come next: they may be prefetched */
  int64_t prefetch_rows; /* the row that comes so many later is prefetched; 0 = none */
  /* A bag in several spans, each with this one bag, of at most GATHER_BAG_ACC elements. resume: acc has the fold so far. keep: it is left
   * there, and `out` is not written. `total`: its rows in all spans, for the mean; of others 0. */
  void *acc;
  bool resume, keep;
  int64_t total;
} gather_bag_span;

typedef void (*gather_bag_fn)(const gather_bag_span *span);

/* The slots of gather_isa; NULL = the kernel of a weaker instruction set. The portable one has all. */
typedef struct gather_bagging {
  gather_bag_fn fold[GATHER_BAG_KINDS][GATHER_BAG_FOLDS];
} gather_bagging;

extern const gather_bagging gather_bagging_portable, gather_bagging_avx2, gather_bagging_avx512, gather_bagging_neon;

#endif

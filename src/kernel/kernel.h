/* SPDX-License-Identifier: MIT
 *
 * kernel.h: what moves bytes. Kernels know row sizes and index widths; they know neither element types nor operators, and
 * they do not allocate, lock, or read a byte outside the rows they were given.
 */
#ifndef GATHER_KERNEL_KERNEL_H
#define GATHER_KERNEL_KERNEL_H

#include "base/compiler.h"
#include "gather/gather.h"

/* One run of the innermost loop: for j in [0, count)
 *     out[j * out_step ..] = data[j * data_step + row(indices[j * index_step]) * axis_step ..]   (row_bytes bytes)
 * All steps are in bytes and of either sign. */
typedef struct gather_span {
  const char *data;
  const char *indices;
  char *out;
  int64_t count;
  int64_t data_step, index_step, out_step;
  int64_t axis_step; /* from one row of the data to the next */
  int64_t axis_len;  /* negative indices count from here */
  int64_t row_bytes;
} gather_span;

/* Runs a span whose indices are all in [-axis_len, axis_len - 1]. */
typedef void (*gather_rows_fn)(const gather_span *span);

/* Rows by size: 1, 2, 4, 8, 16 bytes, any other up to 32, longer. */
enum { GATHER_ROW_CLASSES = 7, GATHER_INDEX_TYPES = 8 };

typedef struct gather_isa {
  const char *name;
  /* [index type - GATHER_TYPE_INT8][row class]; NULL = the kernel of the weaker instruction set */
  gather_rows_fn rows[GATHER_INDEX_TYPES][GATHER_ROW_CLASSES];
  const char *row_names[GATHER_ROW_CLASSES];
} gather_isa;

int gather_row_class(int64_t row_bytes);

/* The kernel for an index type and a row size, and its name ("rows_b4") and instruction set for people. */
gather_rows_fn gather_kernel_rows(gather_type index_type, int64_t row_bytes, const char **name, const char **isa);

/* CPU features, bits of the word gather_cpu_bits() returns. */
enum {
  GATHER_CPU_SSE42 = 1,
  GATHER_CPU_AVX2 = 2,
  GATHER_CPU_AVX512 = 4, /* F, BW, DQ and VL */
  GATHER_CPU_VBMI = 8,
  GATHER_CPU_NEON = 16,
  GATHER_CPU_SVE = 32
};
uint32_t gather_cpu_bits(void);

#endif

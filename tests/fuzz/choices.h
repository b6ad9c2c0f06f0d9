/* SPDX-License-Identifier: MIT
 *
 * choices.h: what a fuzzer chooses besides a file: options, indices, a tensor. They are the first FUZZ_CHOICES bytes of an input.
 */
#ifndef GATHER_TESTS_FUZZ_CHOICES_H
#define GATHER_TESTS_FUZZ_CHOICES_H

#include "gather/file.h"

enum { FUZZ_CHOICES = 32, FUZZ_INDICES = 24 };

typedef struct fuzz_choices {
  const uint8_t *bytes; /* FUZZ_CHOICES of them */
  int at;
} fuzz_choices;

/* The next choice, 0 <= it < count. */
int fuzz_choose(fuzz_choices *choices, int count);
/* Indices of any integer type, rank and byte order, most of them near [-len, len). Their memory is exact. */
typedef struct fuzz_indices {
  gather_tensor tensor;
  int64_t shape[GATHER_MAX_RANK];
  void *memory;
} fuzz_indices;
void fuzz_choose_indices(fuzz_choices *choices, int32_t rank, int64_t len, fuzz_indices *indices);
/* One of the tensors that can be read; NULL. */
const gather_file_tensor *fuzz_choose_tensor(fuzz_choices *choices, const gather_file *file);
/* An element to fill with, of any type. */
const void *fuzz_choose_fill(fuzz_choices *choices, const gather_tensor *data);

#endif

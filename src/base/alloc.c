/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdlib.h>

void *gather_alloc(int64_t bytes) {
  if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2) return NULL;
  return calloc(1, bytes ? (size_t)bytes : 1);
}

void gather_free(void *memory) { free(memory); }

/* SPDX-License-Identifier: MIT
 *
 * radix.c: the steps of radix.h for each size of element and width of index. Plain C: what bounds them is memory.
 */
#include "core/kernel/radix.h"

#include <string.h>

#include "core/kernel/copy.h"

#define INDEX uint32_t
#define ENTRY uint32_t
#define BYTES 1
#define SUFFIX 1_by_4
#include "core/kernel/radix.tmpl.h"

#define INDEX uint32_t
#define ENTRY uint32_t
#define BYTES 2
#define SUFFIX 2_by_4
#include "core/kernel/radix.tmpl.h"

#define INDEX uint32_t
#define ENTRY uint32_t
#define BYTES 4
#define SUFFIX 4_by_4
#include "core/kernel/radix.tmpl.h"

#define INDEX uint32_t
#define ENTRY uint64_t
#define BYTES 8
#define SUFFIX 8_by_4
#include "core/kernel/radix.tmpl.h"

#define INDEX uint64_t
#define ENTRY uint32_t
#define BYTES 1
#define SUFFIX 1_by_8
#include "core/kernel/radix.tmpl.h"

#define INDEX uint64_t
#define ENTRY uint32_t
#define BYTES 2
#define SUFFIX 2_by_8
#include "core/kernel/radix.tmpl.h"

#define INDEX uint64_t
#define ENTRY uint32_t
#define BYTES 4
#define SUFFIX 4_by_8
#include "core/kernel/radix.tmpl.h"

#define INDEX uint64_t
#define ENTRY uint64_t
#define BYTES 8
#define SUFFIX 8_by_8
#include "core/kernel/radix.tmpl.h"

const gather_radix_kernel *gather_kernel_radix(int width, int64_t row_bytes) {
  static const gather_radix_kernel *const KERNELS[2][4] = {{&kernel_1_by_4, &kernel_2_by_4, &kernel_4_by_4, &kernel_8_by_4},
                                                           {&kernel_1_by_8, &kernel_2_by_8, &kernel_4_by_8, &kernel_8_by_8}};
  for (int size = 0; size < 4; size++)
    if (row_bytes == (int64_t)1 << size) return KERNELS[width][size];
  return NULL;
}

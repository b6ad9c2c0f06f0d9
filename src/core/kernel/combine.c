/* SPDX-License-Identifier: MIT
 *
 * combine.c: chooses the kernels that combine, and the neutral numbers of the reductions.
 */
#include <string.h>

#include "core/kernel/combine.h"
#include "core/kernel/dispatch.h"

#define RETURN_COMBINING(slot) GATHER_RETURN_KERNEL_IF(gather_isa_rows[row].isa->combine, combine->slot)

/* Rows of no bytes. */
static void none_empty(const gather_combine_span *span) { (void)span; }

static gather_combine_fn replacing(int64_t bytes, const char **isa) {
  const int class = gather_row_class(bytes);
  RETURN_COMBINING(none[class]);
}

static gather_combine_fn reducing(gather_reduction reduction, gather_type type, int64_t len, const char **isa) {
  const int kernel = (int)(reduction == GATHER_REDUCTION_MEAN ? GATHER_REDUCTION_ADD : reduction) - 1, of = (int)type - 1;
  if (len == 1) {
    RETURN_COMBINING(elements[kernel][of]);
  }
  RETURN_COMBINING(rows[kernel][of]);
}

gather_combine_fn gather_kernel_combine(gather_reduction reduction, gather_type type, int64_t item_bytes, int64_t len, const char **isa) {
  const char *name;
  if (!isa) isa = &name;
  if (reduction != GATHER_REDUCTION_NONE) return reducing(reduction, type, len, isa);
  if (item_bytes > 0) return replacing(item_bytes * len, isa);
  *isa = "portable";
  return none_empty;
}

static bool has_wide(gather_type type) { return type >= GATHER_TYPE_FLOAT16 && type <= GATHER_TYPE_FLOAT32; }

const gather_wide *gather_kernel_wide(gather_type type) {
  if (!has_wide(type)) return NULL;
  for (int row = GATHER_ISA_ROWS - 1; row >= 0; row--) {
    const gather_combining *combine = gather_isa_rows[row].isa->combine;
    const gather_wide *wide = combine ? &combine->wide[type - GATHER_TYPE_FLOAT16] : NULL;
    if (wide && wide->load && (row == 0 || gather_isa_runs(row))) return wide;
  }
  return NULL;
}

gather_divide_fn gather_kernel_divide(gather_type type) {
  const char *name, **isa = &name;
  const int of = (int)type - 1;
  if (type > GATHER_TYPE_COMPLEX128) return NULL;
  RETURN_COMBINING(divide[of]);
}

/* ---- neutral numbers */

/* The bits of floats. */
typedef struct float_numbers {
  uint64_t one, infinite; /* the largest finite number is the one before infinity */
} float_numbers;

static float_numbers numbers_of(gather_type type) {
  switch (type) {
    case GATHER_TYPE_FLOAT16:
      return (float_numbers){0x3c00, 0x7c00};
    case GATHER_TYPE_BFLOAT16:
      return (float_numbers){0x3f80, 0x7f80};
    case GATHER_TYPE_FLOAT32:
    case GATHER_TYPE_COMPLEX64:
      return (float_numbers){0x3f800000, 0x7f800000};
    default: /* float64, complex128 */
      return (float_numbers){UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000000)};
  }
}

/* The bits of a neutral number of `bits` bits; of complex numbers those of the real part. */
static uint64_t neutral_bits(gather_reduction reduction, gather_type type, gather_kind kind, int bits, bool finite) {
  const uint64_t sign = UINT64_C(1) << (bits - 1), all = sign | (sign - 1);
  const bool floats = kind == GATHER_KIND_FLOAT || kind == GATHER_KIND_COMPLEX;
  const float_numbers f = numbers_of(type);
  switch (reduction) {
    case GATHER_REDUCTION_MUL:
      return floats ? f.one : 1;
    case GATHER_REDUCTION_MIN:
      if (kind == GATHER_KIND_BOOL) return 1;
      return floats ? f.infinite - finite : kind == GATHER_KIND_INT ? sign - 1 : all;
    case GATHER_REDUCTION_MAX:
      return floats ? sign | (f.infinite - finite) : kind == GATHER_KIND_INT ? sign : 0;
    default:
      return 0;
  }
}

void gather_neutral_number(gather_reduction reduction, gather_type type, bool finite, void *element) {
  const gather_type_info *info = gather_type_get(type);
  const int parts = info->kind == GATHER_KIND_COMPLEX ? 2 : 1, part_bits = info->bits / parts;
  const uint64_t eight = neutral_bits(reduction, type, info->kind, part_bits, finite);
  const uint32_t four = (uint32_t)eight;
  const uint16_t two = (uint16_t)eight;
  const uint8_t one = (uint8_t)eight;
  memset(element, 0, (size_t)info->bits / 8);
  memcpy(element,
         part_bits == 8    ? &one
         : part_bits == 16 ? (const void *)&two
         : part_bits == 32 ? (const void *)&four
                           : &eight,
         (size_t)part_bits / 8);
}

/* SPDX-License-Identifier: MIT
 *
 * dispatch.h: chooses kernels. For each slot of gather_isa, that of the strongest row of isa.def that has it, that the CPU supports and
 * that the tuning allows.
 */
#ifndef GATHER_KERNEL_DISPATCH_H
#define GATHER_KERNEL_DISPATCH_H

#include "core/kernel/kernel.h"
#include "core/kernel/tuning.h"

/* CPU features, bits of the word gather_cpu_bits() returns. */
enum {
  GATHER_CPU_SSE42 = 1,
  GATHER_CPU_AVX2 = 2,
  GATHER_CPU_AVX512 = 4, /* F, BW, DQ and VL */
  GATHER_CPU_VBMI = 8,
  GATHER_CPU_NEON = 16,
  GATHER_CPU_SVE = 32,
  GATHER_CPU_NONE = 1 << 29 /* no CPU has it: what instruction sets that this build does not have need */
};
uint32_t gather_cpu_bits(void);

/* The instruction sets by their row in isa.def, weakest first. Those that this build does not have, because the target is of another
 * CPU family or they were left out, run on no CPU. */
enum {
#define GATHER_ISA(name, NAME, features) GATHER_ISA_##name,
#include "core/kernel/isa.def"
#undef GATHER_ISA
  GATHER_ISA_ROWS
};
typedef struct gather_isa_row {
  const char *name;
  const gather_isa *isa;
  uint32_t features; /* that it needs */
} gather_isa_row;
extern const gather_isa_row gather_isa_rows[GATHER_ISA_ROWS];

/* Whether this build has its kernels. */
GATHER_INLINE bool gather_isa_is_built(int row) { return gather_isa_rows[row].features != GATHER_CPU_NONE; }
/* Whether a row is in use. */
GATHER_INLINE bool gather_isa_runs(int row) {
  return (gather_isa_rows[row].features & ~gather_cpu_bits()) == 0 && row <= gather_tuned(GATHER_TUNING_isa);
}

/* Returns the slot of the strongest instruction set in use that has it, and sets *isa to its name; NULL if none has. */
#define GATHER_RETURN_KERNEL_IF(has, slot)                                               \
  for (int row = GATHER_ISA_ROWS - 1; row >= 0; row--)                                   \
    if ((has) && gather_isa_rows[row].isa->slot && (row == 0 || gather_isa_runs(row))) { \
      *isa = gather_isa_rows[row].isa->name;                                             \
      return gather_isa_rows[row].isa->slot;                                             \
    }                                                                                    \
  return NULL
#define GATHER_RETURN_KERNEL(slot) GATHER_RETURN_KERNEL_IF(true, slot)
#define GATHER_RETURN_DECODER(slot) GATHER_RETURN_KERNEL_IF(gather_isa_rows[row].isa->decode, decode->slot)

/* ---- kernels that move rows. width: of their indices. */

GATHER_INLINE gather_rows_fn gather_kernel_rows(int width, int64_t row_bytes, const char **isa) {
  const int class = gather_row_class(row_bytes);
  GATHER_RETURN_KERNEL(rows[width][class]);
}

GATHER_INLINE gather_rows_fn gather_kernel_instruction(int width, int64_t row_bytes, const char **isa) {
  const int size = row_bytes == 8;
  if (row_bytes != 4 && row_bytes != 8) return NULL;
  GATHER_RETURN_KERNEL(gather_instruction[width][size]);
}

/* The instruction set with nontemporal_copy and fence; or NULL. */
GATHER_INLINE const gather_isa *gather_kernel_nontemporal_copy(void) {
  for (int row = GATHER_ISA_ROWS - 1; row >= 0; row--)
    if (gather_isa_rows[row].isa->nontemporal_copy && gather_isa_runs(row)) return gather_isa_rows[row].isa;
  return NULL;
}

/* ---- kernels of indices, by their type */

GATHER_INLINE int gather_index_log2_width(gather_type type) { return ((int)type - (int)GATHER_TYPE_INT8) % 4; }

GATHER_INLINE gather_within_fn gather_kernel_within(gather_type type) {
  const char *name, **isa = &name;
  const int width = gather_index_log2_width(type);
  GATHER_RETURN_KERNEL(within[width]);
}

GATHER_INLINE gather_narrow_indices_fn gather_kernel_narrow_indices(void) {
  const char *name, **isa = &name;
  GATHER_RETURN_KERNEL(narrow_indices);
}

GATHER_INLINE gather_fold_fn gather_kernel_fold(gather_type type) {
  const char *name, **isa = &name;
  const int width = gather_index_log2_width(type);
  GATHER_RETURN_KERNEL(fold[width]);
}

GATHER_INLINE gather_widen_fn gather_kernel_widen(gather_type type) {
  const char *name, **isa = &name;
  const int t = (int)type - (int)GATHER_TYPE_INT8;
  GATHER_RETURN_KERNEL(widen[t]);
}

/* ---- kernels that decode; NULL only for halves, and for blocks of codecs without blocks */

GATHER_INLINE gather_blocks_fn gather_kernel_blocks(gather_codec codec, int type, const char **isa) {
  GATHER_RETURN_DECODER(blocks[(int)codec][type]);
}

GATHER_INLINE gather_codes_fn gather_kernel_codes(int kind, int type, const char **isa) { GATHER_RETURN_DECODER(codes[kind][type]); }

GATHER_INLINE gather_narrow_fn gather_kernel_narrow(int type, const char **isa) { GATHER_RETURN_DECODER(narrow[type]); }

/* ---- embedding bags: never NULL */

GATHER_INLINE gather_bag_fn gather_kernel_bag(int kind, int fold, const char **isa) {
  GATHER_RETURN_KERNEL_IF(gather_isa_rows[row].isa->bag, bag->fold[kind][fold]);
}

/* ---- what the machine has, as public texts (gather_machine) */

const char *gather_cpu_features(void);
const char *gather_isa_name(void);

#endif

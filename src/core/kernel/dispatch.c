/* SPDX-License-Identifier: MIT
 *
 * dispatch.c: chooses the kernel. For each slot, the strongest row of isa.def that has it, that the CPU supports and
 * that the tuning allows.
 */
#include "core/kernel/kernel.h"
#include "core/kernel/tuning.h"

#define GATHER_ISA(name, features) extern const gather_isa gather_isa_##name;
#include "core/kernel/isa.def"
#undef GATHER_ISA

static const struct {
  const gather_isa *isa;
  uint32_t features;
} ISAS[] = {
#define GATHER_ISA(name, features) {&gather_isa_##name, features},
#include "core/kernel/isa.def"
#undef GATHER_ISA
};

enum { ISA_COUNT = sizeof ISAS / sizeof *ISAS };

int gather_row_class(int64_t row_bytes) {
  static const unsigned char CLASSES[65] = {0,  0,  1,  2,  3,  4,  4,  4,  5,  6,  6,  6,  6,  6,  6,  6,  7,
                                            8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  9,  10,
                                            10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
                                            10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11};
  return row_bytes <= 64 ? CLASSES[row_bytes] : GATHER_ROW_CLASSES - 1;
}

static bool runs_here(int i) {
  return (ISAS[i].features & ~gather_cpu_bits()) == 0 && i <= gather_tuned(GATHER_TUNING_isa);
}

/* The strongest instruction set that has the slot. */
#define FIND(slot)                                       \
  for (int i = ISA_COUNT - 1; i >= 0; i--)               \
    if (ISAS[i].isa->slot && (i == 0 || runs_here(i))) { \
      *isa = ISAS[i].isa->name;                          \
      return ISAS[i].isa->slot;                          \
    }                                                    \
  return NULL

gather_rows_fn gather_kernel_rows(int width, int64_t row_bytes, const char **isa) {
  int class = gather_row_class(row_bytes);
  FIND(rows[width][class]);
}

gather_rows_fn gather_kernel_instruction(int width, int64_t row_bytes, const char **isa) {
  int size = row_bytes == 8;
  if (row_bytes != 4 && row_bytes != 8) return NULL;
  FIND(gather_instruction[width][size]);
}

gather_rows_fn gather_kernel_instruction_rounds(int width, int64_t row_bytes, const char **isa) {
  int size = row_bytes == 8;
  if (row_bytes != 4 && row_bytes != 8) return NULL;
  FIND(gather_instruction_rounds[width][size]);
}

/* The strongest instruction set that has the slot for tables of this size. */
#define FIND_TABLE(slot, width)                                                                             \
  const int size = row_bytes == 1 ? 0 : row_bytes == 2 ? 1 : row_bytes == 4 ? 2 : 3;                        \
  if (row_bytes != (int64_t)1 << size) return NULL;                                                         \
  for (int i = ISA_COUNT - 1; i > 0; i--)                                                                   \
    if (ISAS[i].isa->slot[width][size] && table_bytes <= ISAS[i].isa->slot##_bytes[size] && runs_here(i)) { \
      *isa = ISAS[i].isa->name;                                                                             \
      return ISAS[i].isa->slot[width][size];                                                                \
    }                                                                                                       \
  return NULL

gather_rows_fn gather_kernel_table(int table_width, int64_t row_bytes, int64_t table_bytes, const char **isa) {
  FIND_TABLE(table, table_width);
}

gather_rows_fn gather_kernel_round_table(int width, int64_t row_bytes, int64_t table_bytes, const char **isa) {
  FIND_TABLE(round_table, width);
}

gather_rows_fn gather_kernel_nontemporal(int width, int64_t row_bytes, const char **isa) {
  int class = gather_row_class(row_bytes);
  FIND(nontemporal[width][class]);
}

gather_rows_fn gather_kernel_interleaved(int width, const char **isa) { FIND(interleaved[width]); }

static gather_rows_fn plain_runs(int width, const char **isa) { FIND(runs[width]); }
static gather_rows_fn nontemporal_runs(int width, const char **isa) { FIND(nontemporal_runs[width]); }

gather_rows_fn gather_kernel_runs(int width, bool nontemporal, const char **isa) {
  return nontemporal ? nontemporal_runs(width, isa) : plain_runs(width, isa);
}

gather_within_fn gather_kernel_within(gather_type type) {
  const char *name, **isa = &name;
  int log2_width = ((int)type - (int)GATHER_TYPE_INT8) % 4;
  FIND(within[log2_width]);
}

gather_fold_fn gather_kernel_fold(gather_type type) {
  const char *name, **isa = &name;
  int log2_width = ((int)type - (int)GATHER_TYPE_INT8) % 4;
  FIND(fold[log2_width]);
}

gather_widen_fn gather_kernel_widen(gather_type type) {
  const char *name, **isa = &name;
  int t = (int)type - (int)GATHER_TYPE_INT8;
  FIND(widen[t]);
}

gather_pick_fn gather_kernel_pick(int layout, const char **isa) { FIND(pick[layout]); }

/* The same for a slot of gather_decoding. */
#define FIND_DECODER(slot)                                                              \
  for (int i = ISA_COUNT - 1; i >= 0; i--)                                              \
    if (ISAS[i].isa->decode && ISAS[i].isa->decode->slot && (i == 0 || runs_here(i))) { \
      *isa = ISAS[i].isa->name;                                                         \
      return ISAS[i].isa->decode->slot;                                                 \
    }                                                                                   \
  return NULL

gather_blocks_fn gather_kernel_blocks(gather_codec codec, int type, const char **isa) {
  FIND_DECODER(blocks[(int)codec][type]);
}

gather_codes_fn gather_kernel_codes(int kind, int type, const char **isa) { FIND_DECODER(codes[kind][type]); }

gather_narrow_fn gather_kernel_narrow(int type, const char **isa) { FIND_DECODER(narrow[type]); }

gather_tuples_within_fn gather_kernel_tuples_within(int width, int32_t len) {
  const char *name, **isa = &name;
  FIND(tuples_within[width][len - 2]);
}

gather_tuples_fold_fn gather_kernel_tuples_fold(int width, int32_t len) {
  const char *name, **isa = &name;
  FIND(tuples_fold[width][len - 2]);
}

const gather_isa *gather_kernel_nontemporal_copy(void) {
  for (int i = ISA_COUNT - 1; i >= 0; i--)
    if (ISAS[i].isa->nontemporal_copy && runs_here(i)) return ISAS[i].isa;
  return NULL;
}

bool gather_kernel_vectors_nontemporal(void) {
  const gather_isa *isa = gather_kernel_nontemporal_copy();
  return isa && isa->vectors_nontemporal;
}

/* Rows of other CPU families are empty. */
static bool has_kernels(const gather_isa *isa) { return isa->fold[3] || isa->table[GATHER_TABLE_WIDTH_8][0]; }

const char *gather_isa_at(int i, bool *built, bool *runs) {
  if (i < 0 || i >= ISA_COUNT) return NULL;
  *built = has_kernels(ISAS[i].isa);
  *runs = *built && (ISAS[i].features & ~gather_cpu_bits()) == 0;
  return ISAS[i].isa->name;
}

const char *gather_isa_name(void) {
  int i = ISA_COUNT - 1;
  while (i > 0 && !(has_kernels(ISAS[i].isa) && runs_here(i))) i--;
  return ISAS[i].isa->name;
}

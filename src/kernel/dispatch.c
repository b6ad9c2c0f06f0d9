/* SPDX-License-Identifier: MIT
 *
 * dispatch.c: which kernel runs. One list, isa.def; the strongest row that the CPU has wins, slot by slot.
 */
#include "kernel/kernel.h"

#define GATHER_ISA(name, features) extern const gather_isa gather_isa_##name;
#include "kernel/isa.def"
#undef GATHER_ISA

static const struct {
  const gather_isa *isa;
  uint32_t features;
} ISAS[] = {
#define GATHER_ISA(name, features) {&gather_isa_##name, features},
#include "kernel/isa.def"
#undef GATHER_ISA
};

enum { ISA_COUNT = sizeof ISAS / sizeof *ISAS };

int gather_row_class(int64_t row_bytes) {
  switch (row_bytes) {
    case 1:
      return 0;
    case 2:
      return 1;
    case 4:
      return 2;
    case 8:
      return 3;
    case 16:
      return 4;
    default:
      return row_bytes <= 32 ? 5 : 6;
  }
}

static bool runs_here(int i) { return (ISAS[i].features & ~gather_cpu_bits()) == 0; }

gather_rows_fn gather_kernel_rows(gather_type index_type, int64_t row_bytes, const char **name, const char **isa) {
  int type = (int)index_type - (int)GATHER_TYPE_INT8, class = gather_row_class(row_bytes);
  int i = ISA_COUNT - 1;
  while (i > 0 && !(runs_here(i) && ISAS[i].isa->rows[type][class])) i--;
  *name = ISAS[i].isa->row_names[class];
  *isa = ISAS[i].isa->name;
  return ISAS[i].isa->rows[type][class];
}

const char *gather_isa_name(void) {
  int i = ISA_COUNT - 1;
  while (i > 0 && !runs_here(i)) i--;
  return ISAS[i].isa->name;
}

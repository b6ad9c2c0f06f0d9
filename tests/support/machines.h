/* SPDX-License-Identifier: MIT
 *
 * machines.h: makes the library run as it would on other machines and with larger tensors: every instruction set that this CPU
 * has, every variant of a plan, tables that count as in cache or out of it.
 */
#ifndef GATHER_TESTS_SUPPORT_MACHINES_H
#define GATHER_TESTS_SUPPORT_MACHINES_H

#include <stdio.h>

#include "core/kernel/dispatch.h"
#include "gather/gather.h"
#include "support/skip.h"

enum { MACHINE_ISAS = GATHER_ISA_ROWS, MACHINE_VARIANTS = 12, MACHINES = MACHINE_ISAS * MACHINE_VARIANTS * 2 };

/* The instruction sets by their row in isa.def: the name, NULL after the last; whether this build has its kernels, and whether the CPU
 * supports it. */
static inline const char *machine_isa_at(int i, bool *built, bool *runs) {
  if (i < 0 || i >= MACHINE_ISAS) return NULL;
  *built = gather_isa_is_built(i);
  *runs = *built && (gather_isa_rows[i].features & ~gather_cpu_bits()) == 0;
  return gather_isa_rows[i].name;
}

/* Whether this CPU can play machine number i. */
static inline bool machine_runs(int i) {
  bool built = false, runs = false;
  return machine_isa_at(i % MACHINE_ISAS, &built, &runs) && runs;
}

/* Instruction sets of this CPU's family that it lacks: each is a skip that is printed, or a failure where it is required. */
static inline int machine_skips(void) {
  int failed = 0;
  bool built = false, runs = false;
  for (int i = 0; i < MACHINE_ISAS; i++) {
    const char *name = machine_isa_at(i, &built, &runs);
    if (!built || runs) continue;
    printf("SKIPPED %s: this CPU has no %s\n", name, name);
    failed += gather_test_required(name);
  }
  return failed;
}

/* Machine number i; what it is stands in `text`. The last one of all is this one: machine_reset. */
static inline void machine_set(int i, char *text, size_t bytes) {
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {{"isa", i % MACHINE_ISAS},
                 {"variant", i / MACHINE_ISAS % MACHINE_VARIANTS - 1}, /* -1: a calibration run */
                 {"cache_bytes", i / MACHINE_ISAS / MACHINE_VARIANTS ? (int64_t)1 << 40 : 1},
                 {"nontemporal_bytes", 1},
                 {"calibration_bytes", 1},
                 {"prefetch_rows", 5},
                 {"prefetch_bytes", 200},
                 {"deferred_bytes", 1},
                 {"radix_bytes", 1},
                 {"radix_block", 4},
                 {"radix_ps", -1}};
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
    if (gather_tuning_set(numbers[n].name, numbers[n].value, NULL) != GATHER_OK) abort();
  snprintf(text, bytes, "%s, variant %d, tables %s", gather_isa_name(), i / MACHINE_ISAS % MACHINE_VARIANTS - 1,
           i / MACHINE_ISAS / MACHINE_VARIANTS ? "in cache" : "out of cache");
}

static inline void machine_reset(void) {
  for (int i = 0; gather_tuning_at(i); i++)
    if (gather_tuning_set(gather_tuning_at(i)->name, gather_tuning_at(i)->initial, NULL) != GATHER_OK) abort();
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * replay_machine.c: chance that is the same on every run, and the numbers that decide how a gather runs, with values that make small
 * gathers run as large ones do.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/rules/replay.h"

char replay_machine[512];

static uint64_t state;

/* splitmix64 */
static uint64_t bits(void) {
  uint64_t value = state += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

void replay_seed(uint64_t seed) { state = seed * 0xD1342543DE82EF95u + 1; }

int64_t replay_below(int64_t limit) { return (int64_t)(bits() % (uint64_t)limit); }

/* The values are a list with -2 at its end. */
enum { MOST = 16, END = -2 };
static const struct {
  const char *name;
  int64_t values[MOST];
} numbers[] = {
    {"variant", {-1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, END}},
    {"cache_bytes", {1, 100, 1 << 20, END}},
    {"prefetch_rows", {3, 128, END}},
    {"prefetch_bytes", {1, 8192, END}},
    {"nontemporal_bytes", {1, 1 << 20, END}},
    {"calibration_bytes", {1, 1, 1 << 20, END}},
    {"far_calibration", {0, 1, 8, END}},
    {"calibration_share", {0, 1, 16, END}},
    {"trial_bytes", {1, 512, 1 << 19, END}},
    {"prefetch_lines", {1, 4, 16, END}},
    {"interleaved_bytes", {64, 1024, END}},
    {"calibration_runs", {0, 1, 64, END}},
    {"task_bytes", {1, 64, 64, 1 << 18, END}},
    {"awake_task_bytes", {1, 64, 1 << 15, END}},
    {"spin_ns", {0, 50000, END}},
    {"thread_tasks", {0, 1, 32, END}},
    {"deferred_bytes", {0, 0, 1 << 18, END}},
    {"staged_bytes", {0, 1 << 24, 1 << 24, END}},
    {"gather_instruction_4", {-1, 0, 1, END}},
    {"gather_instruction_8", {-1, 0, 1, END}},
    {"radix_bytes", {1, 1 << 28, END}},
    {"radix_block", {1, 2, 3, 100, END}},
    {"radix_ps", {-1, -1, 4000, END}},
    {"table_join_bytes", {0, 100, 8192, END}},
    {"table_queues", {1, 2, 16, END}},
    {"scratch_bytes", {0, 1 << 20, 1 << 20, END}},
    {"scatter_method", {0, 1, 5, END}},
};

static void set(const char *name, int64_t value, size_t *length) {
  assert_int_equal(gather_tuning_set(name, value, NULL), GATHER_OK);
  const int added = snprintf(replay_machine + *length, sizeof replay_machine - *length, " %s=%" PRId64, name, value);
  if (added > 0 && *length + (size_t)added < sizeof replay_machine) *length += (size_t)added;
}

void replay_tune(int isa) {
  size_t length = 0;
  set("isa", isa, &length);
  for (size_t i = 0; i < COUNT(numbers); i++) {
    int64_t count = 0;
    while (numbers[i].values[count] != END) count++;
    set(numbers[i].name, numbers[i].values[replay_below(count)], &length);
  }
}

void replay_check_tuning(void) {
  for (int32_t row = 0; gather_tuning_at(row); row++) {
    const char *name = gather_tuning_at(row)->name;
    bool found = strcmp(name, "isa") == 0;
    for (size_t i = 0; i < COUNT(numbers); i++) found = found || strcmp(numbers[i].name, name) == 0;
    if (!found) fail_msg("replay_machine.c has no values for the tuning number %s", name);
  }
}

/* SPDX-License-Identifier: MIT
 *
 * measure.c: measures once whether the CPU's gather instruction is faster. CPUs of one instruction set differ: on some
 * it is slower than plain loads, on others a third faster, and in a virtual machine the name of the CPU does not tell.
 */
#include "core/plan/measure.h"

#include <string.h>

#include "core/kernel/kernel.h"
#include "core/kernel/tuning.h"
#include "core/system/clock.h"

/* Table, indices and output fit L1 together. A trial of four times 512 elements is about a microsecond, long enough for
 * the clock; an interruption of the thread does not hit twelve of them. */
enum { TABLE_BYTES = 8192, INDICES = 512, TRIALS = 12, REPEATS = 4 };

typedef struct {
  _Alignas(64) char table[TABLE_BYTES];
  _Alignas(64) uint32_t indices[INDICES];
  _Alignas(64) char out[INDICES * 8];
} scratch;

static int64_t run(gather_rows_fn rows, const gather_span *span) {
  int64_t start = gather_clock();
  for (int i = 0; i < REPEATS; i++) rows(span);
  return gather_clock() - start;
}

/* The best of several alternating trials; about ten microseconds in all. What another virtual machine does on the core disturbs one
 * kernel more than the other, so an eighth is the least gain that counts. */
static bool measure(gather_rows_fn plain, gather_rows_fn vector, int64_t bytes) {
  scratch s;
  memset(s.table, 1, sizeof s.table);
  uint32_t state = 1;
  for (int i = 0; i < INDICES; i++) {
    state = state * 1664525u + 1013904223u;
    s.indices[i] = (state >> 16) % (uint32_t)(TABLE_BYTES / bytes);
  }
  gather_span span = {.data = s.table,
                      .indices = (const char *)s.indices,
                      .out = s.out,
                      .count = INDICES,
                      .rounds = 1,
                      .index_step = 4,
                      .out_step = bytes,
                      .axis_step = bytes,
                      .row_bytes = bytes};
  int64_t best_plain = INT64_MAX, best_vector = INT64_MAX;
  for (int trial = 0; trial < TRIALS; trial++) {
    int64_t took = run(plain, &span);
    if (took < best_plain) best_plain = took;
    took = run(vector, &span);
    if (took < best_vector) best_vector = took;
  }
  return best_vector < best_plain - best_plain / 8;
}

bool gather_instruction_pays(int64_t row_bytes) {
  const int which = row_bytes == 4 ? GATHER_TUNING_gather_instruction_4 : GATHER_TUNING_gather_instruction_8;
  const int64_t tuned = gather_tuned(which);
  int64_t answer = tuned;
  if (answer < 0) {
    const char *isa;
    gather_rows_fn plain = gather_kernel_rows(GATHER_WIDTH_4, row_bytes, &isa);
    gather_rows_fn vector = gather_kernel_instruction(GATHER_WIDTH_4, row_bytes, &isa);
    /* Twice: a wrong answer would last as long as the process, and costs more than this. */
    const bool pays = vector && measure(plain, vector, row_bytes) && measure(plain, vector, row_bytes);
    answer = gather_tuned_keep(which, tuned, pays);
    if (answer < 0) answer = pays;
  }
  return answer > 0;
}

/* SPDX-License-Identifier: MIT
 *
 * One plan, run several times with other indices on a pool of threads: what a program does that gathers in a loop.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gather/gather.h"

static int fail(const char *what, const gather_error *error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  return 1;
}

int main(void) {
  enum { ROWS = 1000, COLUMNS = 16, STEPS = 3, PER_STEP = 4 };
  static int32_t table[ROWS][COLUMNS], rows[PER_STEP][COLUMNS];
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) table[i][j] = i * 100 + j;

  const int64_t table_shape[] = {ROWS, COLUMNS}, ids_shape[] = {PER_STEP};
  const gather_tensor data = {.type = GATHER_TYPE_INT32, .rank = 2, .shape = table_shape};
  const gather_tensor indices = {.type = GATHER_TYPE_INT32, .rank = 1, .shape = ids_shape};
  const gather_op *op = gather_op_find("Gather", "openvino-8");
  gather_plan *plan = NULL;
  gather_pool *pool = NULL;
  gather_error error;
  if (gather_plan_create(op, &data, &indices, NULL, NULL, &plan, &error) != GATHER_OK) return fail("plan", &error);
  if (gather_pool_create(0, &pool, &error) != GATHER_OK) {
    gather_plan_destroy(plan);
    return fail("pool", &error);
  }

  int status = 0;
  for (int32_t step = 0; step < STEPS && status == 0; step++) {
    const int32_t ids[PER_STEP] = {step, 500 + step, -1 - step, ROWS + step}; /* the last: OpenVINO 8 gives zeros */
    int64_t bad = 0;
    gather_run run = GATHER_RUN_INIT;
    run.data = table;
    run.indices = ids;
    run.out = rows;
    run.executor = gather_pool_executor(pool);
    run.bad_count = &bad;
    if (gather_plan_run(plan, &run, &error) != GATHER_OK) {
      status = fail("run", &error);
    } else {
      printf("step %" PRId32 ":", step);
      for (int i = 0; i < PER_STEP; i++) printf(" %" PRId32, rows[i][1]);
      printf(" (%" PRId64 " outside the table)\n", bad);
    }
  }
  gather_pool_destroy(pool);
  gather_plan_destroy(plan);
  return status;
}

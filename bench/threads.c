/* SPDX-License-Identifier: MIT
 *
 * threads.c: what a second thread of the built-in pool costs and gains on this machine: how long it takes to wake, and from which
 * size of the output on a gather on two threads is faster than on one. script/measure-threads builds and runs it.
 *
 * threads [--quick]
 */
#define _DEFAULT_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gather/gather.h"
#include "times.h"

enum { KIB = 1024, MOST_BYTES = 16 << 20, LEAST_BYTES = 16 * KIB, MOST_ROUNDS = 1001, LONGEST = 5000000 };

/* ---- waking */

typedef struct {
  atomic_int begun;
  _Atomic int64_t second; /* when the second task began; 0 = the second thread never came */
} meeting;

/* The first task waits for the second one, which therefore runs on another thread. */
static void meet(void *argument, int64_t i) {
  meeting *m = argument;
  (void)i;
  if (atomic_fetch_add(&m->begun, 1) == 1) atomic_store(&m->second, now());
  int64_t end = now() + LONGEST;
  while (!atomic_load(&m->second) && now() < end) {
  }
}

static void nothing(void *argument, int64_t i) { (void)argument, (void)i; }

/* Microseconds until the second thread has begun, and those of a call whose tasks do nothing, after so long without work. */
static void wake(const gather_executor *executor, int64_t idle_us, int rounds) {
  static double took[MOST_ROUNDS], empty[MOST_ROUNDS];
  const struct timespec idle = {.tv_sec = 0, .tv_nsec = (long)(idle_us * 1000)};
  int came = 0;
  for (int round = 0; round < rounds; round++) {
    meeting m = {0};
    if (idle_us) (void)nanosleep(&idle, NULL);
    int64_t start = now();
    executor->parallel_for(executor->context, 2, meet, &m);
    int64_t second = atomic_load(&m.second);
    if (second && second - start < LONGEST) took[came++] = (double)(second - start) / 1e3;
    if (idle_us) (void)nanosleep(&idle, NULL);
    start = now();
    executor->parallel_for(executor->context, 2, nothing, NULL);
    empty[round] = (double)(now() - start) / 1e3;
  }
  printf("idle %5lld us: ", (long long)idle_us);
  if (came)
    printf("the second thread begins after %.1f us (quartiles %.1f - %.1f)", quantile(took, came, 0.5), quantile(took, came, 0.25),
           quantile(took, came, 0.75));
  printf("%s in %d of %d calls; an empty call %.1f us\n", came ? "" : "it came", came, rounds, quantile(empty, rounds, 0.5));
}

/* ---- gains */

static void *take(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) exit(1);
  return memset(memory, 0, bytes);
}

static int64_t tuned(const char *name) {
  gather_error error;
  int64_t value;
  if (gather_tuning_get(name, &value, &error) != GATHER_OK) exit(1);
  return value;
}

static void tune(const char *name, int64_t value) {
  gather_error error;
  if (gather_tuning_set(name, value, &error) != GATHER_OK) exit(1);
}

static double timed(const gather_plan *plan, const gather_run *run, int calls) {
  gather_error error;
  int64_t start = now();
  for (int i = 0; i < calls; i++) {
    if (gather_plan_run(plan, run, &error) != GATHER_OK) exit(1);
  }
  return (double)(now() - start) / calls;
}

/* A plan that stays on one thread takes as long as one thread, give or take this. */
#define GAIN 1.05

enum { ONE, BOTH, CHOSEN, WAYS, TASKS = 4 };

/* Prints a ratio of the fastest rounds, which other programs disturb least, and the median of all with its quartiles. Returns the first. */
static double print_gain(const double *one, const double *two, int rounds) {
  static double ratios[MOST_ROUNDS];
  double least[2] = {one[0], two[0]};
  for (int round = 0; round < rounds; round++) {
    ratios[round] = one[round] / two[round];
    least[0] = one[round] < least[0] ? one[round] : least[0];
    least[1] = two[round] < least[1] ? two[round] : least[1];
  }
  double middle = quantile(ratios, rounds, 0.5), low = quantile(ratios, rounds, 0.25), high = quantile(ratios, rounds, 0.75);
  printf("   %5.2f  %5.2f (%5.2f - %5.2f)", least[0] / least[1], middle, low, high);
  return least[0] / least[1];
}

/* One size, in turns: one thread, two that are both at work, two as the plan decides. Returns what the
 * plan's decision gains. */
static double gain(const gather_executor *executor, int64_t row, int64_t table_bytes, int64_t bytes, int rounds) {
  static double took[WAYS][MOST_ROUNDS];
  const int64_t task_bytes = tuned("task_bytes"), awake_bytes = tuned("awake_task_bytes");
  const int64_t count = bytes / row, rows = table_bytes / row;
  const int64_t shape[2] = {rows, row}, index_shape[1] = {count}, out_shape[2] = {count, row};
  char *table = take((size_t)table_bytes), *out = take((size_t)bytes);
  int64_t *indices = take((size_t)count * sizeof *indices);
  uint64_t state = 88172645463325252u;
  for (int64_t i = 0; i < count; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    indices[i] = (int64_t)(state % (uint64_t)rows);
  }
  const gather_tensor tensors[3] = {{.data = table, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = shape},
                                    {.data = indices, .type = GATHER_TYPE_INT64, .rank = 1, .shape = index_shape},
                                    {.data = out, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = out_shape}};
  gather_plan *plan;
  gather_error error;
  if (gather_plan_create(gather_op_find("Gather", "onnx-13"), &tensors[0], &tensors[1], &tensors[2], NULL, &plan, &error) != GATHER_OK)
    exit(1);
  gather_run runs[WAYS];
  for (int way = 0; way < WAYS; way++) {
    runs[way] = (gather_run)GATHER_RUN_INIT;
    runs[way].data = table, runs[way].indices = indices, runs[way].out = out;
    runs[way].executor = way == ONE ? NULL : executor;
  }
  int calls = (int)(200000 / timed(plan, &runs[ONE], 3)) + 1;
  for (int round = 0; round < rounds; round++) {
    for (int way = 0; way < WAYS; way++) {
      tune("task_bytes", way == BOTH ? bytes / TASKS : task_bytes);
      tune("awake_task_bytes", way == BOTH ? bytes / TASKS : awake_bytes);
      took[way][round] = timed(plan, &runs[way], calls);
    }
  }
  tune("task_bytes", task_bytes), tune("awake_task_bytes", awake_bytes);
  printf("%6lld KiB", (long long)(bytes / KIB));
  (void)print_gain(took[ONE], took[BOTH], rounds);
  double gained = print_gain(took[ONE], took[CHOSEN], rounds);
  printf("   %.1f us\n", quantile(took[ONE], rounds, 0) / 1e3);
  gather_plan_destroy(plan);
  free(table), free(indices), free(out);
  return gained;
}

static void gains(const gather_executor *executor, int64_t row, int64_t table_bytes, int rounds) {
  int64_t from = 0;
  printf(
      "rows of %lld bytes by int64, table of %lld KiB, call after call; one thread / two: fastest rounds, median "
      "(quartiles)\n",
      (long long)row, (long long)(table_bytes / KIB));
  printf("    output   two at work                     as the plan decides             one thread, fastest\n");
  for (int64_t bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= 2) {
    bool gained = gain(executor, row, table_bytes, bytes, rounds) > GAIN;
    from = !gained ? 0 : from ? from : bytes;
  }
  if (from)
    printf("two threads gain from %lld KiB on\n", (long long)(from / KIB));
  else
    printf("two threads do not gain at the largest size\n");
}

int main(int argc, char **argv) {
  bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  if (argc > 2 || (argc == 2 && !quick)) {
    fprintf(stderr, "usage: threads [--quick]\n");
    return 2;
  }
  gather_pool *pool;
  gather_error error;
  if (gather_pool_create(2, &pool, &error) != GATHER_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const gather_executor *executor = gather_pool_executor(pool);
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  printf("thread pool %s, %d CPUs\n", machine.pool, (int)machine.cpus);
  for (int64_t idle = 0; idle <= 10000; idle = idle ? idle * 10 : 100) wake(executor, idle, quick ? 11 : 301);
  const int64_t rows[] = {4, 64, 1024};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) gains(executor, rows[i], 256 * KIB, quick ? 3 : 31);
  gather_pool_destroy(pool);
  return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * handover.c: how long it takes to hand work to a second thread, and from which length on it helps a cached gather. bench/threads_model.py
 * uses these times. Beside the built-in pool it measures the cheapest hand-over: a worker with a cache line for orders and one for
 * answers.
 *
 * handover [--quick]: prints JSON, times in microseconds. Each time is the median of calls that are timed one by one, in turns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gather/gather.h"
#include "times.h"

enum { LINES = 128 /* CPUs fetch lines in pairs */, MOST_ROUNDS = 4001, TABLE_LEN = 16384, MOST_WORKERS = 4 };

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() (void)0
#endif

static void *take(size_t bytes) {
  void *memory = aligned_alloc(LINES, (bytes + LINES - 1) / LINES * LINES);
  if (!memory) exit(1);
  return memset(memory, 0, bytes);
}

static void idle(int64_t ns) {
  for (const int64_t start = now(); now() - start < ns;) PAUSE();
}

/* ---- a worker that spins on its own line */

typedef struct {
  alignas(LINES) _Atomic uint32_t order; /* the caller's line: number of the job, UINT32_MAX = end */
  void (*job)(void *argument);
  void *argument;
  alignas(LINES) _Atomic uint32_t answer; /* the worker's line: number of the job that is done */
  alignas(LINES) uint32_t jobs;
} line_worker;

/* Spins. After some 100 us the other thread may need this CPU. */
static void relax(int *spins) {
  enum { MANY = 10000 };
  if (++*spins > MANY)
    (void)sched_yield();
  else
    PAUSE();
}

static void *serve(void *argument) {
  line_worker *w = argument;
  for (uint32_t last = 0;;) {
    uint32_t order = last;
    for (int spins = 0; (order = atomic_load_explicit(&w->order, memory_order_acquire)) == last;) relax(&spins);
    if (order == UINT32_MAX) return NULL;
    w->job(w->argument);
    last = order;
    atomic_store_explicit(&w->answer, order, memory_order_release);
  }
}

static void hand_over(line_worker *w, void (*job)(void *argument), void *argument) {
  w->job = job, w->argument = argument;
  atomic_store_explicit(&w->order, ++w->jobs, memory_order_release);
}

static void await(line_worker *w) {
  for (int spins = 0; atomic_load_explicit(&w->answer, memory_order_acquire) != w->jobs;) relax(&spins);
}

static void end_worker(line_worker *w, pthread_t thread) {
  atomic_store(&w->order, UINT32_MAX);
  (void)pthread_join(thread, NULL);
  w->jobs = 0, atomic_store(&w->order, 0), atomic_store(&w->answer, 0);
}

static void nothing(void *argument) { (void)argument; }

/* An empty job there and back. */
static double round_trip(line_worker *w, int rounds) {
  enum { REPEATS = 64 };
  static double took[MOST_ROUNDS];
  for (int round = 0; round < rounds; round++) {
    const int64_t start = now();
    for (int i = 0; i < REPEATS; i++) hand_over(w, nothing, NULL), await(w);
    took[round] = (double)(now() - start) / 1e3 / REPEATS;
  }
  return quantile(took, rounds, 0.5);
}

enum { LINE = 64, LINES_LEN = 4096 /* 256 KiB: in the writer's L2 */ };

static char *lines;
static volatile char last_read;

static void write_lines(void *argument) {
  for (int i = 0; i < LINES_LEN; i++) lines[i * LINE] = (char)(lines[i * LINE] + 1);
  (void)argument;
}

static void read_lines(void *argument) {
  char sum = 0;
  for (int i = 0; i < LINES_LEN; i++) sum = (char)(sum + lines[i * LINE]);
  last_read = sum;
  (void)argument;
}

static double timed_lines(void (*job)(void *argument)) {
  const int64_t start = now();
  job(NULL);
  return (double)(now() - start) / LINES_LEN;
}

/* Nanoseconds of a line: *reading it after the other thread has written it, and *writing it after the other thread has read it. */
static void move_lines(line_worker *w, int rounds, double *reading, double *writing) {
  static double took[2][MOST_ROUNDS];
  for (int round = 0; round < rounds; round++) {
    write_lines(NULL);
    hand_over(w, read_lines, NULL), await(w);
    took[1][round] = timed_lines(write_lines);
    hand_over(w, write_lines, NULL), await(w);
    took[0][round] = timed_lines(read_lines);
  }
  *reading = quantile(took[0], rounds, 0.5), *writing = quantile(took[1], rounds, 0.5);
}

/* ---- workers that sleep */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work;
  uint32_t job;
  bool stop;
  _Atomic int asleep;
  _Atomic int64_t begun; /* when the first one began */
} bed = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static void *doze(void *argument) {
  (void)argument;
  (void)pthread_mutex_lock(&bed.lock);
  for (uint32_t last = bed.job;;) {
    atomic_fetch_add(&bed.asleep, 1);
    while (!bed.stop && bed.job == last) (void)pthread_cond_wait(&bed.work, &bed.lock);
    if (bed.stop) break;
    last = bed.job;
    (void)pthread_mutex_unlock(&bed.lock);
    int64_t none = 0;
    (void)atomic_compare_exchange_strong(&bed.begun, &none, now());
    (void)pthread_mutex_lock(&bed.lock);
  }
  (void)pthread_mutex_unlock(&bed.lock);
  return NULL;
}

/* Wakes that many workers at once. *caller: what that takes of the caller's time; *begins: until the first worker begins. */
static void wake(int workers, int rounds, double *caller, double *begins) {
  static double cost[MOST_ROUNDS], began[MOST_ROUNDS];
  pthread_t threads[MOST_WORKERS];
  bed.stop = false, atomic_store(&bed.asleep, 0);
  for (int i = 0; i < workers; i++) {
    if (pthread_create(&threads[i], NULL, doze, NULL) != 0) exit(1);
  }
  for (int round = 0; round < rounds; round++) {
    const struct timespec while_ = {.tv_sec = 0, .tv_nsec = 200000};
    while (atomic_load(&bed.asleep) < workers) (void)nanosleep(&while_, NULL);
    idle(50000); /* they have gone to sleep, and the caller is at work, as between two calls */
    atomic_store(&bed.asleep, 0), atomic_store(&bed.begun, 0);
    const int64_t start = now();
    (void)pthread_mutex_lock(&bed.lock);
    bed.job++;
    (void)pthread_mutex_unlock(&bed.lock);
    (void)pthread_cond_broadcast(&bed.work);
    cost[round] = (double)(now() - start) / 1e3;
    for (int spins = 0; atomic_load(&bed.begun) == 0;) relax(&spins);
    began[round] = (double)(atomic_load(&bed.begun) - start) / 1e3;
  }
  (void)pthread_mutex_lock(&bed.lock);
  bed.stop = true;
  (void)pthread_cond_broadcast(&bed.work);
  (void)pthread_mutex_unlock(&bed.lock);
  for (int i = 0; i < workers; i++) (void)pthread_join(threads[i], NULL);
  *caller = quantile(cost, rounds, 0.5), *begins = quantile(began, rounds, 0.5);
}

/* ---- gathers of elements, table and output in the caches */

typedef struct {
  int64_t len;
  float *table, *out;
  int32_t *indices;
  gather_plan *plans[3]; /* whole, first half, second half */
  gather_run runs[3];
} work;

static void run_plan(const gather_plan *plan, const gather_run *run) {
  gather_error error;
  if (gather_plan_run(plan, run, &error) != GATHER_OK) exit(1);
}

static void run_second_half(void *argument) {
  const work *w = argument;
  run_plan(w->plans[2], &w->runs[2]);
}

static gather_plan *plan_of(float *table, int32_t *indices, float *out, int64_t len, gather_run *run) {
  const int64_t rows = TABLE_LEN;
  const gather_tensor tensors[3] = {{.data = table, .type = GATHER_TYPE_FLOAT32, .rank = 1, .shape = &rows},
                                    {.data = indices, .type = GATHER_TYPE_INT32, .rank = 1, .shape = &len},
                                    {.data = out, .type = GATHER_TYPE_FLOAT32, .rank = 1, .shape = &len}};
  gather_plan *plan;
  gather_error error;
  if (gather_plan_create(gather_op_find("Gather", "onnx-13"), &tensors[0], &tensors[1], &tensors[2], NULL, &plan, &error) != GATHER_OK)
    exit(1);
  *run = (gather_run)GATHER_RUN_INIT;
  run->data = table, run->indices = indices, run->out = out;
  return plan;
}

static work make_work(int64_t len) {
  work w = {.len = len, .table = take(TABLE_LEN * sizeof *w.table), .out = take((size_t)len * sizeof *w.out)};
  w.indices = take((size_t)len * sizeof *w.indices);
  uint64_t state = 88172645463325252u;
  for (int64_t i = 0; i < len; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    w.indices[i] = (int32_t)(state % TABLE_LEN);
  }
  const int64_t half = (len / 2 + 31) / 32 * 32; /* no two threads write the same lines */
  w.plans[0] = plan_of(w.table, w.indices, w.out, len, &w.runs[0]);
  w.plans[1] = plan_of(w.table, w.indices, w.out, half, &w.runs[1]);
  w.plans[2] = plan_of(w.table, w.indices + half, w.out + half, len - half, &w.runs[2]);
  return w;
}

static void free_work(work *w) {
  for (int i = 0; i < 3; i++) gather_plan_destroy(w->plans[i]);
  free(w->table), free(w->indices), free(w->out);
}

static void tune(const char *name, int64_t value) {
  gather_error error;
  if (gather_tuning_set(name, value, &error) != GATHER_OK) exit(1);
}

static int64_t tuned(const char *name) {
  gather_error error;
  int64_t value;
  if (gather_tuning_get(name, &value, &error) != GATHER_OK) exit(1);
  return value;
}

/* One thread, two by one line, two of the pool (awake, asleep), and as the library chooses. */
enum { ONE, BY_LINE, POOL, ASLEEP, CHOSEN, WAYS };
static const char *const way_names[WAYS] = {"one", "line", "pool", "asleep", "chosen"};

static float summed;

static void call(work *w, int way, line_worker *worker, const gather_executor *executor) {
  if (way == BY_LINE) {
    hand_over(worker, run_second_half, w);
    run_plan(w->plans[1], &w->runs[1]);
    await(worker);
  } else {
    w->runs[0].executor = way == ONE ? NULL : executor;
    run_plan(w->plans[0], &w->runs[0]);
  }
}

/* `fresh`: the caller writes the indices before a call and reads the output after it, within the time, as in a program. Otherwise the same
 * call is made again and again: each thread then has its part of everything in its own cache. */
static void time_ways(int64_t len, bool fresh, const gather_executor *executor, int blocks, double *times) {
  enum { CALLS = 40, WARM = 12 /* of them, not counted: the pool's workers wake only after some short calls in a row */, TASKS = 4 };
  static double took[WAYS][MOST_ROUNDS];
  work w = make_work(len);
  const int64_t all = len * 12, task = tuned("task_bytes"), awake = tuned("awake_task_bytes"), spin = tuned("spin_ns");
  line_worker worker = {0};
  int counts[WAYS] = {0};
  for (int block = 0; block < blocks; block++) {
    for (int way = 0; way < WAYS; way++) {
      pthread_t thread;
      const bool forced = way == POOL || way == ASLEEP;
      tune("task_bytes", forced ? all / TASKS : task), tune("awake_task_bytes", forced ? all / TASKS : awake);
      tune("spin_ns", way == ASLEEP ? 0 : spin);
      if (way == BY_LINE && pthread_create(&thread, NULL, serve, &worker) != 0) exit(1);
      for (int i = 0; i < CALLS; i++) {
        if (way == ASLEEP) idle(60000); /* the worker has fallen asleep */
        const int64_t start = now();
        if (fresh)
          for (int64_t k = 0; k < len; k++) w.indices[k] ^= 1;
        call(&w, way, &worker, executor);
        if (fresh)
          for (int64_t k = 0; k < len; k += 16) summed += w.out[k];
        const int64_t end = now();
        if (i >= WARM && counts[way] < MOST_ROUNDS) took[way][counts[way]++] = (double)(end - start) / 1e3;
      }
      if (way == BY_LINE) end_worker(&worker, thread);
    }
  }
  tune("task_bytes", task), tune("awake_task_bytes", awake), tune("spin_ns", spin);
  for (int way = 0; way < WAYS; way++) times[way] = quantile(took[way], counts[way], 0.5);
  free_work(&w);
}

/* Nanoseconds of an element on one thread, and of a call of 64 of them: the serial part of a call. */
static double ns_of(int64_t len, int blocks) {
  static double took[MOST_ROUNDS];
  work w = make_work(len);
  for (int round = 0; round < blocks; round++) {
    const int64_t start = now();
    for (int i = 0; i < 100; i++) run_plan(w.plans[0], &w.runs[0]);
    took[round] = (double)(now() - start) / 100;
  }
  free_work(&w);
  return quantile(took, blocks, 0.5);
}

static void print_times(const char *name, const double *times) {
  printf("\"%s\": {", name);
  for (int way = 0; way < WAYS; way++) printf("\"%s\": %.3f%s", way_names[way], times[way], way + 1 < WAYS ? ", " : "}");
}

static void short_calls(const gather_executor *executor, double element_ns, int blocks) {
  static const int lengths[] = {1, 2, 4, 8, 16, 32, 64, 128}; /* microseconds, about */
  const int count = sizeof lengths / sizeof *lengths;
  printf("\"short\": [\n");
  for (int i = 0; i < count; i++) {
    const int64_t len = (int64_t)(lengths[i] * 1e3 / element_ns) / 64 * 64;
    double same[WAYS], fresh[WAYS];
    time_ways(len, false, executor, blocks, same), time_ways(len, true, executor, blocks, fresh);
    printf("  {\"us\": %d, \"len\": %lld, ", lengths[i], (long long)len);
    print_times("same", same), printf(", "), print_times("fresh", fresh);
    printf("}%s\n", i + 1 < count ? "," : "]");
  }
}

int main(int argc, char **argv) {
  const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  if (argc > 2 || (argc == 2 && !quick)) {
    fprintf(stderr, "usage: handover [--quick]\n");
    return 2;
  }
  gather_pool *pool;
  gather_error error;
  if (gather_pool_create(2, &pool, &error) != GATHER_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const int rounds = quick ? 11 : 301, blocks = quick ? 1 : 25;
  static line_worker worker;
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, &worker) != 0) return 1;
  double back = round_trip(&worker, rounds);
  double reading, writing;
  lines = take((size_t)LINES_LEN * LINE);
  move_lines(&worker, rounds, &reading, &writing);
  free(lines);
  end_worker(&worker, thread);
  double caller[2], begins[2];
  wake(1, rounds, &caller[0], &begins[0]), wake(3, rounds, &caller[1], &begins[1]);
  const double element = ns_of(TABLE_LEN, rounds) / TABLE_LEN, least = ns_of(64, rounds);
  printf("{\"round_trip\": %.3f, \"wake\": %.2f, \"begins\": %.2f, \"wake_three\": %.2f,\n", back, caller[0], begins[0], caller[1]);
  printf("\"line_read_ns\": %.2f, \"line_write_ns\": %.2f, \"call\": %.4f,\n", reading, writing, (least - 64 * element) / 1e3);
  short_calls(gather_pool_executor(pool), element, blocks);
  /* A hypervisor may have moved the CPUs meanwhile. */
  if (pthread_create(&thread, NULL, serve, &worker) != 0) return 1;
  back = round_trip(&worker, rounds);
  end_worker(&worker, thread);
  printf(", \"round_trip_after\": %.3f}\n", back);
  gather_pool_destroy(pool);
  return summed == 0.5F;
}

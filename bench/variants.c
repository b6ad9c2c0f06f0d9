/* SPDX-License-Identifier: MIT
 *
 * variants.c: what each variant of a plan costs on this machine, one after the other in one process, with new indices each time. The
 * numbers of src/core/kernel/tuning.def were chosen by it; script/measure-variants builds and runs it.
 *
 * variants TABLE_KIB ROW_BYTES INDICES INDEX_BYTES THREADS PAGES ORDER STATE TIMES
 *     PAGES: huge or small; ORDER: random, dense, runs8, sorted, local or few; STATE: warm, or cold: indices and output are flushed
 *     from the caches before each run
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "gather/gather.h"

enum { HUGE = 2 << 20, MOST_PLANS = 16, MOST_TIMES = 101, TEXT = 1000 };

/* Nanoseconds. One thread: those that it had the CPU, so that other programs disturb less; more: those of the clock. */
static double now(int threads) {
  struct timespec t;
  (void)clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *take(size_t bytes, int huge) {
  char *memory = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  memory += (HUGE - (uintptr_t)memory % HUGE) % HUGE;
  if (madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) fprintf(stderr, "the pages were not advised\n");
  memset(memory, 1, bytes);
  return memory;
}

static void flush(const char *memory, int64_t bytes) {
#if defined(__x86_64__)
  for (int64_t at = 0; at < bytes; at += 64) _mm_clflush(memory + at);
  _mm_mfence();
#else
  (void)memory, (void)bytes;
#endif
}

static uint64_t drawn(void) {
  static uint64_t s = 88172645463325252u;
  s ^= s << 13, s ^= s >> 7, s ^= s << 17;
  return s;
}

static int64_t index_of(const char *order, int64_t i, int64_t count, int64_t rows, int64_t last) {
  if (strcmp(order, "dense") == 0) return i % rows;
  if (strcmp(order, "runs8") == 0) return i % 8 ? last + 1 : (int64_t)(drawn() % (uint64_t)(rows - 8));
  if (strcmp(order, "sorted") == 0) return (int64_t)((double)i / (double)count * (double)rows);
  if (strcmp(order, "local") == 0) return (i * 3 + (int64_t)(drawn() % 64)) % rows;
  if (strcmp(order, "few") == 0) return (int64_t)(drawn() % 1000) * (rows / 1000);
  return (int64_t)(drawn() % (uint64_t)rows);
}

static void draw(char *indices, int64_t index_bytes, const char *order, int64_t count, int64_t rows) {
  for (int64_t i = 0, row = 0; i < count; i++) {
    row = index_of(order, i, count, rows, row);
    int32_t narrow = (int32_t)row;
    if (index_bytes == 8)
      memcpy(indices + i * 8, &row, 8);
    else
      memcpy(indices + i * 4, &narrow, 4);
  }
}

static int rising(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* One plan per variant; the first one chooses by itself. Returns how many. */
static int make_plans(gather_plan **plans, char text[][TEXT], const gather_tensor tensors[3]) {
  int count = 0;
  for (int variant = -1; variant < MOST_PLANS - 1; variant++) {
    gather_error error;
    bool known = false;
    if (gather_tuning_set("variant", variant, &error) != GATHER_OK ||
        gather_plan_create(gather_op_find("Gather", "onnx-13"), &tensors[0], &tensors[1], &tensors[2], NULL, &plans[count], &error) !=
            GATHER_OK) {
      fprintf(stderr, "%s\n", error.message);
      exit(1);
    }
    gather_plan_print(plans[count], text[count], TEXT);
    for (int k = 1; k < count; k++) known |= strcmp(text[k], text[count]) == 0;
    if (known)
      gather_plan_destroy(plans[count]);
    else
      count++;
  }
  return count;
}

int main(int argc, char **argv) {
  if (argc != 10) return 2;
  const int64_t row = atoll(argv[2]), rows = atoll(argv[1]) * 1024 / row, count = atoll(argv[3]);
  const int64_t index_bytes = atoll(argv[4]);
  const int threads = atoi(argv[5]), huge = strcmp(argv[6], "huge") == 0, times = atoi(argv[9]);
  const bool cold = strcmp(argv[8], "cold") == 0;
  char *table = take((size_t)(row * rows), huge), *indices = take((size_t)(count * index_bytes), huge);
  char *out = take((size_t)(row * count), huge);
  const int64_t shape[2] = {rows, row}, index_shape[1] = {count}, out_shape[2] = {count, row};
  const gather_type index_type = index_bytes == 8 ? GATHER_TYPE_INT64 : GATHER_TYPE_INT32;
  const gather_tensor tensors[3] = {{.data = table, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = shape},
                                    {.data = indices, .type = index_type, .rank = 1, .shape = index_shape},
                                    {.data = out, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = out_shape}};
  static char text[MOST_PLANS][TEXT];
  static double took[2][MOST_PLANS][MOST_TIMES]; /* the output kept after an error, and not */
  gather_plan *plans[MOST_PLANS];
  gather_pool *pool = NULL;
  if (threads > 1 && gather_pool_create(threads, &pool, NULL) != GATHER_OK) return 1;
  const int variants = make_plans(plans, text, tensors);
  for (int t = 0; t < times && t < MOST_TIMES; t++)
    for (int w = 0; w < 2 * variants; w++) {
      gather_run run = GATHER_RUN_INIT;
      run.data = table, run.indices = indices, run.out = out, run.executor = gather_pool_executor(pool);
      run.fresh_output = w % 2;
      draw(indices, index_bytes, argv[7], count, rows);
      if (cold) flush(indices, count * index_bytes), flush(out, count * row);
      double start = now(threads);
      if (gather_plan_run(plans[w / 2], &run, NULL) != GATHER_OK) return 1;
      took[w % 2][w / 2][t] = (now(threads) - start) / (double)count;
    }
  printf("table %s KiB, rows of %s, %s indices of %s B, %s thread(s), %s pages, %s, %s\n", argv[1], argv[2], argv[3], argv[4], argv[5],
         argv[6], argv[7], argv[8]);
  for (int w = 0; w < variants; w++) {
    const char *name = strstr(text[w], "output of "), *kernel = name ? strchr(name, ';') : NULL;
    for (int fresh = 0; fresh < 2; fresh++) {
      qsort(took[fresh][w], (size_t)times, sizeof took[fresh][w][0], rising);
      printf("  %s%8.3f ns (least %.3f)", fresh ? "fresh " : "", took[fresh][w][times / 2], took[fresh][w][0]);
    }
    printf("  %s%s\n", w == 0 ? "as it chooses; first: " : "", kernel ? kernel + 2 : "");
    gather_plan_destroy(plans[w]);
  }
  gather_pool_destroy(pool);
  return 0;
}

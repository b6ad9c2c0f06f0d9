/* SPDX-License-Identifier: MIT
 *
 * packed.c: what packed elements cost, compared with as many bytes: all types in turns in one process, with new indices each time, from
 * tables of as many KiB. script/measure-packed builds and runs it; docs/extend/tuning.md has its figures.
 *
 * packed [TIMES [ISA [KIND]]]
 *     TIMES: of each measurement; ISA: the tuning parameter; KIND: only kinds whose name contains it
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gather/gather.h"

enum { HUGE = 2 << 20, MOST_TIMES = 101, TABLE = 256 << 20, MOST_INDICES = 1 << 20, MOST_OUT = 16 << 20 };

static const char *const TYPES[] = {"uint8", "uint1", "int2", "uint3", "int4", "uint6", "float6_e2m3fn"};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

/* One kind of gather: rows of `row` elements from a table of this size, or GatherElements along an axis of a shape. */
typedef struct {
  const char *name, *op;
  int64_t table_kib, row, count, index_bytes;
  int32_t axis;
  int64_t shape[3]; /* of GatherElements */
  int times;        /* runs of one measurement */
  bool far;         /* the table is larger than the caches */
} kind;

#define ROWS(name, kib, row, count, index_bytes, times) \
  { name, "Gather", kib, row, count, index_bytes, 0, {0}, times, (kib) > 65536 }
#define CELLS(name, axis, ...) \
  { name, "GatherElements", 0, 1, 0, 8, axis, {__VA_ARGS__}, 1, false }
static const kind KINDS[] = {
    ROWS("elements, L1, int64", 16, 1, 2048, 8, 16),
    ROWS("elements, L1, int32", 16, 1, 2048, 4, 16),
    ROWS("elements, L2, int64", 512, 1, 16384, 8, 2),
    ROWS("elements, L2, int32", 512, 1, 16384, 4, 2),
    ROWS("elements, memory, int64", TABLE / 1024, 1, 1 << 20, 8, 1),
    ROWS("rows of 3, L2", 512, 3, 16384, 8, 2),
    ROWS("rows of 33, L2", 512, 33, 4096, 8, 2),
    ROWS("rows of 33, memory", TABLE / 1024, 33, 1 << 18, 8, 1),
    ROWS("rows of 1001, L2", 512, 1001, 512, 8, 2),
    CELLS("GatherElements, last axis", 2, 8, 8, 1001),
    CELLS("GatherElements, last axis of 7", 2, 32, 256, 7),
    CELLS("GatherElements, middle axis", 1, 8, 64, 101),
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static char *table, *indices, *out;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char *take(size_t bytes) {
  char *memory = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  memory += (HUGE - (uintptr_t)memory % HUGE) % HUGE;
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) fprintf(stderr, "the pages were not advised\n");
  memset(memory, 0x5a, bytes);
  return memory;
}

static uint64_t drawn(void) {
  static uint64_t s = 88172645463325252u;
  s ^= s << 13, s ^= s >> 7, s ^= s << 17;
  return s;
}

static void draw(int64_t index_bytes, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = (int64_t)(drawn() % (uint64_t)rows);
    const int32_t narrow = (int32_t)row;
    if (index_bytes == 8)
      memcpy(indices + i * 8, &row, 8);
    else
      memcpy(indices + i * 4, &narrow, 4);
  }
}

/* A plan of one kind for one type; sets how many indices it has, and how many rows they select from. */
static gather_plan *create(const kind *k, const char *type_name, int64_t *count, int64_t *rows) {
  const gather_type_info *type = gather_type_get(gather_type_parse(type_name));
  const int64_t elements = k->table_kib * 1024 * 8 / type->bits;
  const bool cells = k->table_kib == 0;
  int64_t shape[2] = {elements / k->row, k->row}, index_shape[1] = {k->count}, out_shape[2] = {k->count, k->row};
  const int32_t rank = cells ? 3 : k->row > 1 ? 2 : 1;
  const gather_type index_type = k->index_bytes == 8 ? GATHER_TYPE_INT64 : GATHER_TYPE_INT32;
  const gather_tensor tensors[3] = {{.data = table, .type = type->type, .rank = rank, .shape = cells ? k->shape : shape},
                                    {.data = indices, .type = index_type, .rank = cells ? 3 : 1, .shape = cells ? k->shape : index_shape},
                                    {.data = out, .type = type->type, .rank = rank, .shape = cells ? k->shape : out_shape}};
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = k->axis;
  gather_plan *plan;
  gather_error error;
  if (gather_plan_create(gather_op_find(k->op, "onnx-13"), &tensors[0], &tensors[1], &tensors[2], &options, &plan, &error) != GATHER_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  *count = cells ? k->shape[0] * k->shape[1] * k->shape[2] : k->count;
  *rows = cells ? k->shape[k->axis] : shape[0];
  return plan;
}

static int rising(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

static double run_once(const gather_plan *plan, const kind *k, bool fresh, int64_t count) {
  gather_run run = GATHER_RUN_INIT;
  run.data = table, run.indices = indices, run.out = out, run.fresh_output = fresh;
  const double start = now();
  for (int t = 0; t < k->times; t++)
    if (gather_plan_run(plan, &run, NULL) != GATHER_OK) exit(1);
  return (now() - start) / k->times / (double)count;
}

/* Medians: the output kept after an error, and not. */
static void print(const char *type, double kept, double fresh, const double bytes[2]) {
  printf("  %-14s %8.3f ns, %5.2f of bytes; fresh output %8.3f ns, %5.2f of bytes\n", type, kept, kept / bytes[0], fresh, fresh / bytes[1]);
}

static void measure(const kind *k, int times) {
  static double took[TYPE_COUNT][2][MOST_TIMES];
  gather_plan *plans[TYPE_COUNT];
  int64_t count = 0, rows[TYPE_COUNT];
  for (int t = 0; t < TYPE_COUNT; t++) plans[t] = create(k, TYPES[t], &count, &rows[t]);
  for (int i = 0; i < times; i++)
    for (int t = 0; t < TYPE_COUNT; t++)
      for (int fresh = 0; fresh < 2; fresh++) {
        draw(k->index_bytes, count, rows[t]);
        if (!k->far) (void)run_once(plans[t], k, fresh, count); /* into the caches */
        took[t][fresh][i] = run_once(plans[t], k, fresh, count);
      }
  printf("%s\n", k->name);
  for (int t = 0; t < TYPE_COUNT; t++) {
    for (int fresh = 0; fresh < 2; fresh++) qsort(took[t][fresh], (size_t)times, sizeof took[t][fresh][0], rising);
    const double bytes[2] = {took[0][0][times / 2], took[0][1][times / 2]};
    print(TYPES[t], took[t][0][times / 2], took[t][1][times / 2], bytes);
    gather_plan_destroy(plans[t]);
  }
}

int main(int argc, char **argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 9;
  if (times < 1 || times > MOST_TIMES) return 2;
  if (argc > 2 && gather_tuning_set("isa", atoll(argv[2]), NULL) != GATHER_OK) return 2;
  table = take(TABLE), indices = take((size_t)MOST_INDICES * 8), out = take((size_t)MOST_OUT);
  for (int k = 0; k < KIND_COUNT; k++)
    if (argc < 4 || strstr(KINDS[k].name, argv[3])) measure(&KINDS[k], times);
  return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * test_changing.c: indices that are written while they are used, by another process through a mapped file and by another thread. Ten
 * thousand gathers in all: every policy, every width, every variant of the plans; nothing outside the table is read, and each row of
 * an output is one of the table. Elements say which row and column they are: 1 + row * columns + column.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "gather/table.h"
#include "support/unit.h"

#if defined(GATHER_TEST_TSAN)
#define THREADS_MAY_RACE 0 /* a thread that writes what another reads is what TSan reports */
#else
#define THREADS_MAY_RACE 1
#endif

enum { ROWS = 700, COLUMNS = 8, CELLS = ROWS * COLUMNS, MOST = 40000, BYTES = MOST * 16, GATHERS = 9400, TAKES = 600, PAIRS = 100 };
static const int64_t COUNTS[] = {1, 17, 64, 200, 200, 200, 200, 1500, 3000, 3000, 9000};
static const gather_type WIDTHS[] = {GATHER_TYPE_INT8,  GATHER_TYPE_INT16,  GATHER_TYPE_INT32,  GATHER_TYPE_INT64,
                                     GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};
static const gather_type ELEMENTS[] = {GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};

static uint64_t state = 88172645463325252u;

static uint64_t next_random(uint64_t *s) { return *s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17; }
static int64_t below(int64_t n) { return (int64_t)(next_random(&state) % (uint64_t)n); }
#define PICK(array) (array)[below((int64_t)COUNT(array))]

/* ---- who writes the indices */

typedef struct {
  _Atomic int64_t width, count; /* of the indices that are in use: the first bytes only are written */
  atomic_int stop;
  int64_t fill[7]; /* aligns what follows */
  char indices[BYTES];
} shared_memory;

static shared_memory *shared;

static void put(char *at, int64_t value, int64_t width) {
  if (width == 1)
    *(volatile int8_t *)at = (int8_t)value;
  else if (width == 2)
    *(volatile int16_t *)(void *)at = (int16_t)value;
  else if (width == 4)
    *(volatile int32_t *)(void *)at = (int32_t)value;
  else
    *(volatile int64_t *)(void *)at = value;
}

/* Mostly rows that there are, so that a gather does not end at the first one. */
static int64_t wild_index(uint64_t *s) {
  static const int64_t BAD[] = {ROWS, -ROWS - 1, ROWS + 1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 40, -1};
  uint64_t r = next_random(s);
  return r % 16 ? (int64_t)(r >> 8) % 100 : BAD[(r >> 8) % COUNT(BAD)];
}

/* parent: of a process that writes, which ends with it; 0 = none. */
static void write_indices(uint64_t seed, pid_t parent) {
  while (!atomic_load(&shared->stop) && (parent == 0 || getppid() == parent)) {
    int64_t width = atomic_load(&shared->width), count = atomic_load(&shared->count);
    int64_t at = (int64_t)(next_random(&seed) % (uint64_t)count);
    for (int64_t i = 0; i < 64; i++) {
      put(shared->indices + (at + i) % count * width, wild_index(&seed), width);
      if (seed % 4) put(shared->indices + (at + i) % count * width, (int64_t)(seed % 100), width); /* and soon good again */
    }
  }
}

static void *write_in_thread(void *unused) {
  write_indices(99, 0);
  return NULL;
}

/* ---- what is gathered */

typedef struct {
  gather_tensor data, indices, out;
  int64_t data_shape[3], data_strides[3], index_shape[2], index_strides[2], out_shape[3];
  int32_t out_rank;
  const gather_op *op;
  gather_options options;
  int64_t bad_count;
} gathering;

static unsigned char *table[9]; /* by the bytes of an element */
static unsigned char *out;
static const int64_t ONES = -1;

static uint64_t element_at(const unsigned char *at, int64_t bytes) {
  uint64_t value = 0;
  memcpy(GATHER_BIG_ENDIAN ? (unsigned char *)&value + 8 - bytes : (unsigned char *)&value, at, (size_t)bytes);
  return value;
}

static void make_tables(void) {
  for (size_t t = 0; t < COUNT(ELEMENTS); t++) {
    int64_t bytes = gather_type_get(ELEMENTS[t])->bits / 8;
    table[bytes] = malloc((size_t)(CELLS * bytes));
    assert_non_null(table[bytes]);
    for (int64_t i = 0; i < CELLS; i++) {
      uint64_t value = (uint64_t)i + 1;
      memcpy(table[bytes] + i * bytes, GATHER_BIG_ENDIAN ? (unsigned char *)&value + 8 - bytes : (unsigned char *)&value, (size_t)bytes);
    }
  }
}

/* Indices as they lie in the shared memory: dense, with gaps, or backwards; in either byte order. */
static void choose_indices(gathering *g, int64_t count, int64_t per_row) {
  gather_tensor *t = &g->indices;
  const int64_t width = gather_type_get(t->type = PICK(WIDTHS))->bits / 8, step = below(3) ? width : 2 * width;
  const bool back = below(4) == 0;
  t->data = shared->indices + (back ? (count * per_row - 1) * step : 0);
  t->rank = per_row > 1 ? 2 : 1, t->shape = g->index_shape;
  g->index_shape[0] = count, g->index_shape[1] = per_row;
  g->index_strides[t->rank - 1] = back ? -step : step;
  if (t->rank == 2) g->index_strides[0] = g->index_strides[1] * per_row;
  t->strides = step == width && !back && below(2) ? NULL : g->index_strides;
  t->flags = GATHER_TENSOR_SHARED | GATHER_TENSOR_READ_ONLY | (below(4) ? 0u : (unsigned)GATHER_TENSOR_BYTE_SWAPPED);
  atomic_store(&shared->width, width);
  atomic_store(&shared->count, count * per_row * step / width);
}

/* Rows by pairs: row 6 * i + j of the table, so that most of what is written is in range of both axes. */
static void choose_pairs(gathering *g) {
  const int64_t bytes = gather_type_get(g->data.type)->bits / 8, row = COLUMNS * bytes;
  g->op = op_of("GatherND", below(2) ? "onnx-13" : "openvino-5");
  g->data_shape[0] = g->data_shape[1] = PAIRS, g->data_shape[2] = COLUMNS;
  g->data_strides[0] = 6 * row, g->data_strides[1] = row, g->data_strides[2] = bytes;
  g->data.rank = 3, g->data.strides = g->data_strides;
}

/* Rows, columns (so that the indices are used for each row), single elements of a table, or rows by pairs. */
static void choose(gathering *g) {
  *g = (gathering){.options = GATHER_OPTIONS_INIT};
  const int64_t count = below(100) == 0 ? MOST / 2 : PICK(COUNTS), kind = below(4);
  const gather_type type = PICK(ELEMENTS);
  const int64_t bytes = gather_type_get(type)->bits / 8;
  g->op = kind == 2 ? op_of("GatherElements", "onnx-13") : op_of("Gather", below(2) ? "onnx-13" : "openvino-7");
  g->options.axis = kind == 1;
  g->options.on_bad = (gather_on_bad)(1 + below(6));
  g->options.fill = &ONES;
  g->options.fresh_output = below(2);
  g->options.bad_count = &g->bad_count;
  g->data_shape[0] = ROWS, g->data_shape[1] = COLUMNS;
  if (kind == 1) g->data_shape[0] = COLUMNS, g->data_shape[1] = ROWS;
  g->data = tensor_of(type, table[bytes], 2, g->data_shape);
  if (kind == 3) choose_pairs(g);
  choose_indices(g, kind == 2 ? count / COLUMNS + 1 : count, kind == 2 ? COLUMNS : kind == 3 ? 2 : 1);
  if (kind == 2 && g->index_shape[0] > ROWS) g->options.axis = 0;
  g->out = tensor_of(type, out, 2, g->out_shape);
  g->out_shape[0] = kind == 1 ? COLUMNS : g->index_shape[0];
  g->out_shape[1] = kind == 1 ? g->index_shape[0] : COLUMNS;
}

static void check_cells(const gathering *g) {
  const int64_t bytes = gather_type_get(g->out.type)->bits / 8;
  const uint64_t ones = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
  const bool columns = g->options.axis == 1;
  for (int64_t i = 0, k = 0; i < g->out_shape[0]; i++)
    for (int64_t j = 0; j < g->out_shape[1]; j++, k++) {
      const uint64_t value = element_at(out + k * bytes, bytes);
      if (value == 0 && g->options.on_bad == GATHER_ON_BAD_ZERO) continue;
      if (value == ones && g->options.on_bad == GATHER_ON_BAD_FILL) continue;
      if (value - 1 >= CELLS) fail_msg("%llu is no element of the table", (unsigned long long)value);
      if (columns)
        assert_int_equal((value - 1) / ROWS, i);
      else
        assert_int_equal((value - 1) % COLUMNS, j);
    }
}

static void check_error(const gathering *g, gather_status status, const gather_error *error) {
  assert_status(status, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(g->options.on_bad, GATHER_ON_BAD_ERROR);
  assert_true(error->bad_count >= 1 && error->bad_count <= gather_tensor_len(&g->indices));
  assert_true(error->value_is_unsigned ? (uint64_t)error->value > (uint64_t)error->high
                                       : error->value < error->low || error->value > error->high);
  for (int32_t d = 0; d < error->position_rank; d++) assert_true(error->position[d] >= 0 && error->position[d] < g->index_shape[d]);
}

static void gather_once(const gather_executor *executor) {
  gathering g;
  gather_error error;
  choose(&g);
  const size_t bytes = (size_t)gather_tensor_bytes(&g.out);
  if (below(2)) g.options.executor = executor;
  memset(out, 0xA5, bytes);
  gather_status status = gather_apply(g.op, &g.data, &g.indices, &g.out, &g.options, &error);
  if (status == GATHER_OK) {
    check_cells(&g);
    return;
  }
  check_error(&g, status, &error);
  for (size_t i = 0; !g.options.fresh_output && i < bytes; i++) assert_int_equal(out[i], 0xA5);
  /* A plan that checks only, on the same. */
  gather_plan *plan;
  gather_run run = GATHER_RUN_INIT;
  assert_status(gather_plan_create(g.op, &g.data, &g.indices, NULL, &g.options, &plan, NULL), GATHER_OK);
  run.indices = g.indices.data, run.executor = g.options.executor;
  status = gather_plan_check(plan, &run, &error);
  if (status != GATHER_OK) check_error(&g, status, &error);
  gather_plan_destroy(plan);
}

/* Numbers that let small gathers use the variants of large ones. */
static void tune(int64_t how) {
  static const struct {
    const char *name;
    int64_t small;
  } NUMBERS[] = {{"cache_bytes", 256}, {"nontemporal_bytes", 4096}, {"calibration_bytes", 4096},
                 {"task_bytes", 2048}, {"radix_bytes", 0},          {"radix_block", 512},
                 {"radix_ps", 0},      {"deferred_bytes", 512}};
  for (size_t i = 0; i < COUNT(NUMBERS); i++)
    for (int32_t t = 0; gather_tuning_at(t); t++)
      if (strcmp(gather_tuning_at(t)->name, NUMBERS[i].name) == 0)
        assert_status(gather_tuning_set(NUMBERS[i].name, how >> i & 1 ? NUMBERS[i].small : gather_tuning_at(t)->initial, NULL), GATHER_OK);
}

static void gathers(int count) {
  gather_pool *pool;
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  for (int i = 0; i < count; i++) {
    if (i % 20 == 0) tune(i % 3 ? below(256) : i % 2 ? 255 : 0);
    gather_once(gather_pool_executor(pool));
  }
  tune(0);
  gather_pool_destroy(pool);
}

/* ---- tables */

static void take_once(gather_table *from, const gather_executor *executor) {
  gathering g;
  gather_error error;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  do choose(&g);
  while (g.op->family != GATHER_FAMILY_GATHER || g.options.axis != 0 || g.data.type != GATHER_TYPE_UINT32);
  options.op = g.op, options.on_bad = g.options.on_bad, options.fill = &ONES;
  options.executor = below(2) ? executor : NULL;
  gather_status status = gather_table_take(from, &g.indices, &g.out, &options, &error);
  if (status == GATHER_OK)
    check_cells(&g);
  else
    check_error(&g, status, &error);
}

static void takes(int count) {
  char path[] = "/tmp/gather-changing-XXXXXX";
  static const int64_t SHAPE[] = {ROWS, COLUMNS};
  static const gather_raw RAW = {.type = "uint32", .rank = 2, .shape = SHAPE};
  gather_pool *pool;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  for (int64_t i = 0, cell = 1; i < CELLS; i++, cell++) {
    uint32_t little = (uint32_t)cell;
    unsigned char bytes[4] = {(unsigned char)little, (unsigned char)(little >> 8), (unsigned char)(little >> 16),
                              (unsigned char)(little >> 24)};
    assert_int_equal(write(fd, bytes, 4), 4);
  }
  assert_int_equal(close(fd), 0);
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  for (int engine = GATHER_ENGINE_AUTO; engine <= GATHER_ENGINE_PREAD && !GATHER_BIG_ENDIAN; engine++) {
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table *from;
    options.engine = (gather_engine)engine, options.raw = &RAW;
    options.memory_bytes = below(2) ? 0 : 2 * GATHER_TABLE_LEAST_MEMORY;
    assert_status(gather_table_open(path, &options, &from, NULL), GATHER_OK);
    for (int i = 0; i < count / 3; i++) take_once(from, gather_pool_executor(pool));
    gather_table_close(from);
  }
  gather_pool_destroy(pool);
  assert_int_equal(remove(path), 0);
}

/* ---- */

static void by_another_process(void **unused) {
  atomic_store(&shared->stop, 0);
  pid_t parent = getpid(), child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    write_indices(7, parent);
    _exit(0);
  }
  gathers(GATHERS / 2);
  takes(TAKES / 2);
  atomic_store(&shared->stop, 1);
  int answer;
  assert_int_equal(waitpid(child, &answer, 0), child);
  assert_true(WIFEXITED(answer) && WEXITSTATUS(answer) == 0);
}

static void by_another_thread(void **unused) {
  pthread_t thread;
  if (!THREADS_MAY_RACE) return;
  atomic_store(&shared->stop, 0);
  assert_int_equal(pthread_create(&thread, NULL, write_in_thread, NULL), 0);
  gathers(GATHERS / 2);
  takes(TAKES / 2);
  atomic_store(&shared->stop, 1);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_another_process), cmocka_unit_test(by_another_thread)};
  char path[] = "/tmp/gather-changing-XXXXXX";
  const char *seed = getenv("GATHER_TEST_SEED");
  if (seed) state += strtoull(seed, NULL, 10) * 2654435761u;
  int fd = mkstemp(path);
  if (fd < 0 || unlink(path) != 0 || ftruncate(fd, sizeof *shared) != 0) return 1;
  void *mapped = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return 1;
  shared = mapped;
  atomic_store(&shared->width, 8), atomic_store(&shared->count, 1);
  out = malloc((size_t)MOST * COLUMNS * 8);
  if (!out) return 1;
  make_tables();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (size_t t = 0; t < COUNT(table); t++) free(table[t]);
  free(out);
  return failed;
}

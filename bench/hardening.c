/* SPDX-License-Identifier: MIT
 *
 * hardening.c: what hardening costs: two builds of the library in one process, in turns, on the same tables and indices; and the start
 * of the two commands. script/measure-hardening builds and runs it; docs/extend/releases.md has its figures.
 *
 * hardening HARDENED PLAIN ROUNDS: folders of builds
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "gather/codec.h"
#include "gather/file.h"
#include "gather/gather.h"

enum { HARDENED, PLAIN, KINDS, MOST_ROUNDS = 1001, TABLE = 4 << 20, MOST_INDICES = 1 << 20 };

/* The functions of one build. */
#define FUNCTIONS(X)       \
  X(gather_take)           \
  X(gather_take_quantized) \
  X(gather_op_find)        \
  X(gather_plan_create)    \
  X(gather_plan_run)       \
  X(gather_tuning_set)     \
  X(gather_file_open)      \
  X(gather_file_close)
#define MEMBER(name) __typeof__(name) *name;
typedef struct {
  FUNCTIONS(MEMBER)
  const char *command;
  gather_plan *plan;
} build;

static unsigned char table[TABLE];
static char out[4 << 20];
static int32_t indices[MOST_INDICES];
static char file_name[] = "/tmp/gather-hardening-XXXXXX";

static void must(bool right, const char *what) {
  if (right) return;
  fprintf(stderr, "hardening: %s\n", what);
  exit(1);
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  must(found != NULL, dlerror());
  return found;
}

/* RTLD_LOCAL: the two libraries have the same names, and each calls its own. */
static build open_build(const char *folder) {
  static char command[KINDS][4096];
  static int next;
  char path[4096];
  build b = {0};
  snprintf(path, sizeof path, "%s/lib/libgather.so", folder);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  must(library != NULL, dlerror());
#define FIND(name) *(void **)&b.name = symbol(library, #name);
  FUNCTIONS(FIND)
  snprintf(command[next], sizeof *command, "%s/bin/gather", folder);
  b.command = command[next++];
  /* Both take the same variant, whatever a calibration run would find. */
  must(b.gather_tuning_set("calibration_bytes", INT64_MAX, NULL) == GATHER_OK, "calibration runs could not be turned off");
  return b;
}

/* ---- what is measured ---- */

static gather_tensor tensor(gather_type type, void *data, const int64_t *shape, int32_t rank) {
  return (gather_tensor){.data = data, .type = type, .rank = rank, .shape = shape};
}

/* `count` rows of `row` float32 numbers from a table of `bytes`, by gather_take, or by the plan of the build. */
static void take(build *b, int64_t bytes, int64_t row, int64_t count, bool planned) {
  const int64_t shape[] = {bytes / (4 * row), row}, ids[] = {count}, result[] = {count, row};
  const gather_tensor data = tensor(GATHER_TYPE_FLOAT32, table, shape, 2), index = tensor(GATHER_TYPE_INT32, indices, ids, 1);
  const gather_tensor to = tensor(GATHER_TYPE_FLOAT32, out, result, 2);
  gather_run run = GATHER_RUN_INIT;
  run.data = table, run.indices = indices, run.out = out;
  if (!planned)
    must(b->gather_take(&data, &index, 0, &to, NULL) == GATHER_OK, "gather_take failed");
  else if (b->plan == NULL)
    must(b->gather_plan_create(b->gather_op_find("Gather", "onnx-13"), &data, &index, &to, NULL, &b->plan, NULL) == GATHER_OK,
         "gather_plan_create failed");
  if (planned) must(b->gather_plan_run(b->plan, &run, NULL) == GATHER_OK, "gather_plan_run failed");
}

static void small_take(build *b) { take(b, 4096, 4, 4, false); }
static void small_plan(build *b) { take(b, 4096, 4, 4, true); }
static void cached_rows(build *b) { take(b, 256 << 10, 16, 4096, false); }
static void elements(build *b) { take(b, TABLE, 1, MOST_INDICES, false); }

/* 512 rows of 256 weights: blocks of 18 bytes, 32 weights each. */
static void quantised(build *b) {
  enum { ROWS = 4096, ROW = 8 * 18, COUNT = 512 };
  static const int64_t shape[] = {ROWS, ROW}, ids[] = {COUNT}, result[] = {COUNT, 256};
  const gather_tensor data = tensor(GATHER_TYPE_UINT8, table, shape, 2), index = tensor(GATHER_TYPE_INT32, indices, ids, 1);
  const gather_tensor to = tensor(GATHER_TYPE_FLOAT32, out, result, 2);
  gather_quantized q = GATHER_QUANTIZED_INIT;
  q.codec = GATHER_CODEC_Q4_0, q.data = &data;
  must(b->gather_take_quantized(b->gather_op_find("Gather", "onnx-13"), &q, &index, &to, NULL, NULL) == GATHER_OK,
       "gather_take_quantized failed");
}

static void open_file(build *b) {
  gather_file *file = NULL;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = file_name;
  must(b->gather_file_open(&source, &file, NULL) == GATHER_OK, "gather_file_open failed");
  b->gather_file_close(file);
}

static void start_command(build *b) {
  char *arguments[] = {(char *)b->command, "--version", NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0); /* O_WRONLY */
  must(posix_spawn(&child, b->command, &actions, NULL, arguments, environ) == 0, "the command could not be started");
  posix_spawn_file_actions_destroy(&actions);
  must(waitpid(child, &status, 0) == child && status == 0, "the command failed");
}

static const struct {
  const char *name;
  void (*run)(build *);
  int64_t rows; /* that the indices are drawn from */
  int times;    /* runs of one measurement */
} CASES[] = {
    {"`gather_take`, 4 rows of 16 bytes", small_take, 256, 2000},
    {"a plan's run, 4 rows of 16 bytes", small_plan, 256, 5000},
    {"4096 rows of 64 bytes, table in L2", cached_rows, 4096, 20},
    {"1048576 elements of 4 bytes, table of 4 MiB", elements, TABLE / 4, 1},
    {"512 rows of 256 weights (Q4_0), decoded", quantised, 4096, 10},
    {"an `.npy` file, opened and closed", open_file, 1, 50},
    {"`gather --version`, the whole process", start_command, 1, 1},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

/* ---- measuring ---- */

static uint64_t noise(void) {
  static uint64_t s = 88172645463325252u;
  s ^= s << 13, s ^= s >> 7, s ^= s << 17;
  return s;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double once(build *b, int i) {
  CASES[i].run(b); /* the other build's traces in the caches are nobody's cost */
  const double start = now();
  for (int t = 0; t < CASES[i].times; t++) CASES[i].run(b);
  return (now() - start) / CASES[i].times;
}

static int rising(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

static double quantile(double *sorted, int count, double part) { return sorted[(int)(part * (count - 1) + 0.5)]; }

static void measure(build builds[KINDS], int i, int rounds) {
  static double took[KINDS][MOST_ROUNDS], ratios[MOST_ROUNDS];
  for (int r = 0; r < rounds; r++) {
    for (int k = 0; k < MOST_INDICES; k++) indices[k] = (int32_t)(noise() % (uint64_t)CASES[i].rows);
    for (int k = 0; k < KINDS; k++) {
      const int which = (r + k) % KINDS;
      took[which][r] = once(&builds[which], i);
    }
    ratios[r] = took[HARDENED][r] / took[PLAIN][r];
  }
  qsort(ratios, (size_t)rounds, sizeof *ratios, rising);
  for (int k = 0; k < KINDS; k++) qsort(took[k], (size_t)rounds, sizeof **took, rising);
  printf("| %s | %.0f ns | %.0f ns | %.3f (%.3f to %.3f) |\n", CASES[i].name, quantile(took[HARDENED], rounds, 0.5),
         quantile(took[PLAIN], rounds, 0.5), quantile(ratios, rounds, 0.5), quantile(ratios, rounds, 0.25), quantile(ratios, rounds, 0.75));
}

/* An .npy file of one number. */
static void write_file(void) {
  char text[128 + 4] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  size_t length = 10 + strlen(text + 10);
  memset(text + length, ' ', 127 - length);
  text[127] = '\n';
  const int file = mkstemp(file_name);
  must(file >= 0, "no file could be written");
  FILE *stream = fdopen(file, "wb");
  must(stream != NULL && fwrite(text, 1, sizeof text, stream) == sizeof text && fclose(stream) == 0, "no file could be written");
}

int main(int argc, char **argv) {
  must(argc == 4, "usage: hardening HARDENED PLAIN ROUNDS");
  const int rounds = atoi(argv[3]);
  must(rounds > 0 && rounds <= MOST_ROUNDS, "1 to 1001 rounds");
  build builds[KINDS] = {open_build(argv[1]), open_build(argv[2])};
  must(builds[HARDENED].gather_take != builds[PLAIN].gather_take, "both are the same library");
  for (int i = 0; i < TABLE; i++) table[i] = (unsigned char)(noise() % 60); /* small float16 scales, no infinities */
  write_file();
  for (int i = 0; i < CASE_COUNT; i++) measure(builds, i, rounds);
  return remove(file_name);
}

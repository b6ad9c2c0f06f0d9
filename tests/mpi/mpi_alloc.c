/* SPDX-License-Identifier: MIT
 *
 * mpi_alloc FOLDER: rank 1 has no memory: each allocation of libgather_mpi fails once there. Every rank must return the same error, or
 * right rows; the next take must be right. The library's sources are linked into this program with --wrap, so that only their own
 * allocations fail. Prints a line for each kind of plan: how many allocations failed, and how many of these were errors.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather/mpi.h"
#include "mpi/mpi_part.h"
#include "mpi/mpi_random.h"
#include "support/wrapped.h"

enum { ROWS = 40, WIDTH = 6, MOST_IDS = 300, TAKES = 3, MOST_RANKS = 8 };

/* ---- allocations ---------------------------------------------------------------------------------------------------------- */

static int64_t until_failure; /* how many may succeed; below 0 = all */
static bool failed_here;

static bool fails(void) {
  if (until_failure < 0 || until_failure-- > 0) return false;
  return failed_here = true; /* and until_failure is -1: once */
}

WRAPPED(void *, malloc, (size_t bytes)) { return fails() ? NULL : REAL(malloc)(bytes); }
WRAPPED(void *, calloc, (size_t count, size_t bytes)) { return fails() ? NULL : REAL(calloc)(count, bytes); }

/* ---- plans ------------------------------------------------------------------------------------------------------------------ */

static int rank, ranks;
static const char *folder;
static float table[ROWS * MOST_RANKS][WIDTH], part[ROWS][WIDTH], out[MOST_IDS][WIDTH];
static int64_t ids[MOST_IDS];
static int64_t part_shape[2] = {ROWS, WIDTH}, splits[MOST_RANKS + 1];

#define EXPECT(condition, ...)                            \
  do {                                                    \
    if (!(condition)) {                                   \
      fprintf(stderr, "rank %d: %s: ", rank, #condition); \
      fprintf(stderr, __VA_ARGS__);                       \
      fprintf(stderr, "\n");                              \
      MPI_Abort(MPI_COMM_WORLD, 1);                       \
    }                                                     \
  } while (0)

typedef struct kind {
  const char *name;
  gather_mpi_layout layout;
  bool hot, filled, file;
} kind;

static const kind kinds[] = {{"blocks", GATHER_MPI_BLOCKS, false, false, false},
                             {"splits, hot rows, fill", GATHER_MPI_SPLITS, true, true, false},
                             {"stripes, hot rows", GATHER_MPI_STRIPES, true, false, false},
                             {"files", GATHER_MPI_BLOCKS, false, false, true},
                             {"same", GATHER_MPI_SAME, false, true, false}};

static void own_rows(const kind *k) {
  for (int i = 0; i < ROWS; i++)
    memcpy(part[i], table[k->layout == GATHER_MPI_STRIPES ? i * ranks + rank : rank * ROWS + i], sizeof part[i]);
}

static gather_table *open_part(void) {
  const gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  char path[512];
  snprintf(path, sizeof path, "%s/part%d", folder, rank);
  return mpi_part_open(path, part, sizeof part, part_shape, &options);
}

/* The same result on every rank, and either rows or the error of rank 1. Returns whether it is an error. */
static bool check_status(gather_status status, const gather_error *error, int32_t failed_rank) {
  int mine[2] = {(int)status, failed_rank}, all[2 * MOST_RANKS];
  MPI_Request request;
  MPI_Iallgather(mine, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD, &request);
  patient_wait(&request);
  for (int p = 0; p < ranks; p++)
    EXPECT(all[2 * p] == mine[0] && all[2 * p + 1] == mine[1], "rank %d has status %d of rank %d, this one %d of %d", p, all[2 * p],
           all[2 * p + 1], mine[0], mine[1]);
  if (status == GATHER_OK) return false;
  EXPECT(status == GATHER_OUT_OF_MEMORY && failed_rank == 1 && strncmp(error->message, "rank 1: out of memory", 21) == 0,
         "status %d of rank %d: %s", (int)status, failed_rank, error->message);
  return true;
}

/* A take; larger ones need more memory. */
static bool take(gather_mpi_plan *plan, const kind *k, int number, const int32_t *failed) {
  const int64_t len = MOST_IDS * (number + 1) / TAKES, ids_shape[1] = {len}, out_shape[2] = {len, WIDTH};
  const int64_t total = ROWS * (k->layout == GATHER_MPI_SAME ? 1 : ranks);
  for (int64_t i = 0; i < len; i++) ids[i] = (i * (i % 3 ? 1 : 7) + rank + number) % total;
  if (k->filled) ids[5] = total; /* out of range: zeros */
  memset(out, 0x55, sizeof out);
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  const gather_tensor rows = {.data = out, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = out_shape};
  gather_error error;
  const gather_status status = gather_mpi_take(plan, &indices, &rows, &error);
  if (check_status(status, &error, *failed)) return true;
  static const float zeros[WIDTH];
  for (int64_t i = 0; i < len; i++) {
    const float *wanted = ids[i] == total ? zeros : table[ids[i]];
    EXPECT(memcmp(out[i], wanted, sizeof out[i]) == 0, "%s, take %d: row %" PRId64 " is wrong", k->name, number, i);
  }
  return false;
}

/* A plan and its takes while allocation `n` fails on rank 1. Returns whether there was such an allocation; *errors counts. */
static bool run(const kind *k, int64_t n, gather_table *opened, int64_t *errors) {
  int32_t failed = -1;
  gather_mpi_options options = GATHER_MPI_OPTIONS_INIT;
  options.layout = k->layout;
  options.seconds = 60;
  options.failed_rank = &failed;
  options.hot_rows = k->hot ? 8 : 0;
  options.on_bad = k->filled ? GATHER_ON_BAD_ZERO : GATHER_ON_BAD_DEFAULT;
  options.splits = splits;
  options.rounds = 2;
  options.table = opened;
  const gather_tensor mine = {
      .data = k->layout == GATHER_MPI_SAME ? table : part, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = part_shape};
  gather_mpi_plan *plan;
  gather_error error;
  failed_here = false;
  until_failure = rank == 1 ? n : -1;
  const gather_status status = gather_mpi_plan_create(MPI_COMM_WORLD, opened ? NULL : &mine, &options, &plan, &error);
  if (check_status(status, &error, failed)) {
    ++*errors;
  } else {
    for (int t = 0; t < TAKES; t++)
      if (take(plan, k, t, &failed)) {
        ++*errors;
        EXPECT(!take(plan, k, t, &failed), "%s, take %d: not even the second time", k->name, t);
      }
    gather_mpi_plan_destroy(plan);
  }
  until_failure = -1;
  int fired = failed_here;
  patient_bcast(&fired, sizeof fired, 1, MPI_COMM_WORLD);
  return fired;
}

int main(int argc, char **argv) {
  until_failure = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks < 2 || ranks > MOST_RANKS) return 2;
  folder = argv[1];
  for (int i = 0; i < ROWS * MOST_RANKS; i++)
    for (int c = 0; c < WIDTH; c++) table[i][c] = (float)(i * WIDTH + c);
  for (int p = 0; p <= ranks; p++) splits[p] = p * ROWS;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    own_rows(&kinds[i]);
    gather_table *opened = kinds[i].file ? open_part() : NULL;
    int64_t n = 0, errors = 0;
    while (run(&kinds[i], n, opened, &errors)) n++;
    if (rank == 0) printf("%s: %" PRId64 " allocations, %" PRId64 " errors\n", kinds[i].name, n, errors);
    gather_table_close(opened);
  }
  MPI_Finalize();
  return 0;
}

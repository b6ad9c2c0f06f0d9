/* SPDX-License-Identifier: MIT
 *
 * mpi_faults WHAT [SECONDS [FOLDER]]: what happens when a rank fails. Each surviving rank prints lines: "rank R: STATUS: MESSAGE".
 *   read     the rows of rank 1 cannot be read
 *   file     the file of rank 1, in FOLDER, loses its end after the first take
 *   differ   rank 1 brings rows of another type; then another shape, layout, options; then neither rows nor a table
 *   stopped  rank 1 stops in the second take (SIGSTOP): the others wait SECONDS, and not longer
 *   killed   rank 1 kills itself in the second take
 *   error    rank 1 kills itself; the others report what MPI says, and end by themselves
 *   rows_stopped, rows_killed  the same while rank 1 reads rows in the second take: ids have arrived, rows have not
 *   missing  rank 1 does not make the call
 *   late     rank 1 makes the call when the others have given up: what arrives then is written into no memory of theirs
 *   same     ranks that say that they have the same table, and do not
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gather/mpi.h"
#include "mpi/mpi_part.h"
#include "mpi/mpi_random.h"

enum { ROWS = 1000, WIDTH = 64, IDS = 500 };

static int rank, ranks;
static double seconds = 5;
static float table[ROWS][WIDTH], out[IDS][WIDTH];
static int64_t ids[IDS];
static int rows_in_all;
static int64_t table_shape[2] = {ROWS, WIDTH}, ids_shape[1] = {IDS}, out_shape[2] = {IDS, WIDTH};
static gather_tensor mine = {.data = table, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = table_shape};
static const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
static const gather_tensor rows = {.data = out, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = out_shape};

static void report(gather_status status, const gather_error *error, int failed) {
  printf("rank %d: %s: %s [%d]\n", rank, gather_status_name(status), status == GATHER_OK ? "" : error->message, failed);
  fflush(stdout);
}

static void fresh_ids(int seed) {
  for (int i = 0; i < IDS; i++) ids[i] = (int64_t)((unsigned)(i * 7919 + seed * 104729 + rank * 31) % (unsigned)rows_in_all);
}

/* Reads rows, and in the second take stops or ends instead. */
static int fatal_signal, takes;

static gather_status fatal_read(void *context, const gather_tensor *wanted, const gather_tensor *to, gather_error *error) {
  if (takes > 1) raise(fatal_signal);
  return gather_take(context, wanted, 0, to, error);
}

/* The rows of this rank as a file. */
static char path[512];

static gather_table *open_file(const char *folder) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.buffered = true; /* each take reads the file */
  options.engine = GATHER_ENGINE_PREAD;
  snprintf(path, sizeof path, "%s/part%d", folder, rank);
  return mpi_part_open(path, table, sizeof table, table_shape, &options);
}

static gather_status failing_read(void *context, const gather_tensor *wanted, const gather_tensor *to, gather_error *error) {
  (void)wanted;
  (void)to;
  (void)context;
  return gather_error_set_file(error, GATHER_IO_ERROR, "table.npy", 4096, "cannot be read: disk is on fire");
}

static const gather_tensor *given = &mine;

static void create_and_report(const gather_mpi_options *options) {
  gather_mpi_plan *plan;
  gather_error error;
  const gather_status status = gather_mpi_plan_create(MPI_COMM_WORLD, given, options, &plan, &error);
  report(status, &error, options->failed_rank ? *options->failed_rank : -9);
  if (status == GATHER_OK) gather_mpi_plan_destroy(plan);
}

static void differ(gather_mpi_options *options) {
  const bool odd = rank == 1;
  int64_t wide[2] = {ROWS, WIDTH / 2};
  int64_t splits[64];
  if (odd) mine.type = GATHER_TYPE_INT32;
  create_and_report(options);
  mine.type = GATHER_TYPE_FLOAT32;
  if (odd) mine.shape = wide;
  create_and_report(options);
  mine.shape = table_shape;
  options->layout = odd ? GATHER_MPI_STRIPES : GATHER_MPI_BLOCKS;
  create_and_report(options);
  options->layout = GATHER_MPI_AUTO;
  options->on_bad = odd ? GATHER_ON_BAD_ZERO : GATHER_ON_BAD_CLAMP;
  create_and_report(options);
  options->on_bad = GATHER_ON_BAD_DEFAULT;
  options->rounds = odd ? 99 : 0;
  create_and_report(options);
  options->rounds = 0;
  for (int p = 0; p <= ranks; p++) splits[p] = p * (ROWS - 1);
  options->layout = GATHER_MPI_SPLITS;
  options->splits = splits;
  create_and_report(options);
  options->layout = GATHER_MPI_AUTO;
  if (odd) given = NULL; /* as a rank whose file cannot be opened */
  create_and_report(options);
}

static bool runs(const char *what, const char *name) { return strcmp(what, name) == 0; }

/* Rank 1 ends, or does not come. */
static void fail_here(const char *what) {
  if (rank != 1) return;
  if (runs(what, "stopped")) raise(SIGSTOP);
  if (runs(what, "killed") || runs(what, "error")) raise(SIGKILL);
  if (runs(what, "missing")) pause();
  if (runs(what, "late")) sleep((unsigned)seconds + 2);
  if (runs(what, "file") && truncate(path, 100) != 0) MPI_Abort(MPI_COMM_WORLD, 5);
}

/* The operation that did not end in time ends now; the stack that was in use then is in use again. */
static void check_stack(void) {
  volatile unsigned char area[1 << 15];
  size_t changed = 0;
  for (size_t i = 0; i < sizeof area; i++) area[i] = 0xA5;
  patient_barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof area; i++) changed += area[i] != 0xA5;
  printf("rank %d: %zu bytes of the stack were written\n", rank, changed);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const char *what = argv[1];
  if (argc > 2) seconds = strtod(argv[2], NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rows_in_all = runs(what, "late") ? ROWS : ROWS * ranks;
  if (runs(what, "error")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < WIDTH; k++) table[i][k] = (float)((runs(what, "late") ? 0 : rank * ROWS) + i);
  gather_mpi_options options = GATHER_MPI_OPTIONS_INIT;
  int32_t failed = -2;
  options.seconds = seconds;
  options.failed_rank = &failed;
  if (runs(what, "read") && rank == 1) options.read = failing_read;
  if (runs(what, "same") || runs(what, "late")) options.layout = GATHER_MPI_SAME;
  fatal_signal = runs(what, "rows_stopped") ? SIGSTOP : runs(what, "rows_killed") ? SIGKILL : 0;
  if (fatal_signal && rank == 1) {
    options.read = fatal_read;
    options.read_context = &mine;
  }
  if (runs(what, "file") && argc > 3) options.table = open_file(argv[3]);
  if (runs(what, "differ") || runs(what, "same")) {
    if (runs(what, "same")) {
      create_and_report(&options);
    } else {
      differ(&options);
    }
    MPI_Finalize();
    return 0;
  }
  gather_mpi_plan *plan;
  gather_error error;
  gather_status status = gather_mpi_plan_create(MPI_COMM_WORLD, options.table ? NULL : &mine, &options, &plan, &error);
  report(status, &error, failed);
  if (status != GATHER_OK) MPI_Abort(MPI_COMM_WORLD, 4);
  fresh_ids(1);
  takes = 1;
  status = gather_mpi_take(plan, &indices, &rows, &error);
  report(status, &error, failed);
  fail_here(what);
  fresh_ids(2);
  takes = 2;
  status = gather_mpi_take(plan, &indices, &rows, &error);
  report(status, &error, failed);
  if (runs(what, "late")) check_stack();
  /* A broken plan says so, and can be destroyed. */
  const bool whole = runs(what, "read") || runs(what, "file");
  if (status != GATHER_OK && !whole) report(gather_mpi_take(plan, &indices, &rows, &error), &error, failed);
  gather_mpi_plan_destroy(plan);
  gather_table_close(options.table);
  if (whole) {
    MPI_Finalize();
    return 0;
  }
  fflush(stdout);
  sleep(1); /* the others have their error, too, before this one ends them */
  MPI_Abort(MPI_COMM_WORLD, status == GATHER_OK ? 0 : 7);
  return 0;
}

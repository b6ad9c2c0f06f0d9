/* SPDX-License-Identifier: MIT
 *
 * mpi_timed: times takes of random rows, for script/mpi. Options, each followed by a number:
 *   --rows N (per rank) --bytes W (of a row) --ids N (per rank) --takes N --fresh 0|1 (other ids in each take) --rounds N --buffer BYTES
 *   --zipf 0|1 --hot N --remote 0|1 (only rows of other ranks) --check 0|1 --seconds S
 *   --made 0|1 (rows are made when they are asked for, not in memory) --only 0|1 (only rank 0 takes rows) --order 0|1 (ids in order)
 * Rank 0 prints one line of JSON: seconds of each take (of the slowest rank), bytes received by rank 0 in one take, its statistics.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather/mpi.h"
#include "mpi/mpi_random.h"

static int rank, ranks;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *why) {
  fprintf(stderr, "mpi_timed: rank %d: %s\n", rank, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t option(int argc, char **argv, const char *name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], name) == 0) return strtoll(argv[i + 1], NULL, 10);
  return otherwise;
}

/* The first eight bytes of a row tell its number. */
static void fill(unsigned char *table, int64_t rows, int64_t bytes) {
  for (int64_t i = 0; i < rows; i++) {
    const uint64_t tag = random_mix((uint64_t)(rank * rows + i));
    for (int64_t k = 0; k < bytes; k += 8) memcpy(table + i * bytes + k, &tag, (size_t)(bytes - k < 8 ? bytes - k : 8));
  }
}

typedef struct made_rows {
  int64_t rows, bytes;
} made_rows;

/* Rows that are nowhere in memory. */
static gather_status make_rows(void *context, const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  const made_rows *made = context;
  (void)error;
  for (int64_t i = 0; i < ids->shape[0]; i++) {
    const int64_t id = ids->type == GATHER_TYPE_UINT32 ? ((const uint32_t *)ids->data)[i] : ((const int64_t *)ids->data)[i];
    const uint64_t tag = random_mix((uint64_t)(rank * made->rows + id));
    unsigned char *to = (unsigned char *)rows->data + i * made->bytes;
    for (int64_t k = 0; k < made->bytes; k += 8) memcpy(to + k, &tag, (size_t)(made->bytes - k < 8 ? made->bytes - k : 8));
  }
  return GATHER_OK;
}

/* A rank of Zipf's law with exponent 1 over n rows, by inversion of the logarithm. */
static int64_t zipf(random_state *r, int64_t n) {
  const double u = (double)(random_next(r) >> 11) / 9007199254740992.0;
  const int64_t i = (int64_t)pow((double)n + 1, u) - 1;
  return (int64_t)(random_mix((uint64_t)(i < n ? i : n - 1)) % (uint64_t)n); /* hot rows are anywhere */
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int64_t count = option(argc, argv, "--rows", 100000), bytes = option(argc, argv, "--bytes", 512),
          len = option(argc, argv, "--ids", 10000);
  const int64_t takes = option(argc, argv, "--takes", 10), total = count * ranks;
  const bool fresh = option(argc, argv, "--fresh", 0), skewed = option(argc, argv, "--zipf", 0), remote = option(argc, argv, "--remote", 0);
  const bool made = option(argc, argv, "--made", 0), ordered = option(argc, argv, "--order", 0);
  made_rows context = {count, bytes};
  if (option(argc, argv, "--only", 0) && rank != 0) len = 0;
  unsigned char *table = malloc(made ? 1 : (size_t)(count * bytes)), *out = malloc((size_t)(len * bytes) + 1);
  int64_t *ids = malloc((size_t)len * sizeof *ids + 1);
  double *times = malloc((size_t)takes * sizeof *times);
  if (!table || !out || !ids || !times) fail("no memory");
  if (!made) fill(table, count, bytes);
  memset(out, 0, (size_t)(len * bytes));
  const int64_t table_shape[1] = {count}, ids_shape[1] = {len};
  const gather_tensor mine = {.data = table, .type = GATHER_TYPE_OPAQUE, .rank = 1, .item_bytes = bytes, .shape = table_shape};
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  const gather_tensor rows = {.data = out, .type = GATHER_TYPE_OPAQUE, .rank = 1, .item_bytes = bytes, .shape = ids_shape};
  gather_mpi_options options = GATHER_MPI_OPTIONS_INIT;
  options.rounds = (int32_t)option(argc, argv, "--rounds", 0);
  options.buffer_bytes = option(argc, argv, "--buffer", 0);
  options.hot_rows = option(argc, argv, "--hot", 0);
  options.seconds = (double)option(argc, argv, "--seconds", 300);
  if (made) {
    options.read = make_rows;
    options.read_context = &context;
  }
  gather_mpi_plan *plan;
  gather_error error;
  if (gather_mpi_plan_create(MPI_COMM_WORLD, &mine, &options, &plan, &error) != GATHER_OK) fail(error.message);
  random_state r = {random_mix(4711 + (uint64_t)rank)};
  for (int64_t t = 0; t < takes; t++) {
    for (int64_t i = 0; (t == 0 || fresh) && i < len; i++) {
      ids[i] = ordered ? i % total : skewed ? zipf(&r, total) : random_below(&r, total);
      if (remote && ranks > 1) ids[i] = (ids[i] % (count * (ranks - 1)) + (rank + 1) * count) % total;
    }
    patient_barrier(MPI_COMM_WORLD);
    const double start = now();
    if (gather_mpi_take(plan, &indices, &rows, &error) != GATHER_OK) fail(error.message);
    double took = now() - start;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times[t] = took;
  }
  for (int64_t i = 0; option(argc, argv, "--check", 1) && i < len; i++) {
    const uint64_t tag = random_mix((uint64_t)ids[i]);
    const int64_t last = (bytes - 1) / 8 * 8;
    if (memcmp(out + i * bytes, &tag, (size_t)(bytes < 8 ? bytes : 8)) != 0 ||
        memcmp(out + i * bytes + last, &tag, (size_t)(bytes - last < 8 ? bytes - last : 8)) != 0)
      fail("a row is wrong");
  }
  gather_mpi_statistics s;
  gather_mpi_plan_statistics(plan, &s);
  if (rank == 0) {
    printf("{\"mpi\": \"%s\", \"ranks\": %d, \"seconds\": [", gather_mpi_built_for(), ranks);
    for (int64_t t = 0; t < takes; t++) printf("%s%.6f", t ? ", " : "", times[t]);
    printf("], \"received\": %" PRId64 ", \"unique\": %" PRId64 ", \"hot\": %" PRId64 ", \"kept\": %" PRId64 ", \"exchanges\": %" PRId64
           ", \"memory\": %" PRId64 ", \"plan\": %.6f, \"ids\": %.6f, \"gather\": %.6f, \"wait\": %.6f, \"place\": %.6f}\n",
           s.rows_received * bytes / takes, s.unique / takes, s.rows_hot / takes, s.takes_kept, s.exchanges, s.memory_bytes, s.seconds_plan,
           s.seconds_ids, s.seconds_gather, s.seconds_wait, s.seconds_place);
  }
  gather_mpi_plan_destroy(plan);
  free(table);
  free(out);
  free(ids);
  free(times);
  MPI_Finalize();
  return 0;
}

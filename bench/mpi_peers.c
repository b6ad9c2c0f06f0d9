/* SPDX-License-Identifier: MIT
 *
 * mpi_peers: libgather_mpi and PETSc's PetscSF on the same rows and ids, in one process, in turn. Arguments: ROWS BYTES IDS TAKES ZIPF
 * (rows per rank, bytes of a row, ids per rank, takes of each, 0 or 1). Rank 0 prints one line of JSON with the seconds of each take, of
 * the slowest rank: kept = the same ids as before, fresh = with everything that new ids need.
 */
#define _POSIX_C_SOURCE 200809L
#include <gather/mpi.h>
#include <inttypes.h>
#include <math.h>
#include <petscsf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_random.h"

static int rank, ranks;
static int64_t count, bytes, len;
static unsigned char *table, *ours, *theirs;
static int64_t *ids;

static void fail(const char *why) {
  fprintf(stderr, "mpi_peers: rank %d: %s\n", rank, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void draw(random_state *r, int zipf) {
  const int64_t total = count * ranks;
  for (int64_t i = 0; i < len; i++) {
    if (zipf) {
      const double u = (double)(random_next(r) >> 11) / 9007199254740992.0;
      const int64_t k = (int64_t)pow((double)total + 1, u) - 1;
      ids[i] = (int64_t)(random_mix((uint64_t)(k < total ? k : total - 1)) % (uint64_t)total);
    } else {
      ids[i] = random_below(r, total);
    }
  }
}

static PetscSF set_up(void) {
  PetscSF sf;
  PetscSFNode *remote;
  if (PetscMalloc1(len, &remote)) fail("no memory");
  for (int64_t i = 0; i < len; i++) {
    remote[i].rank = (PetscInt)(ids[i] / count);
    remote[i].index = (PetscInt)(ids[i] % count);
  }
  if (PetscSFCreate(PETSC_COMM_WORLD, &sf) || PetscSFSetFromOptions(sf) ||
      PetscSFSetGraph(sf, (PetscInt)count, (PetscInt)len, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER) || PetscSFSetUp(sf))
    fail("PetscSF cannot be set up");
  return sf;
}

static void bcast(PetscSF sf, MPI_Datatype unit) {
  if (PetscSFBcastBegin(sf, unit, table, theirs, MPI_REPLACE) || PetscSFBcastEnd(sf, unit, table, theirs, MPI_REPLACE))
    fail("PetscSFBcast");
}

static void print(const char *name, const double *times, int takes) {
  printf("\"%s\": [", name);
  for (int t = 0; t < takes; t++) printf("%s%.6f", t ? ", " : "", times[t]);
  printf("], ");
}

static double since(double start) {
  double took = now() - start;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

int main(int argc, char **argv) {
  if (argc < 6 || PetscInitialize(&argc, &argv, NULL, NULL)) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  count = strtoll(argv[1], NULL, 10);
  bytes = strtoll(argv[2], NULL, 10);
  len = strtoll(argv[3], NULL, 10);
  const int takes = (int)strtol(argv[4], NULL, 10), zipf = (int)strtol(argv[5], NULL, 10);
  table = malloc((size_t)(count * bytes));
  ours = malloc((size_t)(len * bytes));
  theirs = malloc((size_t)(len * bytes));
  ids = malloc((size_t)len * sizeof *ids);
  double *times = malloc((size_t)takes * 4 * sizeof *times);
  if (!table || !ours || !theirs || !ids || !times) fail("no memory");
  random_bytes(7 + (uint64_t)rank * 1000003, 0, count * bytes, table);
  memset(ours, 0, (size_t)(len * bytes));
  memset(theirs, 1, (size_t)(len * bytes));
  MPI_Datatype unit;
  MPI_Type_contiguous((int)bytes, MPI_BYTE, &unit);
  MPI_Type_commit(&unit);
  const gather_tensor mine = {.data = table, .type = GATHER_TYPE_OPAQUE, .rank = 1, .item_bytes = bytes, .shape = &count};
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  const gather_tensor rows = {.data = ours, .type = GATHER_TYPE_OPAQUE, .rank = 1, .item_bytes = bytes, .shape = &len};
  gather_mpi_plan *plan;
  gather_error error;
  if (gather_mpi_plan_create(MPI_COMM_WORLD, &mine, NULL, &plan, &error) != GATHER_OK) fail(error.message);
  random_state r = {random_mix(99 + (uint64_t)rank)};
  draw(&r, zipf);
  PetscSF sf = set_up();
  bcast(sf, unit);
  if (gather_mpi_take(plan, &indices, &rows, &error) != GATHER_OK) fail(error.message);
  for (int t = 0; t < takes; t++) {
    patient_barrier(MPI_COMM_WORLD);
    double start = now();
    if (gather_mpi_take(plan, &indices, &rows, &error) != GATHER_OK) fail(error.message);
    times[t] = since(start);
    patient_barrier(MPI_COMM_WORLD);
    start = now();
    bcast(sf, unit);
    times[takes + t] = since(start);
  }
  if (memcmp(ours, theirs, (size_t)(len * bytes)) != 0) fail("the rows differ");
  for (int t = 0; t < takes; t++) {
    draw(&r, zipf);
    patient_barrier(MPI_COMM_WORLD);
    double start = now();
    if (gather_mpi_take(plan, &indices, &rows, &error) != GATHER_OK) fail(error.message);
    times[2 * takes + t] = since(start);
    patient_barrier(MPI_COMM_WORLD);
    start = now();
    if (PetscSFDestroy(&sf)) fail("PetscSFDestroy");
    sf = set_up();
    bcast(sf, unit);
    times[3 * takes + t] = since(start);
  }
  if (memcmp(ours, theirs, (size_t)(len * bytes)) != 0) fail("the rows differ");
  if (rank == 0) {
    printf("{");
    print("libgather kept", times, takes);
    print("PetscSF kept", times + takes, takes);
    print("libgather fresh", times + 2 * takes, takes);
    print("PetscSF fresh", times + 3 * takes, takes);
    printf("\"ranks\": %d}\n", ranks);
  }
  gather_mpi_plan_destroy(plan);
  if (PetscSFDestroy(&sf)) fail("PetscSFDestroy");
  MPI_Type_free(&unit);
  return PetscFinalize() ? 1 : 0;
}

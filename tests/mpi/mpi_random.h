/* SPDX-License-Identifier: MIT
 *
 * mpi_random.h: random numbers that are the same on every rank, and bytes of tables that every rank can compute.
 */
#ifndef MPI_RANDOM_H
#define MPI_RANDOM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct random_state {
  uint64_t state;
} random_state;

static inline uint64_t random_mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static inline uint64_t random_next(random_state *r) { return r->state = random_mix(r->state); }

/* 0 to n - 1. */
static inline int64_t random_below(random_state *r, int64_t n) { return (int64_t)(random_next(r) % (uint64_t)n); }

/* Bytes `begin` to begin + count of an endless file. */
static inline void random_bytes(uint64_t seed, int64_t begin, int64_t count, unsigned char *to) {
  int64_t i = 0;
  for (; i < count && (begin + i) % 8 != 0; i++)
    to[i] = (unsigned char)(random_mix(seed + (uint64_t)((begin + i) / 8)) >> 8 * ((begin + i) % 8));
  for (; i + 8 <= count; i += 8) {
    const uint64_t bits = random_mix(seed + (uint64_t)((begin + i) / 8));
    for (int k = 0; k < 8; k++) to[i + k] = (unsigned char)(bits >> 8 * k);
  }
  for (; i < count; i++) to[i] = (unsigned char)(random_mix(seed + (uint64_t)((begin + i) / 8)) >> 8 * ((begin + i) % 8));
}

/* Waits without keeping a CPU busy, which another rank may need. */
static inline void patient_wait(MPI_Request *request) {
  const struct timespec moment = {0, 20000};
  for (int done = 0, looks = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; looks++)
    if (looks > 16) nanosleep(&moment, NULL);
}

static inline void patient_barrier(MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  patient_wait(&request);
}

static inline void patient_bcast(void *memory, size_t bytes, int root, MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibcast(memory, (int)bytes, MPI_BYTE, root, comm, &request);
  patient_wait(&request);
}

#endif

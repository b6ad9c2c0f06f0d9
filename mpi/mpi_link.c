/* SPDX-License-Identifier: MIT
 *
 * mpi_link.c: operations of MPI that end, with a result or with an error.
 */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi_internal.h"

uint64_t gather_mpi_fnv(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 0x100000001B3u;
  return hash;
}

double gather_mpi_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

gather_status gather_mpi_link_check(gather_mpi_link *link, int result, gather_error *error) {
  if (result == MPI_SUCCESS) return GATHER_OK;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(result, text, &length) != MPI_SUCCESS) length = 0;
  text[length] = '\0';
  for (int i = 0; i < length; i++)
    if (text[i] == '\n') text[i] = ' ';
  link->broken = true;
  return gather_error_set(error, GATHER_IO_ERROR, "rank %d: MPI reports an error: %s", link->rank, length ? text : "no text");
}

/* How long to poll with pauses of a fraction of a microsecond at most. After that this rank sleeps between two polls. If other programs, or
 * more ranks than CPUs, want the CPU, a process that only yields gets its next time slice after all others. One that sleeps is woken at
 * once. Rows move while ranks poll, a few fragments at a time, so polling for rows lasts longer. */
static const double patience = 100e-6, patience_for_rows = 50e-3;

gather_status gather_mpi_link_wait(gather_mpi_link *link, MPI_Request *request, gather_error *error) {
  const struct timespec moment = {0, 20000};
  double start = -1;
  for (int looks = 0;; looks++) {
    int done = 0;
    const gather_status status = gather_mpi_link_check(link, MPI_Test(request, &done, MPI_STATUS_IGNORE), error);
    if (status != GATHER_OK || done) return status;
    const double now = gather_mpi_now();
    if (start < 0) start = now;
    if (link->seconds >= 0 && now - start > link->seconds) {
      link->broken = true;
      return gather_error_set(error, GATHER_IO_ERROR,
                              "rank %d: no answer from another rank for %g s: it may have ended, or not made this call", link->rank,
                              link->seconds);
    }
    if (link->crowded || now - start > (link->bulk ? patience_for_rows : patience)) {
      nanosleep(&moment, NULL);
    } else if (looks % 16 == 15) {
      sched_yield();
    }
    if (looks > 1 << 20) looks = 0;
  }
}

/* Whether the ranks on this machine are more than its CPUs: MPI does not say, but machines have names. */
static gather_status count_neighbours(gather_mpi_link *link, gather_error *error) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0, here = 0;
  (void)MPI_Get_processor_name(name, &length);
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  const uint64_t mine = gather_mpi_fnv(GATHER_MPI_FNV, name, strlen(name));
  uint64_t *all = malloc((size_t)link->ranks * sizeof *all);
  /* If one rank is out of memory for this, no rank counts, and all yield as if the machine were crowded. */
  int64_t blind = !all;
  gather_status status = gather_mpi_link_max(link, &blind, error);
  if (status == GATHER_OK && !blind) {
    status = gather_mpi_link_gather(link, &mine, (int)sizeof mine, all, error);
    for (int p = 0; status == GATHER_OK && p < link->ranks; p++) here += all[p] == mine;
    link->crowded = here > machine.cpus;
  }
  gather_mpi_link_free(link, all);
  return status;
}

gather_status gather_mpi_link_open(gather_mpi_link *link, MPI_Comm comm, gather_error *error) {
  MPI_Request request;
  link->comm = MPI_COMM_NULL;
  link->crowded = true; /* until it is known */
  MPI_Comm_rank(comm, &link->rank);
  MPI_Comm_size(comm, &link->ranks);
  gather_status status = gather_mpi_link_check(link, MPI_Comm_idup(comm, &link->comm, &request), error);
  if (status == GATHER_OK) status = gather_mpi_link_wait(link, &request, error);
  if (status != GATHER_OK) return status;
  MPI_Comm_set_errhandler(link->comm, MPI_ERRORS_RETURN);
  return count_neighbours(link, error);
}

gather_status gather_mpi_link_max(gather_mpi_link *link, int64_t *number, gather_error *error) {
  MPI_Request request;
  link->number = *number;
  gather_status status =
      gather_mpi_link_check(link, MPI_Iallreduce(MPI_IN_PLACE, &link->number, 1, MPI_INT64_T, MPI_MAX, link->comm, &request), error);
  if (status == GATHER_OK) status = gather_mpi_link_wait(link, &request, error);
  if (status == GATHER_OK) *number = link->number;
  return status;
}

void gather_mpi_link_free(const gather_mpi_link *link, void *memory) {
  if (!link->broken) free(memory);
}

gather_status gather_mpi_link_gather(gather_mpi_link *link, const void *mine, int bytes, void *all, gather_error *error) {
  MPI_Request request;
  if ((size_t)bytes <= sizeof link->mine) mine = memcpy(link->mine, mine, (size_t)bytes);
  gather_status status =
      gather_mpi_link_check(link, MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, link->comm, &request), error);
  return status == GATHER_OK ? gather_mpi_link_wait(link, &request, error) : status;
}

bool gather_mpi_reserve(gather_mpi_buffer *buffer, int64_t count, int64_t item) {
  if (item > 0 && count > INT64_MAX / item) return false;
  const uint64_t bytes = (uint64_t)(count * item);
  if (buffer->data && bytes <= buffer->bytes) return true;
  free(buffer->data);
  *buffer = (gather_mpi_buffer){0};
  if (bytes > SIZE_MAX / 2) return false;
  buffer->data = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (buffer->data) buffer->bytes = (size_t)bytes;
  /* A hint only; memory of small buffers is not worth the call. */
  if (buffer->data && bytes >= (size_t)4 << 20) (void)gather_advise_huge_pages(buffer->data, buffer->bytes);
  return buffer->data != NULL;
}

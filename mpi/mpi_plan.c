/* SPDX-License-Identifier: MIT
 *
 * mpi_plan.c: the description and statistics of a plan, and its end.
 */
#include <stdlib.h>

#include "mpi_internal.h"

static void free_buffers(gather_mpi_plan *plan) {
  gather_mpi_buffer *const buffers[] = {&plan->raw,          &plan->rows,          &plan->convert,       &plan->answers.ids,
                                        &plan->answers.wire, &plan->answers.asked, &plan->answers.cells, &plan->arriving,
                                        &plan->leaving[0],   &plan->leaving[1],    &plan->ints,          &plan->records};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) free(buffers[i]->data);
}

void gather_mpi_plan_destroy(gather_mpi_plan *plan) {
  if (!plan) return;
  /* MPI may still read or write the buffers of an operation that has not ended: then they stay. */
  if (plan->link.broken) return;
  if (plan->row != MPI_DATATYPE_NULL) MPI_Type_free(&plan->row);
  if (plan->link.comm != MPI_COMM_NULL) MPI_Comm_free(&plan->link.comm);
  gather_mpi_schedule_free(&plan->schedule);
  gather_mpi_hot_free(&plan->hot);
  free_buffers(plan);
  free(plan->fill_row);
  free(plan->fill_element);
  free(plan->splits);
  free(plan);
}

const gather_mpi_info *gather_mpi_plan_describe(const gather_mpi_plan *plan) { return &plan->info; }

void gather_mpi_plan_statistics(const gather_mpi_plan *plan, gather_mpi_statistics *statistics) {
  *statistics = plan->statistics;
  const gather_mpi_buffer *const buffers[] = {&plan->raw,          &plan->rows,          &plan->convert,       &plan->answers.ids,
                                              &plan->answers.wire, &plan->answers.asked, &plan->answers.cells, &plan->arriving,
                                              &plan->leaving[0],   &plan->leaving[1],    &plan->ints,          &plan->records};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) statistics->memory_bytes += (int64_t)buffers[i]->bytes;
  statistics->hot_rows = plan->hot.len;
}

/* Text of a macro's value. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *gather_mpi_built_for(void) {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#else
  return "an MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION);
#endif
}

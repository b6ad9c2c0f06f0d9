/* SPDX-License-Identifier: MIT
 *
 * mpi_agree.c: an error of one rank is an error of every rank.
 */
#include <stdio.h>
#include <string.h>

#include "mpi_internal.h"

/* The static string of the name of an argument. */
static const char *input_of(const char *name) {
  static const char *const names[] = {"data", "indices", "axis", "output", "options"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return names[i];
  return NULL;
}

static void pack(const gather_mpi_link *link, const gather_error *own, gather_mpi_message *message) {
  memset(message, 0, sizeof *message);
  message->error = *own;
  /* The rank is put in front only here, so a table that fails on many ranks is reported once. */
  if (link->ranks > 1) (void)snprintf(message->error.message, sizeof message->error.message, "rank %d: %.480s", link->rank, own->message);
  if (own->input) (void)snprintf(message->input, sizeof message->input, "%s", own->input);
  message->op = own->op != NULL;
  message->error.op = message->error.rules = message->error.input = NULL;
}

gather_status gather_mpi_share(gather_mpi_link *link, int failed, const gather_error *own, const gather_op *op, gather_error *error) {
  gather_mpi_message *message = &link->message;
  if (failed == link->rank) {
    pack(link, own, message);
  } else {
    memset(message, 0, sizeof *message);
  }
  if (link->ranks > 1) {
    MPI_Request request;
    gather_status status =
        gather_mpi_link_check(link, MPI_Ibcast(message, (int)sizeof *message, MPI_BYTE, failed, link->comm, &request), error);
    if (status == GATHER_OK) status = gather_mpi_link_wait(link, &request, error);
    if (status != GATHER_OK) return status;
  }
  if (message->op) {
    message->error.op = op->name;
    message->error.rules = op->rules;
  }
  message->error.input = input_of(message->input);
  if (error) *error = message->error;
  return message->error.status;
}

gather_status gather_mpi_agree(gather_mpi_link *link, gather_status own_status, const gather_error *own, const gather_op *op,
                               int32_t *failed, gather_error *error) {
  /* The largest of these is that of the lowest rank that failed. */
  int64_t number = own_status == GATHER_OK ? 0 : link->ranks - link->rank;
  *failed = -1;
  if (link->ranks > 1) {
    const gather_status status = gather_mpi_link_max(link, &number, error);
    if (status != GATHER_OK) return status;
  }
  if (number == 0) return GATHER_OK;
  *failed = (int32_t)(link->ranks - number);
  return gather_mpi_share(link, *failed, own, op, error);
}

/* SPDX-License-Identifier: MIT
 *
 * mpi_exchange.c: one exchange: counts and ids to the owners of the rows; mpi_move.c brings the rows back.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_internal.h"

/* The numbers that each rank first sends to each other one. */
enum { TELL_FAILED, TELL_MORE, TELL_NEW, TELL_ROUNDS, TELL_UNIQUE, TELL_COUNTS, TELL_LEN = GATHER_MPI_TELL_LEN };

static gather_status no_memory(gather_error *error) {
  return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for the rows of an exchange: lower buffer_bytes");
}

/* Makes room for the arriving rows, and keeps the reserved ones. */
static bool reserve_arriving(gather_mpi_plan *plan) {
  const int64_t kept = plan->schedule.reserved, slots = kept + plan->schedule.unique, row = plan->owner.row_bytes;
  if (row > 0 && slots > INT64_MAX / row) return false;
  if (plan->arriving.data && (uint64_t)(slots * row) <= plan->arriving.bytes) return true;
  gather_mpi_buffer grown = {0};
  if (!gather_mpi_reserve(&grown, slots, row)) return false;
  const int64_t old = plan->fill_slots + plan->hot.len;
  if (plan->arriving.data && old > 0) memcpy(grown.data, plan->arriving.data, (size_t)(old * row));
  if (plan->fill_row) memcpy(grown.data, plan->fill_row, (size_t)row);
  free(plan->arriving.data);
  plan->arriving = grown;
  return true;
}

/* The schedule of this rank, and memory for what it asks for. */
static gather_status prepare(gather_mpi_plan *plan, const gather_mpi_part *part, gather_error *own) {
  gather_mpi_schedule *schedule = &plan->schedule;
  if (!part->same) {
    const int64_t row = plan->owner.row_bytes, bytes = row > 0 && part->len > INT64_MAX / row ? INT64_MAX : part->len * row;
    const int32_t rounds = plan->rounds ? plan->rounds : gather_mpi_schedule_rounds(bytes);
    if (!gather_mpi_schedule_build(schedule, &plan->spread, (const int64_t *)plan->rows.data + part->begin, part->len, rounds,
                                   plan->fill_slots + plan->hot.len, plan->hot.len ? &plan->hot.slots : NULL))
      return no_memory(own);
    if (plan->narrow) {
      if (!gather_mpi_reserve(&plan->answers.asked, schedule->unique, sizeof(uint32_t))) return no_memory(own);
      uint32_t *asked_ids = plan->answers.asked.data;
      for (int64_t i = 0; i < schedule->unique; i++) asked_ids[i] = (uint32_t)schedule->ids[i];
    }
  }
  return reserve_arriving(plan) ? GATHER_OK : no_memory(own);
}

/* Tells each rank what is asked of it, and learns what is asked of this one. records: 2 * ranks of TELL_LEN. */
static gather_status tell_all(gather_mpi_plan *plan, const gather_mpi_part *part, bool failed, int64_t *records, gather_error *error) {
  gather_mpi_link *link = &plan->link;
  int64_t *out = records + (int64_t)link->ranks * TELL_LEN;
  const gather_mpi_schedule *schedule = &plan->schedule;
  memset(out, 0, (size_t)link->ranks * TELL_LEN * sizeof *out);
  for (int p = 0; p < link->ranks; p++) {
    int64_t *to = out + (int64_t)p * TELL_LEN;
    to[TELL_FAILED] = failed;
    to[TELL_MORE] = part->more;
    to[TELL_NEW] = !part->same;
    to[TELL_ROUNDS] = 1;
    if (failed) continue;
    to[TELL_ROUNDS] = schedule->rounds;
    to[TELL_UNIQUE] = schedule->unique;
    if (p >= schedule->ranks) continue; /* every rank has everything */
    memcpy(to + TELL_COUNTS, schedule->counts + (int64_t)p * schedule->rounds, (size_t)schedule->rounds * sizeof *to);
  }
  if (link->ranks == 1) {
    memcpy(records, out, TELL_LEN * sizeof *out);
    return GATHER_OK;
  }
  MPI_Request request;
  gather_status status =
      gather_mpi_link_check(link, MPI_Ialltoall(out, TELL_LEN, MPI_INT64_T, records, TELL_LEN, MPI_INT64_T, link->comm, &request), error);
  return status == GATHER_OK ? gather_mpi_link_wait(link, &request, error) : status;
}

/* The answers that are asked for: counts, where their ids begin, and memory for them. Nothing for this rank itself. */
static gather_status count_answers(gather_mpi_moving *moving, const int64_t *records, int64_t *send_most, gather_error *own) {
  gather_mpi_plan *plan = moving->plan;
  const int64_t cells = (int64_t)moving->parties * moving->rounds;
  *send_most = 0;
  if (!gather_mpi_reserve(&plan->answers.cells, 2 * cells, sizeof(int64_t))) return no_memory(own);
  moving->counts = plan->answers.cells.data;
  moving->begin = moving->counts + cells;
  int64_t at = 0;
  for (int32_t r = 0; r < moving->rounds; r++) {
    const int64_t before = at;
    for (int32_t p = 0; p < moving->parties; p++) {
      const int64_t cell = (int64_t)p * moving->rounds + r, count = records[(int64_t)p * TELL_LEN + TELL_COUNTS + r];
      moving->counts[cell] = p == moving->self ? 0 : count;
      moving->begin[cell] = at;
      at += moving->counts[cell];
    }
    if (at - before > *send_most) *send_most = at - before;
  }
  const int64_t item = plan->narrow ? (int64_t)sizeof(uint32_t) : (int64_t)sizeof(int64_t);
  return gather_mpi_reserve(&plan->answers.ids, at, item) && gather_mpi_reserve(&plan->answers.wire, at, item) ? GATHER_OK : no_memory(own);
}

/* The number of pieces of each round, on all ranks, so that the sent rows fit, and memory for them. */
static gather_status size_leaving(gather_mpi_moving *moving, const int64_t *records, int64_t send_most, gather_status own_status,
                                  int32_t *failed, gather_error *error) {
  gather_mpi_plan *plan = moving->plan;
  gather_mpi_link *link = &plan->link;
  int64_t fit = moving->row_bytes > 0 ? plan->buffer_bytes / moving->row_bytes : INT64_MAX, asked_in_all = 0;
  if (fit < 1) fit = 1;
  for (int p = 0; p < link->ranks; p++) asked_in_all += records[(int64_t)p * TELL_LEN + TELL_UNIQUE];
  int64_t most = send_most;
  moving->pieces = 1;
  if (asked_in_all > fit && link->ranks > 1) { /* the same on all ranks */
    const gather_status status = gather_mpi_link_max(link, &most, error);
    if (status != GATHER_OK) return status;
    moving->pieces = (int32_t)((most + fit - 1) / fit);
    if (moving->pieces < 1) moving->pieces = 1;
  }
  /* Pieces are rounded up, once for each rank. */
  const int64_t room = moving->pieces == 1 ? send_most : send_most / moving->pieces + moving->parties;
  const int buffers = moving->rounds * moving->pieces > 1 ? 2 : 1;
  for (int i = 0; i < buffers && own_status == GATHER_OK; i++)
    if (!gather_mpi_reserve(&plan->leaving[i], room, moving->row_bytes)) own_status = no_memory(moving->own);
  if (own_status == GATHER_OK && !gather_mpi_reserve(&plan->ints, (int64_t)8 * moving->parties, sizeof(int)))
    own_status = no_memory(moving->own);
  plan->answers.rounds = moving->rounds;
  plan->answers.pieces = moving->pieces;
  return gather_mpi_agree(link, own_status, moving->own, plan->op, failed, error);
}

/* Puts the ids that came by rank, then by round, into the order of the rounds. */
static void sort_answers(const gather_mpi_moving *moving) {
  const size_t item = moving->plan->narrow ? sizeof(uint32_t) : sizeof(int64_t);
  const char *from = moving->plan->answers.wire.data;
  char *to = moving->plan->answers.ids.data;
  for (int64_t cell = 0; cell < (int64_t)moving->parties * moving->rounds; cell++) {
    const size_t bytes = (size_t)moving->counts[cell] * item;
    memcpy(to + (size_t)moving->begin[cell] * item, from, bytes);
    from += bytes;
  }
}

static gather_status send_ids(gather_mpi_moving *moving, gather_error *error) {
  gather_mpi_plan *plan = moving->plan;
  const gather_mpi_schedule *schedule = &plan->schedule;
  const int32_t parties = moving->parties;
  int *out = plan->ints.data, *out_at = out + parties, *in = out_at + parties, *in_at = in + parties;
  int64_t sent = 0, received = 0;
  for (int32_t p = 0; p < parties; p++) {
    int64_t here = 0, there = 0;
    for (int32_t r = 0; r < schedule->rounds; r++) here += schedule->counts[(int64_t)p * schedule->rounds + r];
    for (int32_t r = 0; r < moving->rounds; r++) there += moving->counts[(int64_t)p * moving->rounds + r];
    out[p] = p == moving->self ? 0 : (int)here;
    out_at[p] = (int)sent;
    in[p] = (int)there;
    in_at[p] = (int)received;
    sent += here;
    received += there;
  }
  const void *ids = plan->narrow ? plan->answers.asked.data : schedule->ids;
  const MPI_Datatype type = plan->narrow ? MPI_UINT32_T : MPI_INT64_T;
  MPI_Request request;
  gather_status status = gather_mpi_link_check(
      &plan->link, MPI_Ialltoallv(ids, out, out_at, type, plan->answers.wire.data, in, in_at, type, plan->link.comm, &request), error);
  if (status == GATHER_OK) status = gather_mpi_link_wait(&plan->link, &request, error);
  if (status == GATHER_OK) sort_answers(moving);
  return status;
}

gather_status gather_mpi_exchange(gather_mpi_plan *plan, const gather_mpi_part *part, gather_status own_status, gather_error *own,
                                  bool *any_more, int32_t *failed, gather_error *error) {
  gather_mpi_link *link = &plan->link;
  gather_mpi_moving moving = {.plan = plan, .part = part, .row_bytes = plan->owner.row_bytes, .own = own};
  moving.parties = plan->spread.ranks;
  moving.self = moving.parties == 1 ? 0 : link->rank;
  double start = gather_mpi_now();
  if (own_status == GATHER_OK) own_status = prepare(plan, part, own);
  plan->statistics.seconds_plan += gather_mpi_now() - start;
  start = gather_mpi_now();
  int64_t *records = plan->records.data, send_most = 0;
  gather_status status = tell_all(plan, part, own_status != GATHER_OK, records, error);
  if (status != GATHER_OK) return status;
  bool new_ids = false;
  *any_more = false;
  *failed = -1;
  moving.rounds = 1;
  for (int p = 0; p < link->ranks; p++) {
    const int64_t *from = records + (int64_t)p * TELL_LEN;
    if (from[TELL_FAILED] && *failed < 0) *failed = p;
    *any_more = *any_more || from[TELL_MORE];
    new_ids = new_ids || from[TELL_NEW];
    if (from[TELL_ROUNDS] > moving.rounds) moving.rounds = (int32_t)from[TELL_ROUNDS];
  }
  if (*failed >= 0) return gather_mpi_share(link, *failed, own, plan->op, error);
  if (moving.parties == 1) {
    moving.pieces = 1;
  } else if (new_ids) {
    own_status = count_answers(&moving, records, &send_most, own);
    status = size_leaving(&moving, records, send_most, own_status, failed, error);
    if (status == GATHER_OK) status = send_ids(&moving, error);
    if (status != GATHER_OK) return status;
  } else {
    moving.rounds = plan->answers.rounds;
    moving.pieces = plan->answers.pieces;
    moving.counts = plan->answers.cells.data;
    moving.begin = moving.counts + (int64_t)moving.parties * moving.rounds;
  }
  plan->statistics.seconds_ids += gather_mpi_now() - start;
  plan->statistics.exchanges++;
  plan->statistics.unique += plan->schedule.unique + plan->schedule.hot;
  plan->statistics.rows_hot += plan->schedule.hot;
  status = gather_mpi_move(&moving, error);
  if (status != GATHER_OK) return status;
  if (!plan->fallible) return GATHER_OK;
  return gather_mpi_agree(link, moving.own_status, own, plan->op, failed, error);
}

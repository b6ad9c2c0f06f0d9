/* SPDX-License-Identifier: MIT
 *
 * mpi_move.c: the rows of an exchange, in steps.
 *
 * While the rows of two steps travel, those of the next are gathered, and those of the step before are written where they belong. A step
 * is a round, or a piece of one where a rank has more to send than fits its buffer.
 */
#include <string.h>

#include "mpi_internal.h"

/* The first row of piece i of a cell. */
static int64_t piece_begin(const gather_mpi_moving *moving, int64_t count, int32_t i) {
  return count / moving->pieces * i + count % moving->pieces * i / moving->pieces;
}

/* Rows that this rank asks of rank p in a round of all ranks. */
static int64_t asked(const gather_mpi_moving *moving, int32_t p, int32_t round) {
  const gather_mpi_schedule *schedule = &moving->plan->schedule;
  return round < schedule->rounds ? schedule->counts[(int64_t)p * schedule->rounds + round] : 0;
}

/* Rows of this rank into memory. The first error is kept and reported at the end. Zeros are sent instead of the rows. */
static void read_rows(gather_mpi_moving *moving, const void *ids, int64_t first, int64_t len, char *to) {
  if (len == 0) return;
  const gather_mpi_plan *plan = moving->plan;
  const size_t item = plan->narrow ? sizeof(uint32_t) : sizeof(int64_t);
  if (moving->own_status == GATHER_OK)
    moving->own_status = gather_mpi_owner_take(&plan->owner, (const char *)ids + (size_t)first * item, plan->narrow, len, to, moving->own);
  if (moving->own_status != GATHER_OK) memset(to, 0, (size_t)(len * moving->row_bytes));
}

/* Gathers what leaves in a step. */
static void gather_step(gather_mpi_moving *moving, int32_t round, int32_t piece, char *to) {
  const void *ids = moving->plan->answers.ids.data;
  int64_t done = 0, run_first = 0, run = 0;
  for (int32_t p = 0; p < moving->parties; p++) {
    const int64_t cell = (int64_t)p * moving->rounds + round, count = moving->counts[cell];
    const int64_t first = moving->begin[cell] + piece_begin(moving, count, piece);
    const int64_t len = piece_begin(moving, count, piece + 1) - piece_begin(moving, count, piece);
    /* Ids of several ranks that are next to each other are one gather. */
    if (run > 0 && first == run_first + run) {
      run += len;
      continue;
    }
    read_rows(moving, ids, run_first, run, to + done * moving->row_bytes);
    done += run;
    run_first = first;
    run = len;
  }
  read_rows(moving, ids, run_first, run, to + done * moving->row_bytes);
}

/* Starts the exchange of a step. */
static gather_status start_step(gather_mpi_moving *moving, int32_t round, int32_t piece, int half, const void *from, gather_error *error) {
  gather_mpi_plan *plan = moving->plan;
  const int32_t parties = moving->parties;
  int *out = (int *)plan->ints.data + (int64_t)half * 4 * parties, *out_at = out + parties, *in = out_at + parties, *in_at = in + parties;
  int64_t sent = 0, slot = round < plan->schedule.rounds ? plan->schedule.round_first[round] : plan->schedule.unique;
  for (int32_t p = 0; p < parties; p++) {
    const int64_t leaves = moving->counts[(int64_t)p * moving->rounds + round], arrives = asked(moving, p, round);
    out[p] = (int)(piece_begin(moving, leaves, piece + 1) - piece_begin(moving, leaves, piece));
    out_at[p] = (int)sent;
    in[p] = p == moving->self ? 0 : (int)(piece_begin(moving, arrives, piece + 1) - piece_begin(moving, arrives, piece));
    in_at[p] = (int)(slot + piece_begin(moving, arrives, piece));
    sent += out[p];
    slot += arrives;
    plan->statistics.rows_sent += out[p];
    plan->statistics.rows_received += in[p];
  }
  char *to = (char *)plan->arriving.data + plan->schedule.reserved * moving->row_bytes;
  return gather_mpi_link_check(
      &plan->link, MPI_Ialltoallv(from, out, out_at, plan->row, to, in, in_at, plan->row, plan->link.comm, &moving->requests[half]), error);
}

/* The rows of a round that this rank has itself. */
static void take_own(gather_mpi_moving *moving, int32_t round) {
  gather_mpi_plan *plan = moving->plan;
  const gather_mpi_schedule *schedule = &plan->schedule;
  if (round >= schedule->rounds) return;
  int64_t id = 0, slot = schedule->reserved + schedule->round_first[round];
  for (int32_t p = 0; p < moving->self; p++) {
    for (int32_t r = 0; r < schedule->rounds; r++) id += asked(moving, p, r);
    slot += asked(moving, p, round);
  }
  for (int32_t r = 0; r < round; r++) id += asked(moving, moving->self, r);
  const int64_t len = asked(moving, moving->self, round);
  plan->statistics.rows_own += len;
  read_rows(moving, plan->narrow ? plan->answers.asked.data : schedule->ids, id, len,
            (char *)plan->arriving.data + slot * moving->row_bytes);
}

/* Writes the output's part of a round. */
static gather_status place(const gather_mpi_moving *moving, int32_t round, gather_error *own) {
  const gather_mpi_plan *plan = moving->plan;
  const gather_mpi_schedule *schedule = &plan->schedule;
  if (round >= schedule->rounds) return GATHER_OK;
  const int64_t begin = gather_mpi_round_begin(schedule->len, schedule->rounds, round);
  int64_t len = gather_mpi_round_begin(schedule->len, schedule->rounds, round + 1) - begin;
  if (len == 0 || moving->row_bytes == 0) return GATHER_OK;
  int64_t shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK];
  for (int32_t d = 1; d < plan->owner.mine.rank; d++) shape[d] = out_shape[d] = plan->owner.shape[d];
  shape[0] = schedule->reserved + schedule->round_first[round + 1];
  out_shape[0] = len;
  const gather_tensor data = {.data = plan->arriving.data,
                              .type = plan->owner.mine.type,
                              .rank = plan->owner.mine.rank,
                              .item_bytes = plan->owner.mine.item_bytes,
                              .shape = shape,
                              .flags = plan->owner.mine.flags & GATHER_TENSOR_BYTE_SWAPPED};
  gather_tensor out = data;
  out.data = (char *)moving->part->rows->data + (moving->part->begin + begin) * moving->row_bytes;
  out.shape = out_shape;
  const gather_tensor slots = {.data = schedule->slots + begin, .type = GATHER_TYPE_INT32, .rank = 1, .shape = &len};
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = plan->owner.executor;
  options.fresh_output = true;
  return gather_apply(gather_op_find("Gather", "onnx-13"), &data, &slots, &out, &options, own);
}

/* Writes a round, and notes an error. */
static void place_round(gather_mpi_moving *moving, int32_t round) {
  if (moving->own_status != GATHER_OK) return;
  const double start = gather_mpi_now();
  gather_error error;
  const gather_status status = place(moving, round, &error);
  if (status != GATHER_OK) {
    moving->own_status = status;
    *moving->own = error;
  }
  moving->plan->statistics.seconds_place += gather_mpi_now() - start;
}

/* Waits for a step, and writes its round if that is complete. */
static gather_status finish_step(gather_mpi_moving *moving, int32_t step, gather_error *error) {
  if (moving->parties > 1) {
    const double start = gather_mpi_now();
    moving->plan->link.bulk = true;
    const gather_status status = gather_mpi_link_wait(&moving->plan->link, &moving->requests[step % 2], error);
    moving->plan->link.bulk = false;
    moving->plan->statistics.seconds_wait += gather_mpi_now() - start;
    if (status != GATHER_OK) return status;
  }
  if (step % moving->pieces == moving->pieces - 1) place_round(moving, step / moving->pieces);
  return GATHER_OK;
}

gather_status gather_mpi_move(gather_mpi_moving *moving, gather_error *error) {
  gather_mpi_plan *plan = moving->plan;
  const int32_t steps = moving->rounds * moving->pieces;
  gather_status status = GATHER_OK;
  for (int32_t s = 0; s < steps; s++) {
    const int32_t round = s / moving->pieces, piece = s % moving->pieces;
    /* The memory of this one is needed again. */
    if (s >= 2) status = finish_step(moving, s - 2, error);
    if (status != GATHER_OK) return status;
    const double start = gather_mpi_now();
    if (moving->parties > 1) {
      gather_step(moving, round, piece, plan->leaving[s % 2].data);
      status = start_step(moving, round, piece, s % 2, plan->leaving[s % 2].data, error);
      if (status != GATHER_OK) return status;
    }
    if (piece == 0) take_own(moving, round);
    plan->statistics.seconds_gather += gather_mpi_now() - start;
  }
  for (int32_t s = steps > 2 ? steps - 2 : 0; s < steps; s++) {
    status = finish_step(moving, s, error);
    if (status != GATHER_OK) return status;
  }
  return GATHER_OK;
}

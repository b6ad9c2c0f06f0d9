/* SPDX-License-Identifier: MIT
 *
 * mpi_create.c: makes a plan: what each rank brings must fit together.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_internal.h"

/* Options of any version of the header. Returns GATHER_USAGE as gather.h describes. */
static gather_status read_options(const gather_mpi_options *given, gather_mpi_options *options, gather_error *error) {
  *options = (gather_mpi_options)GATHER_MPI_OPTIONS_INIT;
  if (!given) return GATHER_OK;
  const size_t size = given->size;
  bool valid = size >= sizeof(size_t) && size <= 4096 && size % sizeof(size_t) == 0;
  for (size_t i = sizeof *options; valid && i < size; i++) valid = ((const char *)given)[i] == 0;
  if (!valid)
    return gather_error_set_input(error, GATHER_USAGE, "options", "gather_mpi_options: unknown size %zu, or not initialised", size);
  memcpy(options, given, size < sizeof *options ? size : sizeof *options);
  return GATHER_OK;
}

/* The errors of the options that need no other rank. */
static gather_status check_options(const gather_mpi_options *options, int ranks, const gather_op *op, gather_error *error) {
  if (options->layout < GATHER_MPI_AUTO || options->layout > GATHER_MPI_SAME)
    return gather_error_set_input(error, GATHER_USAGE, "options", "unknown layout %d", (int)options->layout);
  if (options->rounds < 0 || options->rounds > GATHER_MPI_MAX_ROUNDS)
    return gather_error_set_input(error, GATHER_USAGE, "options", "rounds must be 0 to %d, not %d", GATHER_MPI_MAX_ROUNDS, options->rounds);
  if (options->buffer_bytes < 0 || options->hot_rows < 0 || options->hot_rows > INT32_MAX / 32)
    return gather_error_set_input(error, GATHER_USAGE, "options", "%s is out of range",
                                  options->buffer_bytes < 0 ? "buffer_bytes" : "hot_rows");
  if (op->family != GATHER_FAMILY_GATHER)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, "options", "only versions of Gather are supported, not %s", op->name);
  if ((int)options->on_bad < 0 || options->on_bad > GATHER_ON_BAD_PROMISE || (int)options->negative < 0 ||
      options->negative > GATHER_NEGATIVE_OFF)
    return gather_error_set_input(error, GATHER_USAGE, "options", "unknown value of %s",
                                  options->negative > GATHER_NEGATIVE_OFF ? "negative" : "on_bad");
  if (options->on_bad == GATHER_ON_BAD_FILL && !options->fill)
    return gather_error_set_input(error, GATHER_USAGE, "options", "on_bad is fill, but fill is NULL");
  if (options->layout != GATHER_MPI_SPLITS) return GATHER_OK;
  bool ascending = options->splits && options->splits[0] == 0;
  for (int p = 0; ascending && p < ranks; p++) ascending = options->splits[p] <= options->splits[p + 1];
  if (!ascending)
    return gather_error_set_input(error, GATHER_USAGE, "options", "splits must be %d ascending numbers, the first 0", ranks + 1);
  return GATHER_OK;
}

/* The policy's row, which is in the first slot of the buffer of arriving rows. */
static gather_status make_fill_row(gather_mpi_plan *plan, const gather_mpi_options *options, gather_error *error) {
  if (plan->on_bad != GATHER_ON_BAD_ZERO && plan->on_bad != GATHER_ON_BAD_FILL) return GATHER_OK;
  const gather_mpi_owner *owner = &plan->owner;
  plan->fill_slots = 1;
  if (plan->on_bad == GATHER_ON_BAD_FILL) {
    const int64_t bits = gather_type_get(owner->mine.type)->bits;
    const size_t bytes = owner->mine.type == GATHER_TYPE_OPAQUE ? (size_t)owner->mine.item_bytes : (size_t)(bits + 7) / 8;
    plan->fill_element = malloc(bytes > 0 ? bytes : 1);
    if (!plan->fill_element) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for the fill value");
    memcpy(plan->fill_element, options->fill, bytes);
  }
  plan->fill_row = calloc(1, owner->row_bytes > 0 ? (size_t)owner->row_bytes : 1);
  if (!plan->fill_row || (uint64_t)owner->row_bytes > SIZE_MAX)
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for a row");
  int64_t empty[GATHER_MAX_RANK] = {0}, one[GATHER_MAX_RANK] = {1}, zero = 0;
  for (int32_t d = 1; d < owner->mine.rank; d++) empty[d] = one[d] = owner->shape[d];
  gather_tensor data = owner->mine, out = owner->mine;
  data.data = NULL;
  data.strides = out.strides = NULL;
  data.packed_offset = out.packed_offset = 0;
  data.shape = empty;
  out.shape = one;
  out.data = plan->fill_row;
  out.flags &= (uint32_t)GATHER_TENSOR_BYTE_SWAPPED;
  const gather_tensor id = {.data = &zero, .type = GATHER_TYPE_INT64, .rank = 1, .shape = one};
  gather_options fill = GATHER_OPTIONS_INIT;
  fill.on_bad = plan->on_bad;
  fill.fill = options->fill;
  return gather_apply(plan->op, &data, &id, &out, &fill, error);
}

/* Everything about this rank alone. */
static gather_status open_own(gather_mpi_plan *plan, const gather_tensor *mine, const gather_mpi_options *given,
                              gather_mpi_options *options, gather_error *error) {
  gather_status status = read_options(given, options, error);
  plan->failed_rank = options->failed_rank;
  plan->op = options->op ? options->op : gather_op_find("Gather", "onnx-13");
  if (status == GATHER_OK) status = check_options(options, plan->link.ranks, plan->op, error);
  if (status == GATHER_OK) status = gather_mpi_owner_open(&plan->owner, mine, options, error);
  if (status != GATHER_OK) return status;
  plan->on_bad = options->on_bad == GATHER_ON_BAD_DEFAULT ? plan->op->on_bad : options->on_bad;
  if (plan->on_bad == GATHER_ON_BAD_PROMISE) plan->on_bad = GATHER_ON_BAD_CLAMP;
  plan->negative = options->negative == GATHER_NEGATIVE_DEFAULT ? plan->op->negative : options->negative == GATHER_NEGATIVE_ON;
  plan->rounds = options->rounds;
  plan->buffer_bytes = options->buffer_bytes ? options->buffer_bytes : (int64_t)1 << 30;
  plan->splits = malloc(((size_t)plan->link.ranks + 1) * sizeof *plan->splits);
  if (!plan->splits || !gather_mpi_reserve(&plan->records, 2 * (int64_t)plan->link.ranks * GATHER_MPI_TELL_LEN, sizeof(int64_t)))
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for %d ranks", plan->link.ranks);
  if (!gather_mpi_hot_open(&plan->hot, options->hot_rows))
    return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for the counts of %" PRId64 " hot rows", options->hot_rows);
  return make_fill_row(plan, options, error);
}

/* The numbers that must be equal on all ranks. */
static void tell(const gather_mpi_plan *plan, const gather_mpi_options *options, int64_t *record) {
  const gather_mpi_owner *owner = &plan->owner;
  record[RECORD_ROWS] = owner->shape[0];
  record[RECORD_FALLIBLE] = gather_mpi_owner_fallible(owner);
  record[RECORD_READ] = owner->read != NULL;
  record[RECORD_TABLE] = owner->table != NULL;
  record[RECORD_IDENTITY] = owner->table ? (int64_t)gather_mpi_identity(owner->table) : 0;
  record[RECORD_TYPE] = owner->mine.type;
  record[RECORD_ITEM] = owner->mine.type == GATHER_TYPE_OPAQUE ? owner->mine.item_bytes : 0;
  record[RECORD_ORDER] = (owner->mine.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  record[RECORD_ROW_RANK] = owner->mine.rank;
  record[RECORD_ROW_SHAPE] =
      (int64_t)gather_mpi_fnv(GATHER_MPI_FNV, owner->shape + 1, (size_t)(owner->mine.rank - 1) * sizeof *owner->shape);
  record[RECORD_LAYOUT] = options->layout;
  const int64_t numbers[] = {plan->on_bad,       plan->negative,    plan->rounds,
                             plan->buffer_bytes, options->hot_rows, (int64_t)(options->seconds * 1e3)};
  uint64_t hash = gather_mpi_fnv(GATHER_MPI_FNV, numbers, sizeof numbers);
  if (options->layout == GATHER_MPI_SPLITS)
    hash = gather_mpi_fnv(hash, options->splits, (size_t)(plan->link.ranks + 1) * sizeof *options->splits);
  hash = gather_mpi_fnv(hash, plan->op->name, strlen(plan->op->name));
  if (plan->fill_row) hash = gather_mpi_fnv(hash, plan->fill_row, (size_t)owner->row_bytes);
  record[RECORD_OPTIONS] = (int64_t)hash;
}

/* A datatype of a row, so that counts are rows: 2^31 rows, not bytes. */
static gather_status make_row_type(gather_mpi_plan *plan, gather_error *error) {
  const int64_t piece = 1 << 30, bytes = plan->owner.row_bytes;
  gather_mpi_link *link = &plan->link;
  gather_status status;
  if (bytes <= piece) {
    status = gather_mpi_link_check(link, MPI_Type_contiguous((int)bytes, MPI_BYTE, &plan->row), error);
    return status == GATHER_OK ? gather_mpi_link_check(link, MPI_Type_commit(&plan->row), error) : status;
  }
  MPI_Datatype large;
  status = gather_mpi_link_check(link, MPI_Type_contiguous((int)piece, MPI_BYTE, &large), error);
  if (status != GATHER_OK) return status;
  const int lengths[2] = {(int)(bytes / piece), (int)(bytes % piece)};
  const MPI_Aint places[2] = {0, (MPI_Aint)(bytes / piece * piece)};
  const MPI_Datatype types[2] = {large, MPI_BYTE};
  status = gather_mpi_link_check(link, MPI_Type_create_struct(2, lengths, places, types, &plan->row), error);
  if (status == GATHER_OK) status = gather_mpi_link_check(link, MPI_Type_commit(&plan->row), error);
  MPI_Type_free(&large);
  return status;
}

static void describe(gather_mpi_plan *plan, int64_t most_rows) {
  gather_mpi_info *info = &plan->info;
  info->tensor = plan->owner.mine;
  for (int32_t d = 1; d < plan->owner.mine.rank; d++) plan->shape[d] = plan->owner.shape[d];
  plan->shape[0] = info->rows;
  info->tensor.data = NULL;
  info->tensor.strides = NULL;
  info->tensor.packed_offset = 0;
  info->tensor.shape = plan->shape;
  info->tensor.flags &= (uint32_t)GATHER_TENSOR_BYTE_SWAPPED;
  info->row_bytes = plan->owner.row_bytes;
  info->rows_mine = plan->owner.shape[0];
  info->rank = plan->link.rank;
  info->ranks = plan->link.ranks;
  info->why = plan->why;
  plan->narrow = most_rows <= (int64_t)UINT32_MAX;
}

/* Why this layout, in one sentence. */
static gather_status explain(gather_mpi_plan *plan, const gather_mpi_options *options, const int64_t *records, gather_error *error) {
  const char *why = "each row is on one rank: rows are exchanged";
  bool tables = true, visible = false;
  for (int p = 0; p < plan->link.ranks; p++) tables = tables && records[p * RECORD_LEN + RECORD_TABLE];
  if (plan->link.ranks == 1) {
    why = "there is one rank: it takes its own rows";
  } else if (plan->info.layout == GATHER_MPI_SAME) {
    why = options->layout == GATHER_MPI_AUTO ? "every rank reads the same files: each takes its own rows"
                                             : "every rank has the whole table: each takes its own rows";
  } else if (tables) {
    const gather_status status = gather_mpi_visible(&plan->link, plan->owner.table, &visible, error);
    if (status != GATHER_OK) return status;
    if (visible)
      why =
          "rows are exchanged, although every rank can read the files of all: with tables of all files on every rank "
          "(GATHER_MPI_SAME) each would take its own rows";
  }
  (void)snprintf(plan->why, sizeof plan->why, "%s", why);
  return GATHER_OK;
}

/* Whether ranks that each say that they have the whole table have the same rows. */
static gather_status verify_same(gather_mpi_plan *plan, int32_t *failed, gather_error *error) {
  gather_error own;
  uint64_t sample = 0;
  gather_status status = gather_mpi_sample(&plan->owner, &sample, &own);
  status = gather_mpi_agree(&plan->link, status, &own, plan->op, failed, error);
  if (status != GATHER_OK) return status;
  uint64_t *samples = calloc((size_t)plan->link.ranks, sizeof *samples);
  status = samples ? GATHER_OK : gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for %d ranks", plan->link.ranks);
  status = gather_mpi_agree(&plan->link, status, &own, plan->op, failed, error);
  if (status == GATHER_OK) status = gather_mpi_link_gather(&plan->link, &sample, sizeof sample, samples, error);
  for (int p = 1; status == GATHER_OK && p < plan->link.ranks; p++)
    if (samples[p] != samples[0]) {
      *failed = p;
      status = gather_error_set_input(error, GATHER_MISMATCH, "data", "rank %d: the rows of its table differ from those of rank 0", p);
    }
  gather_mpi_link_free(&plan->link, samples);
  return status;
}

static gather_status create(gather_mpi_plan *plan, const gather_tensor *mine, const gather_mpi_options *given, int32_t *failed,
                            gather_error *error) {
  gather_mpi_options options;
  gather_error own;
  int64_t record[RECORD_LEN] = {0}, *records = NULL;
  gather_mpi_link *link = &plan->link;
  gather_status status = open_own(plan, mine, given, &options, &own);
  if (status == GATHER_OK) {
    tell(plan, &options, record);
    records = calloc((size_t)link->ranks, sizeof record);
    if (!records) status = gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for %d ranks", link->ranks);
  }
  record[RECORD_BUILD] =
      (int64_t)sizeof(gather_error) << 32 | GATHER_VERSION_MAJOR << 16 | GATHER_VERSION_MINOR << 8 | GATHER_VERSION_PATCH;
  status = gather_mpi_agree(link, status, &own, plan->op, failed, error);
  if (status == GATHER_OK) status = gather_mpi_link_gather(link, record, (int)sizeof record, records, error);
  if (status == GATHER_OK) status = gather_mpi_compare(records, link->ranks, failed, error);
  if (status == GATHER_OK) status = gather_mpi_lay_out(plan, records, &options, failed, error);
  int64_t most = 0;
  plan->alone = plan->spread.ranks == 1; /* and every rank's rows are where gather_apply or a table finds them */
  for (int p = 0; status == GATHER_OK && p < link->ranks; p++) {
    if (records[p * RECORD_LEN + RECORD_ROWS] > most) most = records[p * RECORD_LEN + RECORD_ROWS];
    plan->fallible = plan->fallible || records[p * RECORD_LEN + RECORD_FALLIBLE];
    plan->alone = plan->alone && !records[p * RECORD_LEN + RECORD_READ];
  }
  if (status == GATHER_OK) {
    describe(plan, most);
    if (plan->spread.ranks == 1) plan->hot.most = 0; /* nothing is fetched from others */
    status = explain(plan, &options, records, error);
  }
  if (status == GATHER_OK) status = make_row_type(plan, error);
  if (status == GATHER_OK && plan->info.layout == GATHER_MPI_SAME) status = verify_same(plan, failed, error);
  gather_mpi_link_free(link, records);
  return status;
}

/* This rank is out of memory for a plan, and reports it to the others. The link for that is on the stack: if they do not answer in time
 * either, there is nowhere else to keep it. */
static gather_status tell_no_memory(MPI_Comm comm, double seconds, int32_t *failed, gather_error *error) {
  gather_mpi_link link;
  gather_error own;
  memset(&link, 0, sizeof link);
  link.seconds = seconds;
  gather_status status = gather_mpi_link_open(&link, comm, error);
  if (status != GATHER_OK) return status;
  status = gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for a plan");
  status = gather_mpi_agree(&link, status, &own, NULL, failed, error);
  if (!link.broken) MPI_Comm_free(&link.comm);
  return status;
}

gather_status gather_mpi_plan_create(MPI_Comm comm, const gather_tensor *mine, const gather_mpi_options *options, gather_mpi_plan **plan,
                                     gather_error *error) {
  int running = 0, ended = 0, between = 0;
  *plan = NULL;
  if (MPI_Initialized(&running) != MPI_SUCCESS || !running || MPI_Finalized(&ended) != MPI_SUCCESS || ended)
    return gather_error_set(error, GATHER_USAGE, "MPI is not running: call MPI_Init first");
  if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS || between)
    return gather_error_set(error, GATHER_USAGE,
                            comm == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL" : "the communicator is between two groups");
  /* Options that cannot be read are an error that the others must hear of, so their time limit comes first. */
  const bool limited = options && options->size >= offsetof(gather_mpi_options, failed_rank) && options->seconds != 0;
  const double seconds = limited ? options->seconds : 600;
  int32_t failed = -1;
  gather_status status;
  gather_mpi_plan *made = calloc(1, sizeof *made);
  if (!made) {
    status = tell_no_memory(comm, seconds, &failed, error);
    if (options && options->size >= sizeof *options && options->failed_rank) *options->failed_rank = failed;
    return status;
  }
  made->row = MPI_DATATYPE_NULL;
  made->link.seconds = seconds;
  status = gather_mpi_link_open(&made->link, comm, error);
  if (status == GATHER_OK) {
    status = create(made, mine, options, &failed, error);
    if (made->failed_rank) *made->failed_rank = failed;
  }
  if (status != GATHER_OK) {
    gather_mpi_plan_destroy(made);
    return status;
  }
  *plan = made;
  return GATHER_OK;
}

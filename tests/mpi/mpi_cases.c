/* SPDX-License-Identifier: MIT
 *
 * mpi_cases FOLDER FIRST COUNT: random tables over random numbers of ranks, and takes that must be what gather_apply does with the whole
 * table: its rows, or its error on every rank. Run by mpirun; FOLDER is for files. The last line says how many cases were equal.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather/mpi.h"
#include "mpi/mpi_random.h"

enum { MOST_RANKS = 64, IDS_RANK = 3 };

static const char *folder;
static int64_t case_number;
static int world_rank;

static void *allocate(int64_t bytes) {
  void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 3);
  return memory;
}

#define EXPECT(condition, ...)                                                                    \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "case %" PRId64 ", rank %d, line %d: ", case_number, world_rank, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                                                               \
      fprintf(stderr, "\n");                                                                      \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                               \
    }                                                                                             \
  } while (0)

/* ---- a table over ranks ------------------------------------------------------------------------------------------------ */

typedef struct table_case {
  MPI_Comm comm;
  int rank, ranks;
  random_state all, own; /* the same on all ranks; of this rank */
  gather_tensor whole;
  int64_t shape[GATHER_MAX_RANK], part_shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  int64_t row_bytes, row_len;
  int64_t splits[MOST_RANKS + 1];
  gather_mpi_options options;
  gather_tensor mine;
  unsigned char *memory; /* of mine */
  gather_table *table;
  unsigned char fill[64];
  int32_t failed_rank;
  bool striped, same;
} table_case;

static void random_type(table_case *c) {
  do {
    c->whole.type = (gather_type)(1 + random_below(&c->all, 33));
  } while (c->whole.type == GATHER_TYPE_STRING);
  const gather_type_info *type = gather_type_get(c->whole.type);
  c->whole.item_bytes = c->whole.type == GATHER_TYPE_OPAQUE ? 1 + random_below(&c->all, 20) : 0;
  if (type->packing == GATHER_PACKING_BYTES && type->bits > 8 && random_below(&c->all, 8) == 0) c->whole.flags = GATHER_TENSOR_BYTE_SWAPPED;
  const int64_t kind = random_below(&c->all, 100);
  const int64_t item = type->bits ? (type->bits + 7) / 8 : c->whole.item_bytes;
  c->whole.rank = 1 + (int32_t)random_below(&c->all, 4);
  c->row_len = 1;
  for (int32_t d = 1; d < c->whole.rank; d++) {
    c->shape[d] = kind < 2 ? 0 : 1 + random_below(&c->all, kind < 80 ? 4 : kind < 95 ? 16 : 40);
    if (d == c->whole.rank - 1) {
      if (kind >= 98) c->shape[d] = 1 + ((int64_t)1 << 20) / (c->row_len * item); /* a row of about 1 MiB */
      c->shape[d] *= type->group_len;
    }
    c->row_len *= c->shape[d];
  }
  if (c->whole.rank == 1 && type->group_len > 1) { /* packed rows are whole bytes */
    c->whole.rank = 2;
    c->shape[1] = c->row_len = type->group_len;
  }
  EXPECT(gather_type_bytes(c->whole.type, c->whole.item_bytes, c->row_len, &c->row_bytes) == GATHER_OK, "bytes of a row");
}

/* How many rows each rank has. */
static void random_rows(table_case *c) {
  const int64_t kind = random_below(&c->all, 6), most = c->row_bytes > 65536 ? 3 : c->row_bytes > 2048 ? 12 : 60;
  const int64_t block = random_below(&c->all, most + 1), owner = random_below(&c->all, c->ranks);
  c->striped = kind == 0;
  c->same = kind == 1;
  c->splits[0] = 0;
  for (int p = 0; p < c->ranks; p++) {
    int64_t rows = random_below(&c->all, 4) ? random_below(&c->all, most + 1) : 0; /* some ranks are empty */
    if (kind == 2) rows = block;
    if (kind == 3) rows = p == owner ? block : 0;
    if (c->same && p > 0) rows = 0;
    c->splits[p + 1] = c->splits[p] + rows;
  }
  c->shape[0] = c->splits[c->ranks];
  c->whole.shape = c->shape;
}

/* Row number `local` of a rank in the whole table. */
static int64_t row_of(const table_case *c, int64_t local) {
  return c->same ? local : c->striped ? local * c->ranks + c->rank : c->splits[c->rank] + local;
}

static int64_t op_count(void) {
  int64_t count = 0;
  while (gather_op_at((size_t)count)) count++;
  return count;
}

static int64_t rows_mine(const table_case *c) {
  const int64_t n = c->shape[0];
  if (c->same) return n;
  return c->striped ? n / c->ranks + (c->rank < n % c->ranks) : c->splits[c->rank + 1] - c->splits[c->rank];
}

static void random_policy(table_case *c) {
  gather_mpi_options *options = &c->options;
  static const gather_on_bad policies[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP,
                                           GATHER_ON_BAD_WRAP,    GATHER_ON_BAD_ZERO,    GATHER_ON_BAD_FILL};
  options->on_bad = policies[random_below(&c->all, 7)];
  options->negative = (gather_negative)random_below(&c->all, 3);
  for (size_t i = 0; i < sizeof c->fill; i++) c->fill[i] = (unsigned char)random_below(&c->all, 256);
  const gather_type_info *type = gather_type_get(c->whole.type);
  if (type->bits > 0 && type->bits < 8) c->fill[0] &= (unsigned char)((1 << type->bits) - 1);
  if (type->kind == GATHER_KIND_BOOL) c->fill[0] &= 1;
  options->fill = c->fill;
  do {
    options->op = gather_op_at((size_t)random_below(&c->all, op_count()));
  } while (options->op->family != GATHER_FAMILY_GATHER);
  if (random_below(&c->all, 3) == 0) options->op = NULL;
  options->rounds = random_below(&c->all, 3) == 0 ? (int32_t)random_below(&c->all, 9) : (int32_t)random_below(&c->all, 3);
  options->buffer_bytes = random_below(&c->all, 6) ? 0 : (1 + random_below(&c->all, 40)) * (c->row_bytes + 1);
  options->hot_rows = random_below(&c->all, 4) ? 0 : 1 + random_below(&c->all, 30);
  options->seconds = 120;
  options->failed_rank = &c->failed_rank;
  options->layout = c->striped ? GATHER_MPI_STRIPES : c->same ? GATHER_MPI_SAME : (gather_mpi_layout)random_below(&c->all, 2);
  if (!c->striped && !c->same && random_below(&c->all, 4) == 0) {
    options->layout = GATHER_MPI_SPLITS;
    options->splits = c->splits;
  }
}

/* The rows of this rank from memory that is there already. */
static gather_status read_back(void *context, const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  return gather_take(context, ids, 0, rows, error);
}

static void open_file(table_case *c, bool shared) {
  char path[512];
  snprintf(path, sizeof path, "%s/%" PRId64 ".%d", folder, case_number, shared ? -1 : c->rank);
  if (!shared || c->rank == 0) {
    FILE *file = fopen(path, "wb");
    EXPECT(file, "cannot write %s", path);
    const size_t bytes = (size_t)(rows_mine(c) * c->row_bytes);
    EXPECT(fwrite(c->memory, 1, bytes, file) == bytes && fclose(file) == 0, "cannot write %s", path);
  }
  if (shared) patient_barrier(c->comm);
  gather_raw raw = {0};
  char opaque[32];
  snprintf(opaque, sizeof opaque, "|V%" PRId64, c->whole.item_bytes);
  raw.type = c->whole.type == GATHER_TYPE_OPAQUE ? opaque : gather_type_get(c->whole.type)->name;
  raw.rank = c->mine.rank;
  raw.shape = c->part_shape;
  raw.as_is = true;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.raw = &raw;
  gather_error error;
  EXPECT(gather_table_open(path, &options, &c->table, &error) == GATHER_OK, "%s", error.message);
  if (shared) patient_barrier(c->comm);
  if (!shared || c->rank == 0) remove(path);
}

/* The rows of this rank in memory, with gaps, in a file or behind a function. */
static void random_source(table_case *c) {
  const int64_t rows = rows_mine(c), kind = random_below(&c->own, 6);
  const bool shared_file = c->same && random_below(&c->all, 2) && !c->whole.flags && c->row_bytes > 0 && rows > 0;
  memcpy(c->part_shape, c->shape, sizeof c->shape);
  c->part_shape[0] = rows;
  c->mine = c->whole;
  c->mine.shape = c->part_shape;
  const int64_t gap_len = kind == 1 ? gather_type_get(c->whole.type)->group_len * (1 + random_below(&c->own, 3)) : 0;
  int64_t gap;
  EXPECT(gather_type_bytes(c->whole.type, c->whole.item_bytes, gap_len, &gap) == GATHER_OK, "bytes of a gap");
  const int64_t step = c->row_bytes + gap;
  c->memory = allocate(rows * step);
  for (int64_t i = 0; i < rows; i++)
    memcpy(c->memory + i * step, (unsigned char *)c->whole.data + row_of(c, i) * c->row_bytes, (size_t)c->row_bytes);
  c->mine.data = c->memory;
  if (gap_len > 0 && !shared_file) {
    const gather_type_info *type = gather_type_get(c->whole.type);
    int64_t inner = type->bits % 8 ? 1 : c->row_len > 0 ? c->row_bytes / c->row_len : 1;
    for (int32_t d = c->mine.rank - 1; d > 0; d--) {
      c->strides[d] = inner;
      inner *= c->part_shape[d];
    }
    c->strides[0] = type->bits % 8 ? c->row_len + gap_len : step;
    c->mine.strides = c->strides;
  }
  if (shared_file || (kind == 2 && !c->whole.flags && c->row_bytes > 0 && rows > 0)) {
    if (gap_len > 0) /* files have no gaps */
      for (int64_t i = 0; i < rows; i++) memmove(c->memory + i * c->row_bytes, c->memory + i * step, (size_t)c->row_bytes);
    open_file(c, shared_file);
    c->options.table = c->table;
    if (shared_file && random_below(&c->all, 2)) c->options.layout = GATHER_MPI_AUTO;
  } else if (kind == 3) {
    c->options.read = read_back;
    c->options.read_context = &c->mine;
  }
}

/* ---- ids ------------------------------------------------------------------------------------------------------------------ */

typedef struct id_case {
  gather_tensor ids;
  int64_t shape[IDS_RANK], strides[IDS_RANK];
  unsigned char *memory;
} id_case;

static const gather_type whole_types[] = {GATHER_TYPE_INT64,  GATHER_TYPE_INT64,  GATHER_TYPE_INT32,  GATHER_TYPE_INT16, GATHER_TYPE_INT8,
                                          GATHER_TYPE_UINT64, GATHER_TYPE_UINT32, GATHER_TYPE_UINT16, GATHER_TYPE_UINT8};
static const gather_type packed_types[] = {GATHER_TYPE_INT4,  GATHER_TYPE_UINT4, GATHER_TYPE_INT2, GATHER_TYPE_UINT2,
                                           GATHER_TYPE_UINT1, GATHER_TYPE_UINT3, GATHER_TYPE_UINT6};

/* An id: mostly in range, often repeated; `bad`: now and then out of range. */
static int64_t random_id(random_state *r, int64_t n, int64_t few, bool bad) {
  if (n == 0 || (bad && random_below(r, 12) == 0)) {
    const int64_t far[] = {n, n + 1, -n - 1, -n, -1, INT64_MAX, INT64_MIN, 100000, -100000};
    return far[random_below(r, 9)];
  }
  const int64_t id = random_below(r, 2) ? random_below(r, n) : random_below(r, few);
  return bad && random_below(r, 4) == 0 ? id - n : id;
}

/* Writes a number as an element; swaps its bytes where asked. */
static void put(unsigned char *to, int64_t number, int32_t bytes, bool swap) {
  unsigned char native[8];
  const int64_t n8 = number;
  const int32_t n4 = (int32_t)number;
  const int16_t n2 = (int16_t)number;
  const int8_t n1 = (int8_t)number;
  memcpy(native, bytes == 8 ? (const void *)&n8 : bytes == 4 ? (const void *)&n4 : bytes == 2 ? (const void *)&n2 : &n1, (size_t)bytes);
  for (int32_t i = 0; i < bytes; i++) to[i] = native[swap ? bytes - 1 - i : i];
}

static void random_ids(const table_case *c, random_state *r, bool bad, id_case *i) {
  memset(i, 0, sizeof *i);
  const bool packed = random_below(r, 12) == 0;
  i->ids.type = packed ? packed_types[random_below(r, 7)] : whole_types[random_below(r, 9)];
  i->ids.rank = (int32_t)random_below(r, IDS_RANK + 1);
  i->ids.shape = i->shape;
  const int64_t budget = c->row_bytes > 65536 ? 2 : c->row_bytes > 2048 ? 4 : i->ids.rank == 1 ? 200 : 8;
  int64_t len = 1;
  for (int32_t d = 0; d < i->ids.rank; d++) len *= i->shape[d] = random_below(r, 12) ? 1 + random_below(r, budget) : 0;
  const gather_type_info *type = gather_type_get(i->ids.type);
  const int64_t n = c->shape[0], few = 1 + (n > 0 ? random_below(r, n) : 0);
  if (packed) {
    i->memory = allocate(len + 8);
    for (int64_t k = 0; k < len + 8; k++) i->memory[k] = (unsigned char)random_below(r, n >= 64 || bad ? 256 : 1);
    i->ids.data = i->memory;
    return;
  }
  const int32_t item = type->bits / 8;
  const int64_t spread = random_below(r, 4) ? 1 : 2;
  const bool swap = random_below(r, 8) == 0, backwards = spread == 2 && i->ids.rank == 1 && len > 0 && random_below(r, 2);
  i->memory = allocate(len * spread * item);
  for (int64_t k = 0; k < len; k++) put(i->memory + k * spread * item, random_id(r, n, few, bad), item, swap);
  i->ids.data = i->memory;
  i->ids.flags = (swap ? GATHER_TENSOR_BYTE_SWAPPED : 0u) | (random_below(r, 6) ? 0u : GATHER_TENSOR_SHARED);
  if (spread == 1) return;
  int64_t step = item * spread;
  for (int32_t d = i->ids.rank - 1; d >= 0; d--) {
    i->strides[d] = step;
    step *= i->shape[d] > 0 ? i->shape[d] : 1;
  }
  if (backwards) {
    i->ids.data = i->memory + (len - 1) * item * spread;
    i->strides[0] = -i->strides[0];
  }
  i->ids.strides = i->strides;
}

/* ---- one take ------------------------------------------------------------------------------------------------------------- */

static int64_t takes, errors, kept;

static void same_error(const table_case *c, const gather_error *got, const gather_error *serial, const char *op, const char *input) {
  char expected[600];
  snprintf(expected, sizeof expected, "rank %d: %s", c->failed_rank, serial->message);
  EXPECT(strcmp(got->message, c->ranks > 1 ? expected : serial->message) == 0, "message '%s' instead of '%s'", got->message, expected);
  EXPECT(strcmp(got->op ? got->op : "", op) == 0, "operator '%s' instead of '%s'", got->op ? got->op : "", op);
  EXPECT(strcmp(got->input ? got->input : "", input) == 0, "input '%s' instead of '%s'", got->input ? got->input : "", input);
  EXPECT(got->axis == serial->axis && got->position_rank == serial->position_rank && got->value == serial->value &&
             got->value_is_unsigned == serial->value_is_unsigned && got->low == serial->low && got->high == serial->high &&
             got->bad_count == serial->bad_count,
         "fields: value %" PRId64 " of [%" PRId64 ", %" PRId64 "], %" PRId64 " of them, rank %d axis %d; should be %" PRId64 " of [%" PRId64
         ", %" PRId64 "], %" PRId64 ", rank %d axis %d",
         got->value, got->low, got->high, got->bad_count, got->position_rank, got->axis, serial->value, serial->low, serial->high,
         serial->bad_count, serial->position_rank, serial->axis);
  for (int32_t d = 0; d < serial->position_rank; d++) EXPECT(got->position[d] == serial->position[d], "position %d", d);
}

/* What the rank that fails says, on every rank. */
static void check_failure(const table_case *c, int rank, gather_status status, const gather_error *got, gather_error *serial) {
  char op[32] = "", input[32] = "";
  if (c->rank == rank) {
    snprintf(op, sizeof op, "%s", serial->op ? serial->op : "");
    snprintf(input, sizeof input, "%s", serial->input ? serial->input : "");
  }
  patient_bcast(serial, sizeof *serial, rank, c->comm);
  patient_bcast(op, sizeof op, rank, c->comm);
  patient_bcast(input, sizeof input, rank, c->comm);
  EXPECT(status == serial->status, "status %d (%s) instead of %d (%s)", (int)status, got->message, (int)serial->status, serial->message);
  EXPECT(c->failed_rank == rank, "failed_rank %d instead of %d", c->failed_rank, rank);
  same_error(c, got, serial, op, input);
}

static void check_take(table_case *c, gather_mpi_plan *plan, const id_case *i) {
  const gather_op *op = c->options.op ? c->options.op : gather_op_find("Gather", "onnx-13");
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = c->options.on_bad;
  options.negative = c->options.negative;
  options.fill = c->fill;
  int64_t shape[GATHER_MAX_RANK], len = 1;
  for (int32_t d = 0; d < i->ids.rank; d++) len *= shape[d] = i->shape[d];
  for (int32_t d = 1; d < c->whole.rank; d++) shape[i->ids.rank + d - 1] = c->shape[d];
  const int64_t bytes = len * c->row_bytes;
  gather_tensor out = c->whole;
  out.rank = i->ids.rank + c->whole.rank - 1;
  out.shape = shape;
  unsigned char *expected = allocate(bytes), *rows = allocate(bytes);
  memset(expected, 0xA5, (size_t)bytes);
  memset(rows, 0xA5, (size_t)bytes);
  gather_error serial, error;
  memset(&serial, 0, sizeof serial);
  out.data = expected;
  int status = (int)gather_apply(op, &c->whole, &i->ids, &out, &options, &serial), statuses[MOST_RANKS], first = -1;
  MPI_Request request;
  MPI_Iallgather(&status, 1, MPI_INT, statuses, 1, MPI_INT, c->comm, &request);
  patient_wait(&request);
  for (int p = c->ranks - 1; p >= 0; p--)
    if (statuses[p] != GATHER_OK) first = p;
  out.data = rows;
  const gather_status got = gather_mpi_take(plan, &i->ids, &out, &error);
  if (first >= 0) {
    check_failure(c, first, got, &error, &serial);
    memset(expected, 0xA5, (size_t)bytes);
    errors++;
  } else {
    EXPECT(got == GATHER_OK, "%s", error.message);
    EXPECT(c->failed_rank == -1, "failed_rank %d", c->failed_rank);
  }
  EXPECT(memcmp(rows, expected, (size_t)bytes) == 0, "%s: the rows are not those of a serial take", first >= 0 ? "after an error" : "take");
  takes++;
  free(expected);
  free(rows);
}

static void run_case(MPI_Comm comm) {
  table_case c = {.comm = comm, .options = GATHER_MPI_OPTIONS_INIT};
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.ranks);
  c.all.state = random_mix((uint64_t)case_number);
  c.own.state = random_mix((uint64_t)case_number * 1000 + (uint64_t)c.rank);
  random_type(&c);
  random_rows(&c);
  c.whole.data = allocate(c.shape[0] * c.row_bytes);
  random_bytes(c.all.state, 0, c.shape[0] * c.row_bytes, c.whole.data);
  random_policy(&c);
  random_source(&c);
  gather_mpi_plan *plan;
  gather_error error;
  const gather_status status = gather_mpi_plan_create(comm, c.options.table ? NULL : &c.mine, &c.options, &plan, &error);
  EXPECT(status == GATHER_OK, "%s", error.message);
  const gather_mpi_info *info = gather_mpi_plan_describe(plan);
  EXPECT(info->rows == c.shape[0] && info->rows_mine == rows_mine(&c) && info->row_bytes == c.row_bytes, "description");
  EXPECT(!c.same || c.ranks == 1 || info->layout == GATHER_MPI_SAME, "layout %d: %s", (int)info->layout, info->why);
  id_case ids;
  const bool bad = random_below(&c.all, 3) == 0;
  const int64_t culprit = random_below(&c.all, c.ranks);
  random_ids(&c, &c.own, bad && c.rank == culprit, &ids);
  const int64_t count = 1 + random_below(&c.all, 4) + 3 * (random_below(&c.all, 8) == 0); /* hot rows from the second on */
  for (int64_t t = 0; t < count; t++) {
    if (t > 0 && random_below(random_below(&c.all, 2) ? &c.all : &c.own, 2)) {
      free(ids.memory);
      random_ids(&c, &c.own, bad && c.rank == culprit, &ids);
    }
    check_take(&c, plan, &ids);
  }
  gather_mpi_statistics statistics;
  gather_mpi_plan_statistics(plan, &statistics);
  kept += statistics.takes_kept;
  free(ids.memory);
  gather_mpi_plan_destroy(plan);
  gather_table_close(c.table);
  free(c.memory);
  free(c.whole.data);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4 || ranks > MOST_RANKS) {
    fprintf(stderr, "usage: mpi_cases FOLDER FIRST COUNT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  folder = argv[1];
  const int64_t first = strtoll(argv[2], NULL, 10), count = strtoll(argv[3], NULL, 10);
  MPI_Comm comms[MOST_RANKS + 1];
  for (int k = 1; k <= ranks; k++) MPI_Comm_split(MPI_COMM_WORLD, world_rank < k ? 0 : MPI_UNDEFINED, world_rank, &comms[k]);
  for (case_number = first; case_number < first + count; case_number++) {
    const int k = 1 + (int)(random_mix((uint64_t)case_number ^ 77) % (uint64_t)ranks);
    if (world_rank < k) run_case(comms[k]);
  }
  patient_barrier(MPI_COMM_WORLD);
  for (int k = 1; k <= ranks; k++)
    if (comms[k] != MPI_COMM_NULL) MPI_Comm_free(&comms[k]);
  if (world_rank == 0)
    printf("%" PRId64 " cases on 1 to %d ranks equal: %" PRId64 " takes, %" PRId64 " errors, %" PRId64 " kept (%s)\n", count, ranks, takes,
           errors, kept, gather_mpi_built_for());
  MPI_Finalize();
  return 0;
}

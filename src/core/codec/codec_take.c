/* SPDX-License-Identifier: MIT
 *
 * codec_take.c: gathers from a quantised tensor, decodes whole ones, and decodes rows that a caller has read.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/codec/decoder.h"
#include "core/kernel/copy.h"
#include "core/kernel/kernel.h"
#include "core/kernel/tuning.h"
#include "core/op/op.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"
#include "core/system/clock.h"

/* ---- rows of one line each, while those to come are prefetched */

enum {
  LINE = 64,
  AHEAD_ROWS = 32, /* prefetched at most */
  MOST_LINES = 128 /* of a row */
};

/* Rows of one line each, to a dense output. */
typedef struct row_run {
  const gather_decoder *decoder;
  int32_t axis;                /* the last but one: a row is a line */
  int64_t at[GATHER_MAX_RANK]; /* coordinates of a row; that of the axis changes */
  int64_t line_len, codes_bytes;
  const char *first; /* row 0 */
  int64_t step;      /* from row to row: bytes, or codes */
  gather_blocks_fn blocks;
  int64_t block_count;
  bool packed;      /* gather_packed_decode */
  int64_t ahead;    /* rows */
  bool prefetches;  /* the table is out of a core's private cache */
  const void *fill; /* an element for rows that are filled; NULL = 0 */
} row_run;

/* Where row 0 of the axis begins. */
static const char *codes_at(const gather_decoder *decoder, int64_t *at, int32_t axis) {
  at[axis] = 0;
  const int64_t position = gather_line_position(decoder, at, 0) + decoder->first;
  return (const char *)decoder->data + (decoder->by_code ? position / 8 * decoder->bits : position);
}

/* Sets everything but prefetches and fill. at: of the first row. */
static void start_rows(row_run *r, const gather_decoder *decoder, const int64_t *at, int32_t axis) {
  r->decoder = decoder, r->axis = axis;
  memcpy(r->at, at, (size_t)decoder->rank * sizeof *at);
  r->line_len = gather_decoder_line_len(decoder);
  r->codes_bytes = decoder->by_code ? (r->line_len * decoder->bits + 7) / 8 : decoder->line_bytes;
  r->first = decoder->data ? codes_at(decoder, r->at, axis) : NULL, r->step = decoder->strides[axis];
  r->blocks = decoder->info.kind == GATHER_CODEC_BLOCKS && decoder->blocks ? decoder->blocks : NULL;
  r->block_count = r->line_len / decoder->info.block_len;
  r->packed = gather_decoder_is_packed(decoder);
  const int64_t rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / (r->codes_bytes + LINE) + 1;
  r->ahead = rows < 1 ? 1 : rows > AHEAD_ROWS ? AHEAD_ROWS : rows;
}

/* The lines of memory that hold `bytes` bytes from `first` on. */
static void prefetch_bytes(const char *first, int64_t bytes) {
  const int64_t lines = ((int64_t)((uintptr_t)first & (LINE - 1)) + bytes + LINE - 1) / LINE;
  gather_prefetch_row(first, lines < MOST_LINES ? lines : MOST_LINES);
}

static void prefetch_side(const gather_decoder *decoder, const gather_side *side, const int64_t *at) {
  const int64_t last = decoder->rank - 1, step = side->data ? side->strides[last] : 0;
  if (!side->data || decoder->flat || gather_type_row(side->type)->packing != GATHER_PACKING_BYTES) return;
  const int64_t groups = (decoder->shape[last] - 1) / decoder->groups[last] + 1;
  prefetch_bytes(side->data + gather_side_position(decoder, side, at), step > 0 ? groups * step : 1);
}

static void prefetch(row_run *r, int64_t row) {
  if (row < 0) return;
  const int64_t position = row * r->step;
  prefetch_bytes(r->first + (r->decoder->by_code ? position / 8 * r->decoder->bits : position), r->codes_bytes);
  if (r->decoder->info.kind != GATHER_CODEC_CODES) return;
  r->at[r->axis] = row;
  prefetch_side(r->decoder, &r->decoder->scale, r->at);
  prefetch_side(r->decoder, &r->decoder->zero, r->at);
  prefetch_side(r->decoder, &r->decoder->bias, r->at);
}

static void decode_row(row_run *r, int64_t row, char *out) {
  if (r->blocks) {
    r->blocks((const unsigned char *)r->first + row * r->step, r->block_count, out);
    return;
  }
  if (r->packed) {
    gather_packed_decode(r->decoder, (const unsigned char *)r->first + row * r->step, out);
    return;
  }
  r->at[r->axis] = row;
  gather_line_decode(r->decoder, r->at, NULL, 0, r->line_len, out);
}

static void fill_row(const row_run *r, char *out) {
  static const char zero[sizeof(float)];
  const char *element = r->fill ? r->fill : zero;
  for (int64_t i = 0; i < r->line_len; i++) memcpy(out + i * r->decoder->out_bytes, element, (size_t)r->decoder->out_bytes);
}

/* Decodes `count` rows, whose numbers are checked or GATHER_ROW_FILL; the numbers of `more` rows that are decoded next follow in memory. */
static void decode_rows(row_run *r, const int64_t *rows, int64_t count, int64_t more, char *out) {
  const int64_t step = r->line_len * r->decoder->out_bytes;
  for (int64_t j = 0; j < count; j++, out += step) {
    if (r->prefetches && j + r->ahead < count + more) prefetch(r, rows[j + r->ahead]);
    if (rows[j] < 0)
      fill_row(r, out);
    else
      decode_row(r, rows[j], out);
  }
}

/* Prefetches the first rows. */
static void prefetch_rows(row_run *r, const int64_t *rows, int64_t count) {
  for (int64_t j = 0; r->prefetches && j < r->ahead && j < count; j++) prefetch(r, rows[j]);
}

/* ---- ordinary or non-temporal stores. An ordinary store reads the line that it writes; a non-temporal one does not, but writes to memory
 * also where the output is in a cache. Nobody knows where it is: so a large gather times both on its first rows. */

enum {
  TRIALS = 2,           /* of each; the shorter time counts, which no interruption prolongs */
  TRIAL_BYTES = 524288, /* with a quarter, ordinary stores to lines in no cache looked slower than they are */
  SHARE = 4,            /* of an output of this many times nontemporal_bytes the trials are a small part */
  MOST = 8              /* all trials together take at most this part of the rows */
};

/* Whether an output of so many bytes is large enough for a trial. */
static bool tries_stores(int64_t bytes) { return bytes / SHARE >= gather_tuned(GATHER_TUNING_nontemporal_bytes); }

/* Lets the decoder use non-temporal stores, after which fence_stores is to be called. false: it has no kernel with them. */
static bool use_nontemporal_stores(gather_decoder *decoder) {
  if (!gather_kernel_nontemporal_copy()) return false;
  if (decoder->blocks_past) decoder->blocks = decoder->blocks_past;
  if (decoder->codes_past) decoder->codes = decoder->codes_past;
  return decoder->blocks_past || decoder->codes_past;
}

/* By the thread that stored. */
static void fence_stores(void) { gather_kernel_nontemporal_copy()->fence(); }

/* Decodes rows [first, first + count) of an output on all threads, in one of the two ways. */
typedef void (*part_fn)(void *way, int64_t first, int64_t count);

/* Times both ways on the first rows of an output of `count` rows of row_bytes, and sets *faster to the better one: the first where the
 * output is too short for that. Returns how many rows were decoded, at most an eighth. */
static int64_t try_stores(part_fn run, void *ordinary, void *nontemporal, int64_t count, int64_t row_bytes, int32_t threads,
                          void **faster) {
  /* Several threads share the bandwidth of memory, by which the two ways differ: each has a task. */
  const int64_t bytes = threads > 1 ? threads * gather_tuned(GATHER_TUNING_task_bytes) : TRIAL_BYTES;
  const int64_t wanted = bytes / row_bytes + 1, most = count / (2 * TRIALS * MOST);
  const int64_t slice = wanted < most ? wanted : threads > 1 ? 0 : most;
  void *const ways[] = {ordinary, nontemporal};
  int64_t best[2] = {INT64_MAX, INT64_MAX}, done = 0;
  *faster = ordinary;
  if (slice == 0) return 0;
  for (int trial = 0; trial < 2 * TRIALS; trial++, done += slice) {
    const int64_t start = gather_clock();
    run(ways[trial % 2], done, slice);
    const int64_t took = gather_clock() - start;
    if (took < best[trial % 2]) best[trial % 2] = took;
  }
  if (best[1] < best[0]) *faster = nontemporal;
  return done;
}

/* ---- a gather. Shapes, indices and policies are those of a plan for the decoded tensor, which has no memory: the plan reads indices,
 * lines are decoded straight into the output. */

enum {
  RESOLVED = 64, /* indices that are resolved at a time */
  PIECE = 512    /* elements that are moved at a time to an output with gaps */
};

typedef struct take {
  gather_decoder decoder;
  gather_plan plan;
  const char *indices;
  bool identity; /* every row of the first axis in order: no indices are read */
  int32_t axis, batch_dims;
  int64_t index_len; /* indices of one batch: rows that follow each other in the output */
  int64_t middle;    /* rows of a batch along the dimensions between batch_dims and the axis */
  int64_t lines;     /* lines of a row */
  int32_t inner;     /* dimensions of the output within a row */
  int64_t row_len;   /* elements of a row */
  char *out;
  int64_t out_strides[GATHER_MAX_RANK];
  bool out_dense, out_swapped;
  const void *fill;
  bool by_row; /* a row is a line, and the output is dense */
  bool prefetches;
  bool fences;   /* the decoder uses non-temporal stores */
  int64_t moved; /* rows that were decoded before the tasks begin */
  const gather_executor *executor;
} take;

/* ---- output */

/* The offset of row number t of the output. */
static int64_t out_offset(const take *t, int64_t number) {
  int64_t offset = 0;
  if (t->out_dense) return number * t->row_len * t->decoder.out_bytes;
  for (int32_t d = t->plan.out_rank - t->inner - 1; d >= 0; d--) {
    offset += number % t->plan.out_shape[d] * t->out_strides[d];
    number /= t->plan.out_shape[d];
  }
  return offset;
}

static void scatter(const take *t, const char *in, int64_t count, int64_t step, char *out) {
  const int32_t bytes = t->decoder.out_bytes;
  for (int64_t i = 0; i < count; i++)
    for (int32_t b = 0; b < bytes; b++) out[i * step + b] = in[i * bytes + (t->out_swapped ? bytes - 1 - b : b)];
}

/* A part of a line to its place. step: from one element of the output to the next. */
static void decode_to(const take *t, const int64_t *at, int64_t first, int64_t count, char *out, int64_t step) {
  const int32_t bytes = t->decoder.out_bytes;
  if (!t->out_swapped && (step == bytes || count == 1)) {
    gather_line_decode(&t->decoder, at, NULL, first, count, out);
    return;
  }
  char piece[PIECE * sizeof(float)];
  for (int64_t now; count > 0; first += now, count -= now, out += now * step) {
    now = count < PIECE ? count : PIECE;
    gather_line_decode(&t->decoder, at, NULL, first, now, piece);
    scatter(t, piece, now, step, out);
  }
}

static void fill_to(const take *t, int64_t count, char *out, int64_t step) {
  static const char zero[4];
  const void *element = t->fill ? t->fill : zero;
  for (int64_t i = 0; i < count; i++) memcpy(out + i * step, element, (size_t)t->decoder.out_bytes);
}

/* ---- rows */

/* All lines of a row. at: the coordinates of the row, up to and with the axis; row: GATHER_ROW_FILL for a filled one. */
static void take_row(const take *t, int64_t *at, int64_t row, char *out) {
  const gather_decoder *decoder = &t->decoder;
  const int32_t last = decoder->rank - 1, out_last = t->plan.out_rank - 1;
  if (t->axis == last) { /* a row is an element */
    if (row < 0)
      fill_to(t, 1, out, 0);
    else
      decode_to(t, at, row, 1, out, 0);
    return;
  }
  const int64_t len = gather_decoder_line_len(decoder), step = t->out_strides[out_last];
  at[t->axis] = row;
  for (int32_t d = t->axis + 1; d < last; d++) at[d] = 0;
  for (int64_t line = 0; line < t->lines; line++) {
    if (row < 0)
      fill_to(t, len, out, step);
    else
      decode_to(t, at, 0, len, out, step);
    for (int32_t d = last - 1; d > t->axis; d--) {
      const int64_t out_step = t->out_strides[out_last - (last - d)];
      out += out_step;
      if (++at[d] < decoder->shape[d]) break;
      out -= out_step * decoder->shape[d], at[d] = 0;
    }
  }
}

/* The rows of indices [number, number + count), resolved. */
static void resolve(const take *t, int64_t number, int64_t count, int64_t *rows) {
  if (t->identity) {
    for (int64_t j = 0; j < count; j++) rows[j] = number + j;
    return;
  }
  for (int64_t done = 0; done < count;) {
    int64_t left, step;
    const int64_t offset = gather_index_run(&t->plan, t->plan.index_strides, number + done, &left, &step);
    const int64_t now = left < count - done ? left : count - done;
    gather_indices_resolve(&t->plan.rule, t->indices + offset, step, now, rows + done);
    done += now;
  }
}

/* `count` rows of one batch by the indices from `number` on. Of two blocks of row numbers one is decoded, the other prefetched. */
static void take_run(const take *t, const int64_t *at, int64_t number, int64_t count, char *out) {
  int64_t rows[2 * RESOLVED], have = 0;
  row_run r;
  start_rows(&r, &t->decoder, at, t->axis);
  r.prefetches = t->prefetches, r.fill = t->fill;
  for (int64_t done = 0, now; done < count; done += now) {
    const int64_t left = count - done - have, fresh = left < 2 * RESOLVED - have ? left : 2 * RESOLVED - have;
    resolve(t, number + done + have, fresh, rows + have);
    have += fresh;
    if (done == 0) prefetch_rows(&r, rows, have);
    now = have < RESOLVED ? have : RESOLVED;
    decode_rows(&r, rows, now, have - now, out);
    out += now * t->row_len * t->decoder.out_bytes, have -= now;
    memmove(rows, rows + now, (size_t)have * sizeof *rows);
  }
}

/* Rows [first, last) of the output, counted after the first t->moved. */
static void take_rows(void *argument, int64_t first, int64_t last) {
  const take *t = argument;
  int64_t at[GATHER_MAX_RANK] = {0}, rows[RESOLVED];
  first += t->moved, last += t->moved;
  while (first < last) {
    const int64_t outer = first / t->index_len, place = first % t->index_len;
    int64_t now = t->index_len - place, rest = outer;
    if (now > last - first) now = last - first;
    if (now > RESOLVED) now = RESOLVED;
    for (int32_t d = t->axis - 1; d >= 0; d--) {
      at[d] = rest % t->decoder.shape[d];
      rest /= t->decoder.shape[d];
    }
    if (t->by_row) {
      now = t->index_len - place < last - first ? t->index_len - place : last - first;
      take_run(t, at, outer / t->middle * t->index_len + place, now, t->out + out_offset(t, first));
    } else {
      resolve(t, outer / t->middle * t->index_len + place, now, rows);
      for (int64_t j = 0; j < now; j++) take_row(t, at, rows[j], t->out + out_offset(t, first + j));
    }
    first += now;
  }
  if (t->fences) fence_stores();
}

/* ---- checks */

static gather_status check_overlap(const gather_tensor *out, const gather_tensor *in, const char *name, gather_error *error) {
  gather_size size;
  int64_t out_low, out_high, low, high;
  if (!in || !in->data || !out->data) return GATHER_OK;
  GATHER_TRY(gather_tensor_measure(out, "output", &size, error));
  gather_tensor_extent(out, &size, &out_low, &out_high);
  GATHER_TRY(gather_tensor_measure(in, name, &size, error));
  gather_tensor_extent(in, &size, &low, &high);
  if (low == high || out_low == out_high) return GATHER_OK;
  const uintptr_t a = (uintptr_t)out->data, b = (uintptr_t)in->data;
  if (a + (uintptr_t)out_low >= b + (uintptr_t)high || b + (uintptr_t)low >= a + (uintptr_t)out_high) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", name);
}

/* The product of lengths [from, to); 0 if it does not fit, which only happens where another length is 0: then nothing runs. */
static int64_t product(const int64_t *lengths, int32_t from, int32_t to) {
  int64_t len = 0;
  return from >= to ? 1 : gather_shape_len(to - from, lengths + from, &len) ? len : 0;
}

static gather_status check_overlaps(const gather_quantized *q, const gather_tensor *indices, const gather_tensor *out,
                                    gather_error *error) {
  GATHER_TRY(check_overlap(out, q->data, "data", error));
  GATHER_TRY(check_overlap(out, indices, "indices", error));
  GATHER_TRY(check_overlap(out, q->scale, "scale", error));
  GATHER_TRY(check_overlap(out, q->zero_point, "zero_point", error));
  GATHER_TRY(check_overlap(out, q->bias, "bias", error));
  GATHER_TRY(check_overlap(out, q->table, "table", error));
  GATHER_TRY(check_overlap(out, q->scale2, "scale2", error));
  GATHER_TRY(check_overlap(out, q->scale_table, "scale_table", error));
  return check_overlap(out, q->scale_scale, "scale_scale", error);
}

/* What rows are, and how they are moved. The plan is made. */
static void find_rows(take *t, const gather_tensor *out, const gather_options *options) {
  const gather_decoder *decoder = &t->decoder;
  const int32_t last = decoder->rank - 1;
  t->axis = t->plan.axis;
  t->batch_dims = (int32_t)(options->batch_dims < 0 ? options->batch_dims + t->plan.index_rank : options->batch_dims);
  t->index_len = product(t->plan.index_shape, t->batch_dims, t->plan.index_rank);
  t->middle = product(decoder->shape, t->batch_dims, t->axis);
  t->lines = product(decoder->shape, t->axis + 1, last);
  t->row_len = product(decoder->shape, t->axis + 1, last + 1);
  t->inner = last - t->axis;
  gather_tensor_strides(out, t->out_strides);
  t->out_dense = t->plan.out_dense;
  t->out_swapped = (out->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  t->out = out->data;
  t->fill = t->plan.rule.on_bad == GATHER_ON_BAD_FILL ? options->fill : NULL;
  t->by_row = t->lines == 1 && t->axis == last - 1 && t->out_dense && !t->out_swapped && last > 0;
  /* Of the codes; a product that is too large is out of every cache. */
  const int64_t line = decoder->by_code ? gather_decoder_line_len(decoder) / 8 * decoder->bits : decoder->line_bytes;
  t->prefetches = !t->identity && decoder->shape[t->axis] > gather_cache_bytes() / (line + 1);
}

static gather_status check_memory(const gather_quantized *q, const gather_tensor *indices, const gather_tensor *out, const take *t,
                                  gather_error *error) {
  if (!out->data) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!indices->data) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  if (!q->data->data && t->plan.rule.axis_len > 0 && gather_tensor_len(q->data) > 0)
    return gather_fail_input(error, GATHER_USAGE, "data", "the data pointer is NULL");
  return GATHER_OK;
}

/* ---- the whole */

/* Rows [first, first + count) of the output. */
static void run_part(void *way, int64_t first, int64_t count) {
  take *t = way;
  t->moved = first;
  gather_split(t->executor, count, t->row_len * (t->decoder.out_bytes + 1), 1, take_rows, t);
}

/* Decodes the first rows of a large output with both kinds of stores, and sets t->decoder to the one with the faster ones. Returns how
 * many rows that were. */
static int64_t choose_stores(take *t, int64_t rows) {
  const int64_t row_bytes = t->row_len * t->decoder.out_bytes;
  if (!t->by_row || !tries_stores(t->plan.out_len * t->decoder.out_bytes)) return 0;
  take other = *t;
  void *faster;
  other.fences = use_nontemporal_stores(&other.decoder);
  if (!other.fences) return 0;
  const int32_t threads = t->executor ? t->executor->threads : 1;
  const int64_t done = try_stores(run_part, t, &other, rows, row_bytes, threads, &faster);
  if (faster != t) t->decoder = other.decoder, t->fences = true;
  return done;
}

static void run(take *t) {
  const int64_t rows = t->row_len > 0 ? t->plan.out_len / t->row_len : 0, first = choose_stores(t, rows);
  run_part(t, first, rows - first);
}

/* Validates the indices, then decodes. indices: in this machine's memory, and nobody writes them. */
static gather_status validate_and_run(take *t, const void *indices, const gather_executor *executor, int64_t *bad, gather_error *error) {
  gather_index_state state;
  t->indices = indices;
  if (!t->identity) GATHER_TRY(gather_plan_check_indices(&t->plan, indices, false, executor, &state, bad, error));
  t->executor = executor;
  if (t->plan.out_len > 0) run(t);
  return GATHER_OK;
}

static gather_status run_shared(take *t, const void *indices, const gather_executor *executor, int64_t *bad, gather_error *error) {
  const int64_t bytes = t->plan.index_count * (gather_type_row(t->plan.rule.type)->bits / 8);
  char small[1024];
  char *copy = bytes <= (int64_t)sizeof small ? small : gather_alloc(bytes);
  if (!copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the shared indices");
  if (bytes > 0) gather_shared_copy_all(&t->plan, indices, executor, copy);
  const gather_status status = validate_and_run(t, copy, executor, bad, error);
  if (copy != small) gather_free(copy);
  return status;
}

/* The decoded tensor, for the plan: it has no memory, and steps of 0, so that it may be larger than memory. */
static gather_tensor virtual_data(const gather_decoder *decoder, const gather_tensor *out, const int64_t *zeros) {
  return (gather_tensor){.type = out->type,
                         .rank = decoder->rank,
                         .shape = decoder->shape,
                         .strides = zeros,
                         .flags = out->flags & (uint32_t)GATHER_TENSOR_BYTE_SWAPPED};
}

static gather_status execute(const gather_op *op, const gather_quantized *quantized, const gather_tensor *indices, const gather_tensor *out,
                             const gather_options *options, bool identity, gather_error *error) {
  static const int64_t zeros[GATHER_MAX_RANK];
  take t;
  gather_options full;
  int64_t bad = 0;
  gather_quantized q = GATHER_QUANTIZED_INIT;
  memset(&t, 0, sizeof t);
  t.identity = identity;
  if (!quantized) return gather_fail(error, GATHER_USAGE, "the quantised tensor is NULL");
  GATHER_TRY(gather_struct_read(&q, sizeof q, quantized, "gather_quantized", "GATHER_QUANTIZED_INIT", error));
  GATHER_TRY(gather_options_read(options, &full, error));
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_decoder_describe(&q, &t.decoder, error));
  GATHER_TRY(gather_tensor_check_input(out, "output", error));
  GATHER_TRY(gather_decoder_prepare(&q, out->type, &t.decoder, error));
  const gather_tensor data = virtual_data(&t.decoder, out, zeros);
  GATHER_TRY(gather_lower(op, &data, indices, out, &full, &t.plan, error));
  GATHER_TRY(gather_executor_check(full.executor, error));
  find_rows(&t, out, &full);
  GATHER_TRY(check_overlaps(&q, identity ? NULL : indices, out, error));
  if (t.plan.out_len > 0) GATHER_TRY(check_memory(&q, indices, out, &t, error));
  if (t.plan.shared && !identity)
    GATHER_TRY(run_shared(&t, indices->data, full.executor, &bad, error));
  else
    GATHER_TRY(validate_and_run(&t, indices->data, full.executor, &bad, error));
  if (full.bad_count) *full.bad_count = bad;
  return GATHER_OK;
}

gather_status gather_take_quantized(const gather_op *op, const gather_quantized *quantized, const gather_tensor *indices,
                                    const gather_tensor *out, const gather_options *options, gather_error *error) {
  if (!op) op = GATHER_OP_OF_TAKE;
  const gather_family_info *family = gather_family_get(op->family);
  if (family && op->family != GATHER_FAMILY_GATHER)
    return gather_fail_op(error, op, gather_fail(error, GATHER_UNSUPPORTED, "%s does not gather quantised rows", op->name));
  return gather_fail_op(error, op, execute(op, quantized, indices, out, options, false, error));
}

gather_status gather_dequantize(const gather_quantized *quantized, const gather_tensor *out, const gather_executor *executor,
                                gather_error *error) {
  /* Every row of the first axis: indices that are not read. */
  static const int64_t none = 0, step = 0;
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  union {
    const int64_t *from;
    void *to;
  } pointer = {&none};
  GATHER_TRY(gather_quantized_shape(quantized, shape, &rank, error));
  const gather_tensor indices = {.data = pointer.to, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape, .strides = &step};
  options.executor = executor;
  return execute(GATHER_OP_OF_TAKE, quantized, &indices, out, &options, true, error);
}

/* ---- decoders of rows that a caller has read */

gather_status gather_quantized_shape(const gather_quantized *quantized, int64_t *shape, int32_t *rank, gather_error *error) {
  gather_decoder decoder;
  GATHER_TRY(gather_decoder_describe(quantized, &decoder, error));
  if (shape) memcpy(shape, decoder.shape, (size_t)decoder.rank * sizeof *shape);
  if (rank) *rank = decoder.rank;
  return GATHER_OK;
}

/* The step from one line to the next if there are no gaps, in the unit of the strides. */
static int64_t dense_step(const gather_decoder *decoder) {
  const gather_codec_info *info = &decoder->info;
  const int64_t len = gather_decoder_line_len(decoder);
  if (decoder->by_code) return len;
  if (info->kind == GATHER_CODEC_BLOCKS) return len / info->block_len * info->block_bytes;
  return decoder->line_bytes;
}

/* The bytes of a packed row; false if rows have gaps or do not begin on a byte (a word, if the bytes of words are reversed). */
static bool find_row_bytes(const gather_decoder *decoder, int64_t *bytes) {
  int64_t step = dense_step(decoder);
  if (decoder->step != 1 && gather_decoder_line_len(decoder) > 1) return false;
  for (int32_t d = decoder->rank - 2; d >= 1; d--) {
    if (decoder->shape[d] > 1 && decoder->strides[d] != step) return false;
    if (!gather_mul(step, decoder->shape[d], &step)) return false; /* only where another length is 0 */
  }
  *bytes = step;
  if (!decoder->by_code) return true;
  /* Codes of a row are less than 2^63 / 8: so are those of all rows, which are in memory or in a file. */
  const int64_t unit = 8 * (int64_t)decoder->swap_bytes, bits = decoder->bits;
  *bytes = step / 8 * bits + (step % 8 * bits + 7) / 8;
  if (decoder->shape[0] <= 1) return true;
  return decoder->strides[0] % unit * bits % unit == 0 && decoder->first % unit * bits % unit == 0;
}

static gather_status create(const gather_quantized *quantized, gather_type out_type, gather_decoder *decoder, gather_error *error) {
  GATHER_TRY(gather_decoder_describe(quantized, decoder, error));
  if (decoder->rank < 2) return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "rows need values of rank 2 or more, not 1");
  GATHER_TRY(gather_decoder_prepare(quantized, out_type, decoder, error));
  if (!find_row_bytes(decoder, &decoder->row_bytes))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "data", "the rows of data have gaps, or do not begin on whole bytes");
  decoder->row_len = 1;
  for (int32_t d = 1; d < decoder->rank; d++) decoder->row_len *= decoder->shape[d]; /* it fits unless another length is 0 */
  return GATHER_OK;
}

gather_status gather_decoder_create(const gather_quantized *quantized, gather_type out_type, gather_decoder **decoder,
                                    gather_error *error) {
  if (!decoder) return gather_fail(error, GATHER_USAGE, "`decoder` is NULL");
  *decoder = NULL;
  gather_decoder *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a decoder");
  const gather_status status = create(quantized, out_type, made, error);
  if (status == GATHER_OK)
    *decoder = made;
  else
    gather_free(made);
  return status;
}

void gather_decoder_destroy(gather_decoder *decoder) { gather_free(decoder); }

void gather_decoder_sizes(const gather_decoder *decoder, int64_t *rows, int64_t *row_bytes, int64_t *row_len) {
  if (rows) *rows = decoder->shape[0];
  if (row_bytes) *row_bytes = decoder->row_bytes;
  if (row_len) *row_len = decoder->row_len;
}

/* The lines of one row, each after the other. */
static void decode_packed_row(const gather_decoder *decoder, const unsigned char *row, int64_t number, char *out) {
  const int64_t len = gather_decoder_line_len(decoder);
  int64_t at[GATHER_MAX_RANK] = {number};
  for (int64_t left = decoder->row_len; left > 0; left -= len, out += len * decoder->out_bytes) {
    gather_line_decode(decoder, at, row, 0, len, out);
    for (int32_t d = decoder->rank - 2; d >= 1 && ++at[d] == decoder->shape[d]; d--) at[d] = 0;
  }
}

void gather_decoder_rows(const gather_decoder *decoder, const void *packed, int64_t packed_step, const int64_t *rows, int64_t count,
                         void *out, int64_t out_step) {
  for (int64_t j = 0; j < count; j++)
    decode_packed_row(decoder, (const unsigned char *)packed + j * packed_step, rows ? rows[j] : 0, (char *)out + j * out_step);
}

/* SPDX-License-Identifier: MIT
 *
 * codec_take.c: gathers from a quantised tensor, and decodes whole ones. Shapes, indices and policies are those of a plan for the
 * decoded tensor, which has no memory: the plan reads indices, lines are decoded straight into the output.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/codec/codec_rows.h"
#include "core/codec/codec_stores.h"
#include "core/kernel/tuning.h"
#include "core/op/op.h"
#include "core/plan/shared.h"
#include "core/plan/tasks.h"

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
  gather_rows r;
  gather_rows_start(&r, &t->decoder, at, t->axis);
  r.prefetches = t->prefetches, r.fill = t->fill;
  for (int64_t done = 0, now; done < count; done += now) {
    const int64_t left = count - done - have, fresh = left < 2 * RESOLVED - have ? left : 2 * RESOLVED - have;
    resolve(t, number + done + have, fresh, rows + have);
    have += fresh;
    if (done == 0) gather_rows_prefetch(&r, rows, have);
    now = have < RESOLVED ? have : RESOLVED;
    gather_rows_decode(&r, rows, now, have - now, out);
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
  if (t->fences) gather_stores_fence();
}

/* ---- checks */

static gather_status check_overlap(const gather_tensor *out, const gather_tensor *in, const char *name,
                                   gather_error *error) {
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

static gather_status check_memory(const gather_quantized *q, const gather_tensor *indices, const gather_tensor *out,
                                  const take *t, gather_error *error) {
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
  if (!t->by_row || !gather_stores_are_tried(t->plan.out_len * t->decoder.out_bytes)) return 0;
  take other = *t;
  void *faster;
  other.fences = gather_stores_nontemporal(&other.decoder);
  if (!other.fences) return 0;
  const int32_t threads = t->executor ? t->executor->threads : 1;
  const int64_t done = gather_stores_try(run_part, t, &other, rows, row_bytes, threads, &faster);
  if (faster != t) t->decoder = other.decoder, t->fences = true;
  return done;
}

static void run(take *t) {
  const int64_t rows = t->row_len > 0 ? t->plan.out_len / t->row_len : 0, first = choose_stores(t, rows);
  run_part(t, first, rows - first);
}

/* Validates the indices, then decodes. indices: in this machine's memory, and nobody writes them. */
static gather_status validate_and_run(take *t, const void *indices, const gather_executor *executor, int64_t *bad,
                                      gather_error *error) {
  gather_index_state state;
  t->indices = indices;
  if (!t->identity) GATHER_TRY(gather_plan_check_indices(&t->plan, indices, executor, &state, bad, error));
  t->executor = executor;
  if (t->plan.out_len > 0) run(t);
  return GATHER_OK;
}

static gather_status run_shared(take *t, const void *indices, const gather_executor *executor, int64_t *bad,
                                gather_error *error) {
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

static gather_status execute(const gather_op *op, const gather_quantized *quantized, const gather_tensor *indices,
                             const gather_tensor *out, const gather_options *options, bool identity,
                             gather_error *error) {
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

gather_status gather_take_quantized(const gather_op *op, const gather_quantized *quantized,
                                    const gather_tensor *indices, const gather_tensor *out,
                                    const gather_options *options, gather_error *error) {
  if (!op) op = gather_op_take;
  const gather_family_info *family = gather_family_get(op->family);
  if (family && op->family != GATHER_FAMILY_GATHER)
    return gather_fail_op(error, op,
                          gather_fail(error, GATHER_UNSUPPORTED, "%s does not gather quantised rows", op->name));
  return gather_fail_op(error, op, execute(op, quantized, indices, out, options, false, error));
}

gather_status gather_dequantize(const gather_quantized *quantized, const gather_tensor *out,
                                const gather_executor *executor, gather_error *error) {
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
  const gather_tensor indices = {
      .data = pointer.to, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape, .strides = &step};
  options.executor = executor;
  return execute(gather_op_take, quantized, &indices, out, &options, true, error);
}

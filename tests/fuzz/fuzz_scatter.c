/* SPDX-License-Identifier: MIT
 *
 * fuzz_scatter.c: any bytes as the description of a scatter, of a gradient, or of rows of equal ids: operator, options, tensors of any
 * shapes, strides and flags, in memory of their exact size. No memory outside the tensors is touched, every method gives the same bytes, a
 * check says what a run does, and after an error the output is as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "gather/scatter.h"

enum { RANK = 5, ROOM = 1 << 16, BEFORE = 0x5a, MOST_UPDATES = 1 << 14 };
enum { DATA, INDICES, UPDATES, OUT, TENSORS };

typedef struct {
  const uint8_t *bytes;
  size_t size, at;
} source;

static int choose(source *s, int count) { return s->at < s->size ? s->bytes[s->at++] % count : 0; }

typedef struct {
  gather_tensor tensor;
  int64_t shape[2 * RANK], strides[2 * RANK];
  unsigned char *memory;
  int64_t bytes;
} holder;

typedef struct {
  const gather_op *op;
  holder tensors[TENSORS];
  gather_scatter_options options;
  gather_dimension_numbers numbers;
  int64_t lists[4][2 * RANK];
} description;

/* ---- tensors */

static void in_turns(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  (void)context;
  for (int64_t i = count - 1; i >= 0; i--) task(argument, i);
}

static void choose_shape(source *s, holder *h, int32_t rank) {
  static const int64_t LENGTHS[] = {1, 2, 3, 4, 5, 7, 0, 64, INT64_MAX, INT64_C(1) << 32};
  h->tensor.rank = rank;
  for (int32_t d = 0; d < rank; d++) h->shape[d] = LENGTHS[choose(s, choose(s, 16) < 15 ? 6 : 10)];
}

/* Memory for exactly what strides reach. Returns false if that is too much: then only plans are made. */
static bool give_memory(source *s, holder *h, bool reads) {
  const gather_type_info *type = gather_type_get(h->tensor.type);
  const bool packed = type->packing != GATHER_PACKING_BYTES;
  const int64_t item = packed ? 1 : h->tensor.type == GATHER_TYPE_OPAQUE ? h->tensor.item_bytes : type->bits / 8;
  const int how = choose(s, reads ? 4 : 3); /* row-major, with gaps, turned, of any small steps */
  int64_t step = item, low = 0, high = 0;
  h->tensor.shape = h->shape, h->tensor.strides = how ? h->strides : NULL;
  if (gather_tensor_check(&h->tensor, NULL) != GATHER_OK && !how) return false;
  for (int32_t i = 0; i < h->tensor.rank; i++) {
    const int32_t d = how == 2 ? i : h->tensor.rank - 1 - i;
    h->strides[d] = how == 3 ? item * (choose(s, 9) - 4) + choose(s, 8) / 7 : step;
    if (h->shape[d] > 64) return false;
    step = step * (h->shape[d] ? h->shape[d] : 1) + (how == 1 ? choose(s, 3) : 0);
    *(h->strides[d] < 0 ? &low : &high) += h->shape[d] > 1 ? h->strides[d] * (h->shape[d] - 1) : 0;
    if (step > ROOM || high > ROOM || low < -ROOM) return false;
  }
  if (packed) h->tensor.packed_offset = choose(s, 4) - low;
  if (packed && gather_type_bytes(h->tensor.type, 0, h->tensor.packed_offset + high + 1, &h->bytes) != GATHER_OK) return false;
  if (!packed) h->bytes = high - low + item;
  for (int32_t d = 0; d < h->tensor.rank; d++)
    if (h->shape[d] == 0) h->bytes = 0;
  h->memory = malloc(h->bytes ? (size_t)h->bytes : 1);
  if (!h->memory) abort();
  for (int64_t i = 0; i < h->bytes; i++) h->memory[i] = (unsigned char)(reads ? choose(s, 256) : BEFORE);
  h->tensor.data = h->memory - (packed ? 0 : low);
  return true;
}

static void choose_indices(source *s, holder *h) {
  const int64_t width = gather_type_get(h->tensor.type)->bits / 8;
  const bool wild = choose(s, 8) == 7;
  for (int64_t i = 0; !wild && i + width <= h->bytes; i += width) { /* near zero; the other byte order makes some of them wild */
    const int64_t value = choose(s, 10) - 4;
    memcpy(h->memory + i, &value, (size_t)width);
  }
}

/* ---- what is done */

static void choose_numbers(source *s, description *d) {
  gather_dimension_numbers *n = &d->numbers;
  *n = (gather_dimension_numbers)GATHER_DIMENSION_NUMBERS_INIT;
  const int32_t rank = d->tensors[DATA].tensor.rank, gone = rank ? choose(s, rank + 1) : 0;
  n->offset_dims = d->lists[0], n->collapsed_slice_dims = d->lists[1], n->start_index_map = d->lists[2], n->slice_sizes = d->lists[3];
  n->collapsed_slice_dims_count = gone, n->offset_dims_count = rank - gone, n->slice_sizes_count = rank;
  n->start_index_map_count = choose(s, rank + 1), n->index_vector_dim = choose(s, d->tensors[INDICES].tensor.rank + 1);
  for (int32_t i = 0; i < rank; i++) {
    d->lists[0][i] = i + choose(s, 2) * d->tensors[INDICES].tensor.rank, d->lists[1][i] = i, d->lists[2][i] = rank - 1 - i;
    d->lists[3][i] = i < gone ? 1 : choose(s, 3);
  }
  d->options.numbers = n;
}

static void choose_all(source *s, description *d) {
  static const char *const OWN[] = {"scatter", "scatter_elements", "scatter_nd"};
  static const gather_executor three = {NULL, in_turns, 3};
  int ops = 0;
  while (gather_op_at((size_t)ops)) ops++;
  const int op = choose(s, 2) ? choose(s, ops) : -1;
  d->op = op < 0 ? gather_scatter_op(OWN[choose(s, 3)]) : gather_op_at((size_t)op);
  d->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  d->options.axis = choose(s, 2) * (choose(s, 4) - 1), d->options.batch_dims = choose(s, 8) < 7 ? 0 : choose(s, 4) - 1;
  d->options.reduction = (gather_reduction)(choose(s, 2) ? choose(s, 8) : 0), d->options.accumulate = (gather_accumulate)choose(s, 4);
  d->options.on_bad = (gather_on_bad)(choose(s, 2) ? choose(s, GATHER_ON_BAD_SKIP + 1) : 0),
  d->options.negative = (gather_negative)choose(s, 3);
  if (d->options.on_bad == GATHER_ON_BAD_PROMISE) d->options.on_bad = GATHER_ON_BAD_SKIP;
  d->options.neutral = choose(s, 4) == 3, d->options.unique = choose(s, 4) == 3, d->options.whole_windows = choose(s, 2);
  d->options.executor = choose(s, 2) ? &three : NULL;
  const gather_type type = (gather_type)(1 + choose(s, GATHER_TYPE_FLOAT6_E3M2FN));
  for (int i = 0; i < TENSORS; i++) {
    gather_tensor *t = &d->tensors[i].tensor;
    t->type = i == INDICES ? (gather_type)(GATHER_TYPE_INT8 + choose(s, 8)) : choose(s, 32) < 31 ? type : GATHER_TYPE_INT8;
    t->item_bytes = 3, t->flags = choose(s, 24) == 23 ? (uint32_t)choose(s, 8) : 0;
  }
  choose_shape(s, &d->tensors[DATA], choose(s, RANK));
  choose_shape(s, &d->tensors[INDICES], choose(s, 2) ? d->tensors[DATA].tensor.rank : choose(s, 4));
  for (int32_t i = choose(s, RANK); i < d->tensors[DATA].tensor.rank; i++) d->tensors[INDICES].shape[i] = d->tensors[DATA].shape[i];
  d->tensors[DATA].tensor.shape = d->tensors[DATA].shape, d->tensors[INDICES].tensor.shape = d->tensors[INDICES].shape;
  if (strcmp(d->op->dialect, "stablehlo") == 0) choose_numbers(s, d);
}

/* The shape that updates should have; sometimes, and where there is none, another one. */
static void choose_updates(source *s, description *d) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  holder *updates = &d->tensors[UPDATES];
  const gather_tensor *data = &d->tensors[DATA].tensor, *indices = &d->tensors[INDICES].tensor;
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = d->options.axis, options.batch_dims = d->options.batch_dims, options.numbers = d->options.numbers;
  gather_status status = gather_scatter_updates_shape(d->op, data, indices, &d->options, shape, &rank, NULL);
  if (status != GATHER_OK) status = gather_output_shape(d->op, data, indices, &options, shape, &rank, NULL); /* of gradients */
  if (status != GATHER_OK || rank > 2 * RANK || choose(s, 16) == 15) {
    choose_shape(s, updates, choose(s, RANK));
    return;
  }
  updates->tensor.rank = rank;
  memcpy(updates->shape, shape, (size_t)rank * sizeof *shape);
}

static void check_untouched(const holder *h) {
  for (int64_t i = 0; i < h->bytes; i++) fuzz_check(h->memory[i] == BEFORE, "an output stays as it was after an error");
}

static gather_status scatter(description *d, int method) {
  holder *t = d->tensors;
  if (gather_tuning_set("scatter_method", method, NULL) != GATHER_OK) abort();
  if (t[OUT].bytes) memset(t[OUT].memory, BEFORE, (size_t)t[OUT].bytes);
  const gather_status status =
      gather_scatter_apply(d->op, &t[DATA].tensor, &t[INDICES].tensor, &t[UPDATES].tensor, &t[OUT].tensor, &d->options, NULL);
  if (status != GATHER_OK) check_untouched(&t[OUT]);
  return status;
}

/* A NaN may be any NaN. */
static bool are_exact(const description *d) {
  const gather_kind kind = gather_type_get(d->tensors[DATA].tensor.type)->kind;
  return d->options.reduction == GATHER_REDUCTION_NONE || (kind != GATHER_KIND_FLOAT && kind != GATHER_KIND_COMPLEX);
}

static void run_plan(description *d, gather_status before) {
  holder *t = d->tensors;
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  char text[400];
  run.data = t[DATA].tensor.data, run.indices = t[INDICES].tensor.data, run.updates = t[UPDATES].tensor.data, run.out = t[OUT].tensor.data;
  gather_status status =
      gather_scatter_plan_create(d->op, &t[DATA].tensor, &t[INDICES].tensor, &t[UPDATES].tensor, &t[OUT].tensor, &d->options, &plan, NULL);
  if (status == GATHER_OK) {
    (void)gather_scatter_plan_print(plan, text, sizeof text);
    status = gather_scatter_plan_check(plan, &run, NULL);
    if (gather_scatter_plan_keep(plan, run.indices, d->options.executor, NULL) == GATHER_OK) run.indices = NULL;
    const gather_status ran = gather_scatter_plan_run(plan, &run, NULL);
    fuzz_check(ran == status, "a check says what a run does");
  }
  fuzz_check(status == before, "a plan does what a call does");
  gather_scatter_plan_destroy(plan);
}

static void scatter_all(description *d, int method) {
  holder *out = &d->tensors[OUT];
  unsigned char *first = malloc(out->bytes ? (size_t)out->bytes : 1);
  if (!first) abort();
  const gather_status status = scatter(d, 1);
  if (out->bytes) memcpy(first, out->memory, (size_t)out->bytes);
  fuzz_check(scatter(d, method) == status, "every method ends alike");
  fuzz_check(!are_exact(d) || out->bytes == 0 || memcmp(first, out->memory, (size_t)out->bytes) == 0, "every method gives the same bytes");
  if (out->bytes) memset(out->memory, BEFORE, (size_t)out->bytes);
  run_plan(d, status);
  fuzz_check(!are_exact(d) || out->bytes == 0 || memcmp(first, out->memory, (size_t)out->bytes) == 0, "a plan gives the same bytes");
  free(first);
}

static void write_sparse(gather_sparse *sparse, const void *grad, int64_t item) {
  int64_t row_len;
  const int64_t rows = gather_sparse_rows(sparse, &row_len);
  int64_t *ids = malloc((size_t)rows * sizeof *ids + 1);
  unsigned char *sums = malloc((size_t)(rows * row_len * item) + 1);
  if (!ids || !sums) abort();
  fuzz_check(gather_sparse_write(sparse, grad, ids, sums, NULL, NULL) == GATHER_OK, "a gradient can be written");
  for (int64_t i = 1; i < rows; i++) fuzz_check(ids[i - 1] < ids[i], "ids ascend");
  free(ids), free(sums);
  gather_sparse_destroy(sparse);
}

static void gradients(description *d, bool add) {
  holder *t = d->tensors;
  gather_sparse *sparse;
  const int64_t item = gather_type_get(t[UPDATES].tensor.type)->bits / 8;
  if (gather_backward(d->op, &t[UPDATES].tensor, &t[INDICES].tensor, &t[OUT].tensor, add, &d->options, NULL) != GATHER_OK)
    check_untouched(&t[OUT]);
  if (gather_sparse_create(d->op, &t[DATA].tensor, &t[INDICES].tensor, &t[UPDATES].tensor, &d->options, &sparse, NULL) == GATHER_OK)
    write_sparse(sparse, t[UPDATES].tensor.data, item);
  if (gather_unique_rows(&t[INDICES].tensor, &t[UPDATES].tensor, &d->options, &sparse, NULL) == GATHER_OK)
    write_sparse(sparse, t[UPDATES].tensor.data, item);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  source s = {bytes, size, 0};
  static description d;
  gather_scatter_plan *plan;
  memset(&d, 0, sizeof d);
  choose_all(&s, &d);
  choose_updates(&s, &d);
  const int method = choose(&s, 7), add = choose(&s, 2);
  /* Threads share even the smallest work. */
  if (gather_tuning_set("task_bytes", 1, NULL) != GATHER_OK || gather_tuning_set("awake_task_bytes", 1, NULL) != GATHER_OK) abort();
  bool whole = true;
  memcpy(d.tensors[OUT].shape, d.tensors[DATA].shape, sizeof d.tensors[OUT].shape);
  d.tensors[OUT].tensor.rank = d.tensors[DATA].tensor.rank;
  if (choose(&s, 32) == 31) choose_shape(&s, &d.tensors[OUT], choose(&s, RANK));
  for (int i = 0; i < TENSORS; i++) whole = give_memory(&s, &d.tensors[i], i != OUT) && whole;
  if (whole) choose_indices(&s, &d.tensors[INDICES]);
  holder *t = d.tensors;
  if (whole && gather_tensor_check(&t[UPDATES].tensor, NULL) == GATHER_OK && gather_tensor_len(&t[UPDATES].tensor) < MOST_UPDATES) {
    scatter_all(&d, method);
    if (t[OUT].bytes) memset(t[OUT].memory, BEFORE, (size_t)t[OUT].bytes);
    gradients(&d, add);
  } else if (gather_scatter_plan_create(d.op, &t[DATA].tensor, &t[INDICES].tensor, &t[UPDATES].tensor, NULL, &d.options, &plan, NULL) ==
             GATHER_OK) {
    gather_scatter_plan_destroy(plan);
  }
  for (int i = 0; i < TENSORS; i++) free(t[i].memory);
  return 0;
}

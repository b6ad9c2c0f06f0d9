/* SPDX-License-Identifier: MIT
 *
 * node_strings.c: gathers strings. They are objects of the host, which are moved one by one through its interface: the library validates
 * the indices, and the position of each element in data is computed here.
 */
#include "node_internal.h"

/* A walk over the output in row-major order, with the positions in data and in indices that belong to each element. */
typedef struct {
  int32_t rank;
  int64_t lengths[GATHER_MAX_RANK], at[GATHER_MAX_RANK];
  int64_t data_steps[GATHER_MAX_RANK], index_steps[GATHER_MAX_RANK];
  int64_t data, index;
  int32_t components; /* numbers of one index */
  int64_t axis_steps[GATHER_MAX_RANK], axis_lengths[GATHER_MAX_RANK];
  const void *numbers;
  bool wide; /* they are int64 */
} walk;

static void row_major(const gather_tensor *tensor, int64_t *steps) {
  int64_t step = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    steps[d] = step;
    step *= tensor->shape[d];
  }
}

static int64_t number_at(const walk *w, int64_t i) { return w->wide ? ((const int64_t *)w->numbers)[i] : ((const int32_t *)w->numbers)[i]; }

/* The position in data of the current element. The indices are valid. */
static int64_t position(const walk *w) {
  int64_t sum = w->data;
  for (int32_t c = 0; c < w->components; c++) {
    const int64_t number = number_at(w, w->index + c);
    sum += (number < 0 ? number + w->axis_lengths[c] : number) * w->axis_steps[c];
  }
  return sum;
}

static void advance(walk *w) {
  for (int32_t d = w->rank - 1; d >= 0; d--) {
    w->data += w->data_steps[d], w->index += w->index_steps[d];
    if (++w->at[d] < w->lengths[d]) return;
    w->data -= w->data_steps[d] * w->lengths[d], w->index -= w->index_steps[d] * w->lengths[d];
    w->at[d] = 0;
  }
}

/* Which dimensions the numbers of an index select on. */
static int32_t first_axis(const ort_node *node, const gather_tensor *data) {
  if (node->rules->tuples != GATHER_TUPLES_NONE) return (int32_t)node->gather.batch_dims;
  const int64_t axis = node->gather.axis;
  return (int32_t)(axis < 0 ? axis + data->rank : axis);
}

static gather_status start(walk *w, const ort_node *node, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                           gather_error *error) {
  gather_dim_source sources[GATHER_MAX_RANK];
  int64_t data_steps[GATHER_MAX_RANK], index_steps[GATHER_MAX_RANK];
  const bool tuples = node->rules->tuples != GATHER_TUPLES_NONE;
  *w = (walk){.components = tuples ? (int32_t)indices->shape[indices->rank - 1] : 1,
              .numbers = indices->data,
              .wide = indices->type == GATHER_TYPE_INT64};
  const gather_status status =
      gather_output_sources(node->rules, data->rank, indices->rank, w->components, &node->gather, sources, &w->rank, error);
  if (status != GATHER_OK) return status;
  row_major(data, data_steps), row_major(indices, index_steps);
  for (int32_t d = 0; d < w->rank; d++) {
    w->lengths[d] = out->shape[d];
    w->data_steps[d] = sources[d].data >= 0 ? data_steps[sources[d].data] : 0;
    w->index_steps[d] = sources[d].indices >= 0 ? index_steps[sources[d].indices] : 0;
  }
  for (int32_t c = 0; c < w->components; c++) {
    const int32_t axis = first_axis(node, data) + c;
    w->axis_steps[c] = data_steps[axis], w->axis_lengths[c] = data->shape[axis];
  }
  return GATHER_OK;
}

static OrtStatus *move_one(const ort_host *host, const OrtValue *from, int64_t source, OrtValue *to, int64_t target) {
  size_t bytes;
  char *text;
  ORT_TRY(ORT(host, GetStringTensorElementLength)(from, (size_t)source, &bytes));
  ORT_TRY(ORT(host, GetResizedStringTensorElementBuffer)(to, (size_t)target, bytes, &text));
  return bytes ? ORT(host, GetStringTensorElement)(from, bytes, (size_t)source, text) : NULL;
}

static gather_status validate(const ort_node *node, const ort_tensor *data, const ort_tensor *indices, int64_t *lengths, int32_t *rank,
                              gather_error *error) {
  gather_plan *plan;
  const gather_status status = gather_plan_create(node->rules, &data->tensor, &indices->tensor, NULL, &node->gather, &plan, error);
  if (status != GATHER_OK) return status;
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->tensor.data;
  const gather_status checked = gather_plan_check(plan, &run, error);
  *rank = gather_plan_shape(plan, lengths);
  gather_plan_destroy(plan);
  return checked;
}

OrtStatus *gather_ort_compute_strings(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices) {
  const ort_host *host = &node->host;
  int64_t lengths[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error;
  gather_tensor out;
  OrtValue *value;
  walk w;
  gather_status status = validate(node, data, indices, lengths, &rank, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);
  ORT_TRY(gather_ort_output(host, context, GATHER_TYPE_STRING, lengths, rank, &out, &value));
  status = start(&w, node, &data->tensor, &indices->tensor, &out, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);
  const int64_t count = gather_tensor_len(&out);
  for (int64_t i = 0; i < count; i++, advance(&w)) ORT_TRY(move_one(host, data->value, position(&w), value, i));
  return NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * node_quantised.c: com.microsoft GatherBlockQuantized, whose rows are decoded as they are gathered. Data and scales are constants in
 * models as a rule: then a decoder is made with the node, and a few rows cost little more than their decoding.
 */
#include <stdlib.h>
#include <string.h>

#include "node_internal.h"

/* What is known of a node whose data is constant and gathered along its first axis. */
typedef struct ort_decoder {
  const void *data, *scales, *zero_points; /* where the constants were; zero_points: NULL = absent */
  gather_decoder *decoder;
  gather_type type; /* of the output */
  int32_t rank;     /* of the values */
  int64_t shape[GATHER_MAX_RANK];
  int64_t rows, row_bytes, row_len;
} ort_decoder;

/* What the host itself makes of an index out of range: an error until 1.30, zeros from 1.31 on. */
static gather_on_bad policy(const ort_host *host) {
  enum { FIRST_WITH_ZEROS = 31 };
  return host->minor >= 0 && host->minor < FIRST_WITH_ZEROS ? GATHER_ON_BAD_ERROR : GATHER_ON_BAD_ZERO;
}

/* ---- a few rows of constant data */

/* Zero points may be absent, but not computed. */
static bool zero_points_are_known(const ort_host *host, const OrtKernelInfo *info, ort_tensor *zero_points) {
  size_t inputs = 0;
  if (gather_ort_constant(host, info, 3, zero_points)) return true;
  OrtStatus *status = ORT(host, KernelInfo_GetInputCount)(info, &inputs);
  if (status) ORT(host, ReleaseStatus)(status);
  return !status && inputs <= 3;
}

static bool make_decoder(const ort_node *node, const ort_tensor *data, const ort_tensor *scales, const ort_tensor *zero_points,
                         ort_decoder *made) {
  gather_quantized quantized;
  const gather_tensor *zeros = zero_points->value ? &zero_points->tensor : NULL;
  made->type = scales->tensor.type;
  made->data = data->tensor.data, made->scales = scales->tensor.data, made->zero_points = zeros ? zeros->data : NULL;
  if (gather_block_quantized_describe(&data->tensor, &scales->tensor, zeros, &node->quantised, &quantized, NULL) != GATHER_OK) return false;
  if (gather_quantized_shape(&quantized, made->shape, &made->rank, NULL) != GATHER_OK) return false;
  const int64_t axis = node->quantised.gather_axis;
  if (axis != 0 && axis != -made->rank) return false;
  if (gather_decoder_create(&quantized, made->type, &made->decoder, NULL) != GATHER_OK) return false;
  gather_decoder_sizes(made->decoder, &made->rows, &made->row_bytes, &made->row_len);
  return true;
}

void gather_ort_quantised_prepare(ort_node *node, const OrtKernelInfo *info) {
  const ort_host *host = &node->host;
  ort_tensor data, scales, zero_points;
  if (!gather_ort_constant(host, info, 0, &data) || !gather_ort_constant(host, info, 2, &scales) ||
      !zero_points_are_known(host, info, &zero_points))
    return;
  ort_decoder *made = calloc(1, sizeof *made);
  if (made && make_decoder(node, &data, &scales, &zero_points, made))
    node->decoder = made;
  else
    gather_ort_quantised_free(made);
}

void gather_ort_quantised_free(struct ort_decoder *decoder) {
  if (decoder) gather_decoder_destroy(decoder->decoder);
  free(decoder);
}

enum { FEW = 16 /* rows; from there on the general way is as fast */ };

/* The rows of a few indices, all in range. */
static bool few_rows(const ort_decoder *d, const gather_tensor *indices, int64_t count, int64_t *rows) {
  for (int64_t i = 0; i < count; i++) {
    rows[i] = indices->type == GATHER_TYPE_INT64 ? ((const int64_t *)indices->data)[i] : ((const int32_t *)indices->data)[i];
    if (rows[i] < 0) rows[i] += d->rows;
    if (rows[i] < 0 || rows[i] >= d->rows) return false;
  }
  return true;
}

/* Whether the inputs of this run are the constants that the decoder was made for: the host promises no lifetime for what it shows while
 * a node is created. */
static OrtStatus *same_constants(const ort_node *node, OrtKernelContext *context, const ort_tensor *data, bool *same) {
  const ort_decoder *d = node->decoder;
  ort_tensor scales, zero_points;
  bool there;
  ORT_TRY(gather_ort_input(&node->host, context, 2, &scales));
  ORT_TRY(gather_ort_optional_input(&node->host, context, 3, &zero_points, &there));
  *same = data->tensor.data == d->data && scales.tensor.data == d->scales &&
          (there ? zero_points.tensor.data == d->zero_points : !d->zero_points);
  return NULL;
}

/* The packed rows of a few indices, and where they go. */
typedef struct decoding {
  const ort_decoder *d;
  const char *packed;
  const int64_t *rows;
  int64_t count, out_bytes;
  char *out;
} decoding;

static gather_status decode_body(void *argument, const gather_executor *executor, gather_error *error) {
  const decoding *call = argument;
  const ort_decoder *d = call->d;
  (void)executor, (void)error;
  for (int64_t i = 0; i < call->count; i++)
    gather_decoder_rows(d->decoder, call->packed + call->rows[i] * d->row_bytes, d->row_bytes, &call->rows[i], 1,
                        call->out + i * call->out_bytes, call->out_bytes);
  return GATHER_OK;
}

static OrtStatus *compute_few(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices, bool *done) {
  const ort_decoder *d = node->decoder;
  int64_t lengths[GATHER_MAX_RANK], rows[FEW];
  gather_tensor out;
  OrtValue *value;
  const gather_tensor *ids = &indices->tensor;
  const int32_t rank = ids->rank + d->rank - 1;
  const int64_t count = gather_tensor_len(ids);
  *done = count > 0 && count <= FEW && rank <= GATHER_MAX_RANK && (ids->type == GATHER_TYPE_INT64 || ids->type == GATHER_TYPE_INT32) &&
          few_rows(d, ids, count, rows);
  if (*done) ORT_TRY(same_constants(node, context, data, done));
  if (!*done) return NULL;
  for (int32_t i = 0; i < ids->rank; i++) lengths[i] = ids->shape[i];
  for (int32_t i = 1; i < d->rank; i++) lengths[ids->rank + i - 1] = d->shape[i];
  ORT_TRY(gather_ort_output(&node->host, context, d->type, lengths, rank, &out, &value));
  gather_error error;
  decoding call = {d, data->tensor.data, rows, count, d->row_len * (gather_type_get(d->type)->bits / 8), out.data};
  return gather_ort_status(&node->host, gather_ort_guarded(node, NULL, decode_body, &call, &error), &error);
}

/* ---- any rows */

typedef struct quantised_call {
  const ort_node *node;
  const gather_quantized *quantized;
  const gather_tensor *indices, *out;
  gather_options options;
} quantised_call;

static gather_status quantised_body(void *argument, const gather_executor *executor, gather_error *error) {
  quantised_call *call = argument;
  call->options.executor = executor;
  return gather_take_quantized(call->node->rules, call->quantized, call->indices, call->out, &call->options, error);
}

static gather_status take(const ort_node *node, const gather_quantized *quantized, const gather_tensor *indices, const gather_tensor *out,
                          const gather_options *options, gather_error *error) {
  quantised_call call = {node, quantized, indices, out, *options};
  return gather_ort_guarded(node, options->executor, quantised_body, &call, error);
}

static OrtStatus *compute_any(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices) {
  const ort_host *host = &node->host;
  ort_tensor scales, zero_points;
  bool has_zero_points;
  gather_error error;
  ORT_TRY(gather_ort_input(host, context, 2, &scales));
  ORT_TRY(gather_ort_optional_input(host, context, 3, &zero_points, &has_zero_points));
  gather_quantized quantized;
  gather_status status = gather_block_quantized_describe(&data->tensor, &scales.tensor, has_zero_points ? &zero_points.tensor : NULL,
                                                         &node->quantised, &quantized, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);

  int64_t values[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  gather_tensor shaped = {.type = scales.tensor.type, .shape = values}, out;
  int32_t rank;
  OrtValue *value;
  gather_options options = node->gather;
  options.axis = node->quantised.gather_axis, options.on_bad = policy(host);
  status = gather_quantized_shape(&quantized, values, &shaped.rank, &error);
  if (status == GATHER_OK) status = gather_output_shape(node->rules, &shaped, &indices->tensor, &options, lengths, &rank, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);
  ORT_TRY(gather_ort_output(host, context, scales.tensor.type, lengths, rank, &out, &value));
  ort_threads threads;
  options.executor = gather_ort_threads(node, context, gather_tensor_bytes(&out), &threads);
  status = GATHER_UNSUPPORTED;
  if (node->rows.take)
    status = gather_ort_take_quantised_rows(node, &data->tensor, &scales.tensor, has_zero_points ? &zero_points.tensor : NULL,
                                            &indices->tensor, &out, &options, &error);
  if (status == GATHER_UNSUPPORTED) status = take(node, &quantized, &indices->tensor, &out, &options, &error);
  return gather_ort_status(host, status, &error);
}

OrtStatus *gather_ort_compute_quantised(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices) {
  bool done = false;
  if (node->decoder && !node->rows.take) ORT_TRY(compute_few(node, context, data, indices, &done));
  return done ? NULL : compute_any(node, context, data, indices);
}

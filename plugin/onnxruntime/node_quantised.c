/* SPDX-License-Identifier: MIT
 *
 * node_quantised.c: com.microsoft GatherBlockQuantized, whose rows are decoded as they are gathered.
 */
#include "node_internal.h"

/* What the host itself makes of an index out of range: an error until 1.30, zeros from 1.31 on. */
static gather_on_bad policy(const ort_host *host) {
  enum { FIRST_WITH_ZEROS = 31 };
  return host->minor >= 0 && host->minor < FIRST_WITH_ZEROS ? GATHER_ON_BAD_ERROR : GATHER_ON_BAD_ZERO;
}

OrtStatus *gather_ort_compute_quantised(ort_node *node, OrtKernelContext *context, const ort_tensor *data,
                                        const ort_tensor *indices) {
  const ort_host *host = &node->host;
  ort_tensor scales, zero_points;
  bool has_zero_points;
  gather_error error;
  ORT_TRY(gather_ort_input(host, context, 2, &scales));
  ORT_TRY(gather_ort_optional_input(host, context, 3, &zero_points, &has_zero_points));
  gather_quantized quantized;
  gather_status status =
      gather_block_quantized_describe(&data->tensor, &scales.tensor, has_zero_points ? &zero_points.tensor : NULL,
                                      &node->quantised, &quantized, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);

  int64_t values[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  gather_tensor shaped = {.type = scales.tensor.type, .shape = values}, out;
  int32_t rank;
  OrtValue *value;
  gather_options options = node->gather;
  options.axis = node->quantised.gather_axis, options.on_bad = policy(host);
  status = gather_quantized_shape(&quantized, values, &shaped.rank, &error);
  if (status == GATHER_OK)
    status = gather_output_shape(node->rules, &shaped, &indices->tensor, &options, lengths, &rank, &error);
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);
  ORT_TRY(gather_ort_output(host, context, scales.tensor.type, lengths, rank, &out, &value));
  ort_threads threads;
  options.executor = gather_ort_threads(node, context, gather_tensor_bytes(&out), &threads);
  status = GATHER_UNSUPPORTED;
  if (node->rows.take)
    status = gather_ort_take_quantised_rows(node, &data->tensor, &scales.tensor,
                                            has_zero_points ? &zero_points.tensor : NULL, &indices->tensor, &out,
                                            &options, &error);
  if (status == GATHER_UNSUPPORTED)
    status = gather_take_quantized(node->rules, &quantized, &indices->tensor, &out, &options, &error);
  return gather_ort_status(host, status, &error);
}

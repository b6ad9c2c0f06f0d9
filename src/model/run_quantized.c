/* SPDX-License-Identifier: MIT
 *
 * run_quantized.c: gathers that decode the rows that they take, never the whole table: GatherBlockQuantized, and Gather of
 * constants that other nodes dequantise.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/dequantized.h"
#include "model/quantized.h"

gather_dequantized *gather_run_dequantized(const gather_running *run, const gather_node *node, int32_t i) {
  if (i >= node->input_count || !*node->inputs[i]) return NULL;
  const gather_run_value *value = gather_run_find(run, node->inputs[i]);
  return value && value->ready ? value->dequantized : NULL;
}

void gather_run_give_dequantized(gather_running *run, const gather_node *node, const gather_tensor *tensor,
                                 gather_dequantized *dequantized) {
  gather_tensor described = *tensor;
  if (node->output_count < 1 || !*node->outputs[0]) return;
  gather_run_value *value = gather_run_find(run, node->outputs[0]);
  if (value->given) return;
  described.data = NULL;
  described.strides = NULL;
  described.packed_offset = 0;
  described.flags = 0;
  gather_run_give(run, node, &described);
  value->dequantized = dequantized;
}

/* ---- numbers of 16 bits or more, which only become another type */

/* An element in this machine's byte order as float32. */
static float read_number(const gather_type_info *type, const char *element) {
  double number = 0;
  int64_t integer;
  if (gather_float_read(type->type, element, &number)) return (float)number;
  (void)gather_integer_load(element, type->type, false, &integer);
  return type->kind == GATHER_KIND_UINT ? (float)(uint64_t)integer : (float)integer;
}

/* Numbers in row-major order as another type: each is rounded to float32, then to that type. */
static gather_status convert_numbers(gather_running *run, const gather_tensor *from, gather_tensor *out,
                                     gather_error *error) {
  const gather_type_info *type = gather_type_get(from->type);
  const int64_t bytes = type->bits / 8;
  const bool swapped = (from->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  GATHER_TRY(gather_run_allocate(run, out, error));
  for (int64_t i = 0, len = gather_tensor_len(from); i < len; i++) {
    char element[8];
    const char *at = (const char *)from->data + i * bytes;
    for (int64_t k = 0; k < bytes; k++) element[k] = at[swapped ? bytes - 1 - k : k];
    gather_run_store_float(out, i, read_number(type, element));
  }
  return GATHER_OK;
}

/* ---- decoding */

static gather_status decode_all(gather_running *run, const gather_dequantized *from, gather_tensor *out,
                                gather_error *error) {
  gather_tensor dense;
  if (from->as.codec != GATHER_CODEC_NONE) {
    GATHER_TRY(gather_run_allocate(run, out, error));
    return gather_dequantize(&from->as, out, run->executor, error);
  }
  GATHER_TRY(gather_run_dense(run, &from->data, &dense, error));
  return convert_numbers(run, &dense, out, error);
}

gather_status gather_run_decode(gather_running *run, gather_run_value *value, gather_error *error) {
  if (!value->ready || !value->dequantized) return GATHER_OK;
  gather_tensor out = {
      .type = value->tensor.type, .rank = value->dequantized->data.rank, .shape = value->dequantized->data.shape};
  GATHER_TRY(decode_all(run, value->dequantized, &out, error));
  out.rank = value->tensor.rank;
  out.shape = value->tensor.shape;
  value->tensor = out;
  value->dequantized = NULL;
  return GATHER_OK;
}

/* ---- gathering */

/* The output of a gather from data of that type and shape. */
static gather_status make_output(gather_running *run, const gather_op *op, const gather_tensor *data,
                                 const gather_tensor *indices, const gather_options *options, gather_tensor *out,
                                 gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  *out = (gather_tensor){.type = data->type};
  GATHER_TRY(gather_output_shape(op, data, indices, options, shape, &out->rank, error));
  return gather_run_shape(run, out->rank, shape, &out->shape, error);
}

/* type: of the output, which is allocated. */
static gather_status take_rows(gather_running *run, const gather_op *op, const gather_quantized *quantized,
                               gather_type type, const gather_tensor *indices, const gather_options *options,
                               gather_tensor *out, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_options all = *options;
  /* Only the shape of data counts here: it needs an address, which nothing reads. */
  gather_tensor data = {.data = shape, .type = type, .shape = shape};
  GATHER_TRY(gather_quantized_shape(quantized, shape, &data.rank, error));
  GATHER_TRY(make_output(run, op, &data, indices, options, out, error));
  GATHER_TRY(gather_run_allocate(run, out, error));
  all.fresh_output = true; /* discarded after an error */
  return gather_take_quantized(op, quantized, indices, out, &all, error);
}

gather_status gather_run_block_quantized(gather_running *run, const gather_node *node, const gather_op *op,
                                         const gather_options *options, gather_error *error) {
  const gather_tensor *scales = gather_run_operand(run, node, GATHER_QUANTIZED_SCALES);
  gather_block_quantized attributes;
  gather_quantized quantized;
  gather_tensor out;
  GATHER_TRY(gather_node_block_quantized(NULL, node, &attributes, error));
  GATHER_TRY(gather_node_describe(gather_run_operand(run, node, GATHER_QUANTIZED_DATA), scales,
                                  gather_run_operand(run, node, GATHER_QUANTIZED_ZERO_POINTS), &attributes, &quantized,
                                  error));
  GATHER_TRY(take_rows(run, op, &quantized, scales->type, gather_run_operand(run, node, GATHER_QUANTIZED_INDICES),
                       options, &out, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

/* Whether a gather from `outer`, a reshaped `inner`, takes the same bytes from both: up to the axis nothing was reshaped. */
static bool reshapes_rows(const gather_tensor *outer, const gather_tensor *inner, int64_t axis) {
  if (axis < 0) axis += outer->rank;
  if (axis < 0 || axis >= outer->rank || axis >= inner->rank) return false;
  for (int64_t d = 0; d <= axis; d++)
    if (outer->shape[d] != inner->shape[d]) return false;
  return true;
}

static gather_status take_numbers(gather_running *run, const gather_op *op, const gather_tensor *data, gather_type type,
                                  const gather_tensor *indices, const gather_options *options, gather_tensor *out,
                                  gather_error *error) {
  gather_tensor rows;
  gather_options all = *options;
  GATHER_TRY(make_output(run, op, data, indices, options, &rows, error));
  GATHER_TRY(gather_run_allocate(run, &rows, error));
  rows.flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED;
  all.fresh_output = true;
  GATHER_TRY(gather_apply(op, data, indices, &rows, &all, error));
  *out = rows;
  out->type = type;
  out->flags = 0;
  return convert_numbers(run, &rows, out, error);
}

gather_status gather_run_gather_dequantized(gather_running *run, const gather_node *node, const gather_op *op,
                                            const gather_options *options, gather_error *error) {
  const gather_tensor *outer = gather_run_operand(run, node, 0), *indices = gather_run_operand(run, node, 1);
  const gather_dequantized *from = gather_run_dequantized(run, node, 0);
  gather_tensor shaped = *outer, whole, out;
  shaped.data = run; /* needs an address, which nothing reads */
  gather_options same = *options;
  if (same.axis < 0) same.axis += outer->rank; /* data may have another rank before it is reshaped */
  GATHER_TRY(make_output(run, op, &shaped, indices, options, &whole, error));
  if (from->as.codec == GATHER_CODEC_NONE)
    GATHER_TRY(take_numbers(run, op, &from->data, outer->type, indices, &same, &out, error));
  else
    GATHER_TRY(take_rows(run, op, &from->as, outer->type, indices, &same, &out, error));
  out.rank = whole.rank;
  out.shape = whole.shape;
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

bool gather_run_decodes_rows(const gather_running *run, const gather_node *node, const gather_op *op,
                             const gather_options *options) {
  const gather_dequantized *from = gather_run_dequantized(run, node, 0);
  return from && gather_family_get(op->family)->whole_rows &&
         reshapes_rows(gather_run_operand(run, node, 0), &from->data, options->axis);
}

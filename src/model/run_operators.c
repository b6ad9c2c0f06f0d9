/* SPDX-License-Identifier: MIT
 *
 * run_operators.c: the operators around gathers that a run computes: those that change the shape of a tensor, or return it (elements
 * are copied only if they are not dense), those that move whole tensors without an index, casts between integer types, and Mod.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/infer.h"
#include "model/model_run.h"

/* ---- integers */

/* One integer of `bytes` bytes at `at`, as 64 bits. */
static int64_t read_integer(const unsigned char *at, int64_t bytes, bool is_signed, bool swapped) {
  uint64_t value = 0;
  bool big = swapped != (GATHER_BIG_ENDIAN != 0);
  for (int64_t k = 0; k < bytes; k++) value |= (uint64_t)at[big ? bytes - 1 - k : k] << (8 * k);
  if (is_signed && bytes < 8 && value >> (8 * bytes - 1)) value |= ~(uint64_t)0 << (8 * bytes);
  int64_t answer;
  memcpy(&answer, &value, sizeof answer);
  return answer;
}

static void write_integer(unsigned char *at, int64_t bytes, int64_t number) {
  uint64_t value = (uint64_t)number;
  for (int64_t k = 0; k < bytes; k++) at[GATHER_BIG_ENDIAN ? bytes - 1 - k : k] = (unsigned char)(value >> (8 * k));
}

/* Element number i of a row-major integer tensor, and writing one, cut to the type's bits. */
static int64_t integer_at(const gather_tensor *dense, int64_t i) {
  const gather_type_info *type = gather_type_get(dense->type);
  int64_t bytes = type->bits / 8;
  return read_integer((const unsigned char *)dense->data + i * bytes, bytes, type->kind == GATHER_KIND_INT,
                      (dense->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0);
}

static void store_integer(const gather_tensor *dense, int64_t i, int64_t number) {
  const int64_t bytes = gather_type_get(dense->type)->bits / 8;
  write_integer((unsigned char *)dense->data + i * bytes, bytes, number);
}

/* An integer tensor as another integer type; values are cut to its bits. */
static gather_status cast_integers(gather_running *run, const gather_tensor *tensor, gather_type type, gather_tensor *cast,
                                   gather_error *error) {
  gather_tensor dense;
  *cast = *tensor;
  if (type == tensor->type) return GATHER_OK;
  GATHER_TRY(gather_run_dense(run, tensor, &dense, error));
  cast->type = type;
  cast->flags = 0;
  GATHER_TRY(gather_run_allocate(run, cast, error));
  const int64_t len = gather_tensor_len(&dense);
  for (int64_t i = 0; i < len; i++) store_integer(cast, i, integer_at(&dense, i));
  return GATHER_OK;
}

/* The values of an integer tensor with at most GATHER_MAX_RANK elements. */
static gather_status read_integers(const gather_tensor *tensor, const char *what, int64_t values[GATHER_MAX_RANK], int32_t *count,
                                   gather_error *error) {
  if (!gather_type_is_index(tensor->type))
    return gather_fail(error, GATHER_TYPE_UNSUPPORTED, "%s: the numbers are %s, not integers", what, gather_type_get(tensor->type)->name);
  if (tensor->rank > 1) return gather_fail(error, GATHER_RANK_MISMATCH, "%s: expected a list, got rank %" PRId32, what, tensor->rank);
  int64_t len = gather_tensor_len(tensor);
  if (len > GATHER_MAX_RANK) return gather_fail(error, GATHER_UNSUPPORTED, "%s: more than %d numbers", what, GATHER_MAX_RANK);
  int64_t strides[GATHER_MAX_RANK] = {0};
  gather_tensor_strides(tensor, strides);
  for (int64_t i = 0; i < len; i++) {
    gather_tensor one = *tensor;
    one.data = (char *)tensor->data + i * strides[0];
    values[i] = integer_at(&one, 0);
  }
  *count = (int32_t)len;
  return GATHER_OK;
}

/* ---- shapes */

static bool is_onnx(const gather_running *run) { return strcmp(run->model->graph_file->dialect, "onnx") == 0; }

/* A list of integers: input number 1, or (older ONNX versions) an attribute. *count -1: there is neither. */
static gather_status read_list(const gather_running *run, const gather_node *node, const char *name, int64_t values[GATHER_MAX_RANK],
                               int32_t *count, gather_error *error) {
  const gather_tensor *tensor = gather_run_operand(run, node, 1);
  if (tensor) return read_integers(tensor, name, values, count, error);
  const gather_attribute *attribute = gather_node_attribute(node, name);
  *count = -1;
  if (!attribute) return GATHER_OK;
  if (attribute->kind != GATHER_ATTRIBUTE_INTS) return gather_attribute_wrong(attribute, name, "INTS", "a list of integers", error);
  if (attribute->count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "attribute '%s' has more than %d integers", name, GATHER_MAX_RANK);
  for (int64_t i = 0; i < attribute->count; i++) values[i] = attribute->integers[i];
  *count = (int32_t)attribute->count;
  return GATHER_OK;
}

/* Gives the node's input number 0 another shape of as many elements. */
static gather_status rename_shape(gather_running *run, const gather_node *node, int32_t rank, const int64_t *lengths, gather_error *error) {
  gather_tensor shaped = *gather_run_operand(run, node, 0), dense;
  shaped.rank = rank;
  GATHER_TRY(gather_run_shape(run, rank, lengths, &shaped.shape, error));
  if (gather_run_keep_dequantized(run, node, &shaped)) return GATHER_OK;
  GATHER_TRY(gather_run_dense(run, gather_run_operand(run, node, 0), &dense, error));
  dense.rank = rank;
  dense.shape = shaped.shape;
  gather_run_give(run, node, &dense);
  return GATHER_OK;
}

/* Whether a 0 in the target copies the current length. */
static gather_status zero_copies(const gather_running *run, const gather_node *node, bool *copies, gather_error *error) {
  const char *name = is_onnx(run) ? "allowzero" : "special_zero";
  const gather_attribute *attribute = gather_node_attribute(node, name);
  bool flag = false;
  if (attribute && !gather_attribute_flag(attribute, &flag)) return gather_attribute_wrong(attribute, name, "INT", "true or false", error);
  *copies = flag != is_onnx(run);
  return GATHER_OK;
}

/* Resolves 0 and -1. */
static gather_status resolve_target(const gather_tensor *data, bool copies, int32_t rank, int64_t *target, gather_error *error) {
  int64_t len = gather_tensor_len(data), known = 1;
  int32_t open = -1;
  for (int32_t d = 0; d < rank; d++) {
    if (target[d] == 0 && copies && d >= data->rank)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "the target shape copies dimension %" PRId32 ", but the rank is %" PRId32, d,
                         data->rank);
    if (target[d] == 0 && copies) target[d] = data->shape[d];
    if (target[d] < -1 || (target[d] == -1 && open >= 0))
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "the target shape has a length below -1, or -1 twice");
    if (target[d] == -1)
      open = d;
    else if (!gather_mul(known, target[d], &known))
      return gather_fail(error, GATHER_OVERFLOW, "the target shape has more than 2^63 elements");
  }
  if (open >= 0 && known > 0 && len % known == 0) target[open] = len / known, known = len;
  if (known != len || (open >= 0 && target[open] < 0))
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "%" PRId64 " elements do not fit the target shape", len);
  return GATHER_OK;
}

static gather_status reshape(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t target[GATHER_MAX_RANK];
  int32_t rank;
  bool copies = false;
  GATHER_TRY(zero_copies(run, node, &copies, error));
  GATHER_TRY(read_list(run, node, "shape", target, &rank, error));
  if (rank < 0) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no target shape");
  GATHER_TRY(resolve_target(gather_run_operand(run, node, 0), copies, rank, target, error));
  return rename_shape(run, node, rank, target, error);
}

/* Marks the axes in a row of flags; each may be given once (Unsqueeze) or repeatedly (Squeeze). */
static gather_status mark_axes(const int64_t *axes, int32_t count, int32_t rank, bool *marked, gather_error *error) {
  memset(marked, 0, GATHER_MAX_RANK * sizeof *marked);
  for (int32_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis %" PRId64 " is outside [%" PRId32 ", %" PRId32 "]", axes[i],
                               -rank, rank - 1);
    marked[axis] = true;
  }
  return GATHER_OK;
}

static gather_status squeeze(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t axes[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  bool marked[GATHER_MAX_RANK];
  int32_t count, rank = 0;
  const gather_tensor *data = gather_run_operand(run, node, 0);
  GATHER_TRY(read_list(run, node, "axes", axes, &count, error));
  GATHER_TRY(mark_axes(axes, count, data->rank, marked, error));
  for (int32_t d = 0; d < data->rank; d++) {
    bool away = count < 0 ? data->shape[d] == 1 : marked[d];
    if (away && data->shape[d] != 1 && is_onnx(run))
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "dimension %" PRId32 " has the length %" PRId64 ", not 1", d, data->shape[d]);
    if (!away || data->shape[d] != 1) lengths[rank++] = data->shape[d];
  }
  return rename_shape(run, node, rank, lengths, error);
}

static gather_status unsqueeze(gather_running *run, const gather_node *node, gather_error *error) {
  int64_t axes[GATHER_MAX_RANK], lengths[GATHER_MAX_RANK];
  bool marked[GATHER_MAX_RANK];
  int32_t count, at = 0;
  const gather_tensor *data = gather_run_operand(run, node, 0);
  GATHER_TRY(read_list(run, node, "axes", axes, &count, error));
  if (count < 0) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no axes");
  if (data->rank > GATHER_MAX_RANK - count) return gather_fail(error, GATHER_UNSUPPORTED, "the rank would be above %d", GATHER_MAX_RANK);
  int32_t rank = data->rank + count;
  GATHER_TRY(mark_axes(axes, count, rank, marked, error));
  for (int32_t d = 0; d < rank; d++) {
    if (!marked[d] && at == data->rank) return gather_fail(error, GATHER_SHAPE_MISMATCH, "an axis is given twice");
    lengths[d] = marked[d] ? 1 : data->shape[at++];
  }
  return rename_shape(run, node, rank, lengths, error);
}

/* start and end of ONNX Shape-15, cut to [0, rank]. */
static gather_status cut_to(const gather_node *node, const char *name, int32_t rank, int32_t *at, gather_error *error) {
  int64_t value;
  const gather_attribute *attribute = gather_node_attribute(node, name);
  if (!attribute) return GATHER_OK;
  if (!gather_attribute_integer(attribute, &value)) return gather_attribute_wrong(attribute, name, "INT", "a 64-bit integer", error);
  if (value < 0) value = value < -rank ? 0 : value + rank;
  *at = value > rank ? rank : (int32_t)value;
  return GATHER_OK;
}

/* OpenVINO's type of the shape. */
static gather_status shape_type(const gather_running *run, const gather_node *node, gather_type *type, gather_error *error) {
  const gather_attribute *attribute = is_onnx(run) ? NULL : gather_node_attribute(node, "output_type");
  *type = attribute ? gather_type_parse(attribute->text.text) : GATHER_TYPE_INT64;
  return gather_type_is_index(*type) ? GATHER_OK : gather_attribute_wrong(attribute, "output_type", "INT", "an integer type", error);
}

static gather_status shape_of(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  int32_t begin = 0, end = data->rank;
  gather_type wanted;
  GATHER_TRY(shape_type(run, node, &wanted, error));
  if (is_onnx(run)) GATHER_TRY(cut_to(node, "start", data->rank, &begin, error));
  if (is_onnx(run)) GATHER_TRY(cut_to(node, "end", data->rank, &end, error));
  int64_t len = end > begin ? end - begin : 0;
  gather_tensor wide = {.type = GATHER_TYPE_INT64, .rank = 1}, shape;
  GATHER_TRY(gather_run_shape(run, 1, &len, &wide.shape, error));
  GATHER_TRY(gather_run_allocate(run, &wide, error));
  if (len > 0) memcpy(wide.data, data->shape + begin, (size_t)len * sizeof(int64_t));
  GATHER_TRY(cast_integers(run, &wide, wanted, &shape, error));
  gather_run_give(run, node, &shape);
  return GATHER_OK;
}

/* ---- Transpose, which exporters put before and after a GatherND, as they do Concat */

/* The axes in their new order: ONNX's attribute perm, an IR layer's second input; without any, reversed. */
static gather_status read_order(const gather_running *run, const gather_node *node, int64_t order[GATHER_MAX_RANK], int32_t *count,
                                gather_error *error) {
  const gather_tensor *input = gather_run_operand(run, node, 1);
  const gather_attribute *perm = gather_node_attribute(node, "perm");
  *count = 0;
  if (gather_model_is_openvino(run->model))
    return input ? read_integers(input, "order", order, count, error)
                 : gather_fail(error, GATHER_FILE_MALFORMED, "it has no order of axes");
  if (!perm) return GATHER_OK;
  if (perm->kind != GATHER_ATTRIBUTE_INTS) return gather_attribute_wrong(perm, "perm", "INTS", "a list of integers", error);
  if (perm->count > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_UNSUPPORTED, "attribute 'perm' has more than %d integers", GATHER_MAX_RANK);
  for (int64_t i = 0; i < perm->count; i++) order[i] = perm->integers[i];
  *count = (int32_t)perm->count;
  return GATHER_OK;
}

/* Each axis of data must occur once. */
static gather_status check_order(const int64_t *order, int32_t count, int32_t rank, gather_error *error) {
  bool seen[GATHER_MAX_RANK] = {false};
  bool fits = count == rank;
  for (int32_t d = 0; fits && d < rank; d++) {
    fits = order[d] >= 0 && order[d] < rank && !seen[order[d]];
    if (fits) seen[order[d]] = true;
  }
  if (fits) return GATHER_OK;
  return gather_fail(error, GATHER_SHAPE_MISMATCH, "its order does not have each of the %" PRId32 " axes once", rank);
}

static gather_status transpose(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  int64_t order[GATHER_MAX_RANK], own[GATHER_MAX_RANK], shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  gather_tensor turned = *data, dense;
  int32_t count;
  GATHER_TRY(read_order(run, node, order, &count, error));
  const bool reversed = count == 0;
  if (!reversed) GATHER_TRY(check_order(order, count, data->rank, error));
  gather_tensor_strides(data, own);
  for (int32_t d = 0; d < data->rank; d++) {
    const int64_t from = reversed ? data->rank - 1 - d : order[d];
    shape[d] = data->shape[from];
    strides[d] = own[from];
  }
  GATHER_TRY(gather_run_shape(run, data->rank, shape, &turned.shape, error));
  turned.strides = strides;
  GATHER_TRY(gather_run_dense(run, &turned, &dense, error));
  gather_run_give(run, node, &dense);
  return GATHER_OK;
}

/* ---- Concat */

/* The axis; the first version of ONNX's operator has a default. */
static gather_status concat_axis(const gather_node *node, bool onnx, int32_t rank, int32_t *axis, gather_error *error) {
  const gather_attribute *attribute = gather_node_attribute(node, "axis");
  int64_t number = 1;
  if (!attribute && !(onnx && node->opset < 4)) return gather_fail(error, GATHER_FILE_MALFORMED, "it has no axis");
  if (attribute && !gather_attribute_integer(attribute, &number))
    return gather_attribute_wrong(attribute, "axis", "INT", "a 64-bit integer", error);
  if (gather_wrap_axis(number, rank, axis)) return GATHER_OK;
  return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE, "axis %" PRId64 " is outside [-%" PRId32 ", %" PRId32 "]", number, rank, rank - 1);
}

/* Checks that a part fits the first one, and adds its length. */
static gather_status add_part(const gather_tensor *first, const gather_tensor *part, int32_t axis, int64_t *len, gather_error *error) {
  const bool same_bytes = first->type != GATHER_TYPE_OPAQUE || part->item_bytes == first->item_bytes;
  if (part->type != first->type || !same_bytes || ((part->flags ^ first->flags) & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_fail(error, GATHER_TYPE_MISMATCH, "its inputs differ in type or byte order");
  bool fits = part->rank == first->rank;
  for (int32_t d = 0; fits && d < part->rank; d++) fits = d == axis || part->shape[d] == first->shape[d];
  if (!fits) return gather_fail(error, GATHER_SHAPE_MISMATCH, "its inputs differ in rank, or in length off axis %" PRId32, axis);
  return gather_add(*len, part->shape[axis], len)
             ? GATHER_OK
             : gather_fail(error, GATHER_OVERFLOW, "the lengths of its inputs do not fit in 63 bits together");
}

/* Copies a part to its place in the output: `begin` elements along the axis. */
static gather_status copy_part(gather_running *run, const gather_tensor *out, const gather_tensor *part, int32_t axis, int64_t begin,
                               gather_error *error) {
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor to = *out;
  if (gather_tensor_len(part) == 0) return GATHER_OK;
  gather_tensor_strides(out, strides);
  to.shape = part->shape;
  to.strides = strides;
  if (gather_type_is_packed(gather_type_get(out->type)))
    to.packed_offset += begin * strides[axis];
  else
    to.data = (char *)to.data + begin * strides[axis];
  return gather_run_copy(run, part, &to, error);
}

static gather_status concat(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *first = gather_run_operand(run, node, 0), *part;
  int64_t shape[GATHER_MAX_RANK], begin = 0, len = 0;
  int32_t axis = 0;
  GATHER_TRY(concat_axis(node, !gather_model_is_openvino(run->model), first->rank, &axis, error));
  for (int32_t i = 0; i < node->input_count; i++) {
    if (!(part = gather_run_operand(run, node, i))) return gather_fail(error, GATHER_FILE_MALFORMED, "Concat lacks its input %" PRId32, i);
    GATHER_TRY(add_part(first, part, axis, &len, error));
  }
  gather_tensor out = {.type = first->type, .rank = first->rank, .item_bytes = first->item_bytes};
  out.flags = first->flags & GATHER_TENSOR_BYTE_SWAPPED;
  for (int32_t d = 0; d < first->rank; d++) shape[d] = d == axis ? len : first->shape[d];
  GATHER_TRY(gather_run_shape(run, out.rank, shape, &out.shape, error));
  GATHER_TRY(gather_run_allocate(run, &out, error));
  for (int32_t i = 0; i < node->input_count; i++) {
    part = gather_run_operand(run, node, i);
    GATHER_TRY(copy_part(run, &out, part, axis, begin, error));
    begin += part->shape[axis];
  }
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

/* ---- Mod of integers, by which PyTorch's exporter makes the indices of take_along_dim count from the start */

/* The length of dimension d, counted from the last one; 1 where the tensor has none. */
static int64_t len_from_last(const gather_tensor *tensor, int32_t d) { return d < tensor->rank ? tensor->shape[tensor->rank - 1 - d] : 1; }

/* The shape of both together; a length of 1 is repeated. One of the two has it already: so a small model cannot make a large tensor. */
static gather_status broadcast_shape(const gather_tensor *a, const gather_tensor *b, int32_t rank, int64_t *shape, gather_error *error) {
  bool repeats_a = false, repeats_b = false;
  for (int32_t d = 0; d < rank; d++) {
    const int64_t in_a = len_from_last(a, d), in_b = len_from_last(b, d);
    if (in_a != in_b && in_a != 1 && in_b != 1)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "lengths %" PRId64 " and %" PRId64 " of its inputs differ", in_a, in_b);
    shape[rank - 1 - d] = in_a == 1 ? in_b : in_a;
    repeats_a = repeats_a || in_a != shape[rank - 1 - d];
    repeats_b = repeats_b || in_b != shape[rank - 1 - d];
  }
  if (repeats_a && repeats_b) return gather_fail(error, GATHER_UNSUPPORTED, "it repeats elements of both inputs");
  return GATHER_OK;
}

/* A dense copy with that shape: dimensions that are repeated have a step of 0. */
static gather_status spread(gather_running *run, const gather_tensor *tensor, int32_t rank, const int64_t *shape, gather_tensor *dense,
                            gather_error *error) {
  int64_t own[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  gather_tensor view = *tensor;
  gather_tensor_strides(tensor, own);
  for (int32_t d = 0; d < rank; d++) strides[rank - 1 - d] = len_from_last(tensor, d) == 1 ? 0 : own[tensor->rank - 1 - d];
  view.rank = rank, view.shape = shape, view.strides = strides;
  return gather_run_dense(run, &view, dense, error);
}

static int64_t remainder_of(int64_t a, int64_t b, bool is_signed, bool floors) {
  if (!is_signed) return (int64_t)((uint64_t)a % (uint64_t)b);
  return floors ? gather_floor_remainder(a, b) : gather_remainder(a, b);
}

/* ONNX without fmod: the sign of the divisor. With it, and OpenVINO: that of the dividend. */
static gather_status read_floors(const gather_running *run, const gather_node *node, bool *floors, gather_error *error) {
  const gather_attribute *fmod = gather_node_attribute(node, "fmod");
  *floors = !gather_model_is_openvino(run->model);
  if (!*floors || !fmod) return GATHER_OK;
  if (fmod->kind != GATHER_ATTRIBUTE_INT) return gather_attribute_wrong(fmod, "fmod", "INT", "an integer", error);
  *floors = fmod->integer == 0;
  return GATHER_OK;
}

static gather_status check_types(const gather_tensor *a, const gather_tensor *b, gather_error *error) {
  if (a->type != b->type)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "its inputs are %s and %s", gather_type_get(a->type)->name,
                       gather_type_get(b->type)->name);
  if (gather_type_is_index(a->type)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "Mod of %s is not supported; only of integers", gather_type_get(a->type)->name);
}

static gather_status modulo(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *a = gather_run_operand(run, node, 0), *b = gather_run_operand(run, node, 1);
  const int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  int64_t shape[GATHER_MAX_RANK];
  gather_tensor dividends, divisors, out = {.type = a->type, .rank = rank};
  bool floors;
  GATHER_TRY(read_floors(run, node, &floors, error));
  GATHER_TRY(check_types(a, b, error));
  GATHER_TRY(broadcast_shape(a, b, rank, shape, error));
  GATHER_TRY(gather_run_shape(run, rank, shape, &out.shape, error));
  GATHER_TRY(spread(run, a, rank, out.shape, &dividends, error));
  GATHER_TRY(spread(run, b, rank, out.shape, &divisors, error));
  GATHER_TRY(gather_run_allocate(run, &out, error));
  const int64_t len = gather_tensor_len(&out);
  const bool is_signed = gather_type_get(out.type)->kind == GATHER_KIND_INT;
  for (int64_t i = 0; i < len; i++) {
    const int64_t divisor = integer_at(&divisors, i);
    if (divisor == 0) return gather_fail(error, GATHER_UNSUPPORTED, "element %" PRId64 " is divided by 0", i);
    store_integer(&out, i, remainder_of(integer_at(&dividends, i), divisor, is_signed, floors));
  }
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

/* ---- Cast and Convert */

/* The type a Cast or Convert makes: a number in ONNX, a name in IR and in ONNX's first versions. */
static gather_status cast_target(const gather_node *node, bool onnx, gather_type *type, gather_error *error) {
  const char *name = onnx ? "to" : "destination_type";
  const gather_attribute *to = gather_node_attribute(node, name);
  *type = GATHER_TYPE_NONE;
  if (!to) return GATHER_OK;
  if (to->kind == GATHER_ATTRIBUTE_TEXT) {
    *type = gather_type_parse(to->text.text);
    return GATHER_OK;
  }
  if (to->kind != GATHER_ATTRIBUTE_INT) return gather_attribute_wrong(to, name, "INT", "a type", error);
  for (int t = 1; to->integer > 0 && gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->onnx == to->integer) *type = (gather_type)t;
  return GATHER_OK;
}

static gather_status cast(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0);
  gather_type type;
  gather_tensor made;
  const bool openvino = gather_model_is_openvino(run->model);
  GATHER_TRY(cast_target(node, !openvino, &type, error));
  const gather_type_info *target = gather_type_get(type);
  if (openvino && target && target->kind == GATHER_KIND_FLOAT && type != data->type && gather_run_dequantizes(run, node))
    return gather_run_dequantize(run, node, type, error);
  if (type != data->type && (!gather_type_is_index(type) || !gather_type_is_index(data->type)))
    return gather_fail(error, GATHER_UNSUPPORTED, "it casts %s to %s; only casts between integer types are supported",
                       gather_type_get(data->type)->name, gather_type_get(type) ? gather_type_get(type)->name : "an unknown type");
  GATHER_TRY(cast_integers(run, data, type, &made, error));
  gather_run_give(run, node, &made);
  return GATHER_OK;
}

/* ---- the table */

const gather_run_operation gather_run_operators[] = {
    {"Cast", 1, 1, cast, 0},
    {"Convert", 1, 1, cast, 1},
    {"Shape", 1, 1, shape_of, 1},
    {"ShapeOf", 1, 1, shape_of, 1},
    {"Reshape", 1, 2, reshape, 1},
    {"Squeeze", 1, 2, squeeze, 1},
    {"Unsqueeze", 1, 2, unsqueeze, 1},
    {"Transpose", 1, 2, transpose, 0},
    {"Concat", 1, INT32_MAX, concat, 0},
    {"Mod", 2, 2, modulo, 0},
    {NULL, 0, 0, NULL, 0},
};

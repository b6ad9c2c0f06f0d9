/* SPDX-License-Identifier: MIT
 *
 * run_modulo.c: Mod of integers, by which PyTorch's exporter makes the indices of take_along_dim count from the start.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/infer.h"
#include "model/model_run.h"
#include "model/remainder.h"

/* The length of dimension d, counted from the last one; 1 where the tensor has none. */
static int64_t len_from_last(const gather_tensor *tensor, int32_t d) {
  return d < tensor->rank ? tensor->shape[tensor->rank - 1 - d] : 1;
}

/* The shape of both together; a length of 1 is repeated. One of the two has it already: so a small model cannot make a large tensor. */
static gather_status broadcast_shape(const gather_tensor *a, const gather_tensor *b, int32_t rank, int64_t *shape,
                                     gather_error *error) {
  bool repeats_a = false, repeats_b = false;
  for (int32_t d = 0; d < rank; d++) {
    const int64_t in_a = len_from_last(a, d), in_b = len_from_last(b, d);
    if (in_a != in_b && in_a != 1 && in_b != 1)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "lengths %" PRId64 " and %" PRId64 " of its inputs differ", in_a,
                         in_b);
    shape[rank - 1 - d] = in_a == 1 ? in_b : in_a;
    repeats_a = repeats_a || in_a != shape[rank - 1 - d];
    repeats_b = repeats_b || in_b != shape[rank - 1 - d];
  }
  if (repeats_a && repeats_b) return gather_fail(error, GATHER_UNSUPPORTED, "it repeats elements of both inputs");
  return GATHER_OK;
}

/* A dense copy with that shape: dimensions that are repeated have a step of 0. */
static gather_status spread(gather_running *run, const gather_tensor *tensor, int32_t rank, const int64_t *shape,
                            gather_tensor *dense, gather_error *error) {
  int64_t own[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  gather_tensor view = *tensor;
  gather_tensor_strides(tensor, own);
  for (int32_t d = 0; d < rank; d++)
    strides[rank - 1 - d] = len_from_last(tensor, d) == 1 ? 0 : own[tensor->rank - 1 - d];
  view.rank = rank, view.shape = shape, view.strides = strides;
  return gather_run_dense(run, &view, dense, error);
}

static int64_t remainder_of(int64_t a, int64_t b, bool is_signed, bool floors) {
  if (!is_signed) return (int64_t)((uint64_t)a % (uint64_t)b);
  return floors ? gather_floor_remainder(a, b) : gather_remainder(a, b);
}

/* ONNX without fmod: the sign of the divisor. With it, and OpenVINO: that of the dividend. */
static gather_status read_floors(const gather_running *run, const gather_node *node, bool *floors,
                                 gather_error *error) {
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
  return gather_fail(error, GATHER_UNSUPPORTED, "Mod of %s is not supported; only of integers",
                     gather_type_get(a->type)->name);
}

gather_status gather_run_modulo(gather_running *run, const gather_node *node, gather_error *error) {
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
    const int64_t divisor = gather_run_integer_at(&divisors, i);
    if (divisor == 0) return gather_fail(error, GATHER_UNSUPPORTED, "element %" PRId64 " is divided by 0", i);
    gather_run_store_integer(&out, i, remainder_of(gather_run_integer_at(&dividends, i), divisor, is_signed, floors));
  }
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

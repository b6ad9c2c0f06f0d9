/* SPDX-License-Identifier: MIT
 *
 * torch_override_call.cpp: the rules of PyTorch's operators, and a call of the library with them.
 */
#include "torch_override_call.h"

namespace torch_override {

State states[OPERATORS] = {{"embedding", {false}, {0}, {0}},
                           {"index_select", {false}, {0}, {0}},
                           {"gather", {false}, {0}, {0}},
                           {"take", {false}, {0}, {0}}};

namespace {

/* PyTorch's rules for indices in range: embedding, index_select and gather take none below 0, take does. */
constexpr gather_op rules(const char *name, gather_family family, bool negative) {
  return {nullptr,
          "torch",
          name,
          0,
          family,
          negative,
          GATHER_ON_BAD_ERROR,
          false,
          family == GATHER_FAMILY_ELEMENTS ? GATHER_OFF_AXIS_AT_MOST : GATHER_OFF_AXIS_NONE,
          GATHER_AXIS_SOURCE_ATTRIBUTE,
          UINT64_MAX,
          UINT64_MAX,
          name,
          GATHER_TUPLES_NONE,
          false};
}
const gather_op RULES[OPERATORS] = {
    rules("torch.embedding", GATHER_FAMILY_GATHER, false), rules("torch.index_select", GATHER_FAMILY_GATHER, false),
    rules("torch.gather", GATHER_FAMILY_ELEMENTS, false), rules("torch.take", GATHER_FAMILY_GATHER, true)};

/* The output's shape, in row-major order. False: too many dimensions. */
bool shape_of(const gather_op &op, const View &data, const View &indices, int64_t axis, int64_t *shape, int32_t *rank) {
  const gather_tensor &x = data.tensor(), &i = indices.tensor();
  int32_t n = 0;
  if (op.family == GATHER_FAMILY_ELEMENTS) {
    for (; n < i.rank; n++) shape[n] = i.shape[n];
  } else {
    if (x.rank + i.rank - 1 > GATHER_MAX_RANK) return false;
    for (int32_t d = 0; d < axis; d++) shape[n++] = x.shape[d];
    for (int32_t d = 0; d < i.rank; d++) shape[n++] = i.shape[d];
    for (int32_t d = static_cast<int32_t>(axis) + 1; d < x.rank; d++) shape[n++] = x.shape[d];
  }
  *rank = n;
  return true;
}

bool fits(const int64_t *shape, int32_t rank, const View &out) {
  if (!out.contiguous || out.tensor().rank != rank) return false;
  for (int32_t d = 0; d < rank; d++)
    if (out.tensor().shape[d] != shape[d]) return false;
  return true;
}

}  // namespace

gather_status Call::gather_new(const View &data, const View &indices, const gather_options &options,
                               const gather_tensor &made) {
  const gather_plan *plan = nullptr;
  const gather_op &op = RULES[op_];
  const gather_status status = gather_torch_plan(&op, &data.tensor(), &indices.tensor(), &options, &plan, &error_);
  if (status != GATHER_OK) return status;
  if (plan == nullptr) return gather_apply(&op, &data.tensor(), &indices.tensor(), &made, &options, &error_);
  gather_run run = GATHER_RUN_INIT;
  run.data = data.tensor().data;
  run.indices = indices.tensor().data;
  run.out = made.data;
  run.executor = options.executor;
  run.fresh_output = true;
  return gather_plan_run(plan, &run, &error_);
}

bool Call::run(const View &data, const View &indices, int64_t axis, const View *out, Owned &result) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = 0;
  if (axis < 0) axis += data.tensor().rank;
  if (axis < 0 || axis >= data.tensor().rank || data.len == 0 || indices.len == 0) return false;
  if (!shape_of(RULES[op_], data, indices, axis, shape, &rank)) return false;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_executor executor;
  options.executor = gather_torch_executor(&executor);
  options.axis = axis;
  options.fresh_output = out == nullptr;
  if (out != nullptr) {
    if (!fits(shape, rank, *out) || out->view.dtype != data.view.dtype) return false;
    status_ = gather_apply(&RULES[op_], &data.tensor(), &indices.tensor(), &out->tensor(), &options, &error_);
  } else {
    gather_torch_view made;
    if (gather_torch_create(data.view.dtype, shape, rank, result.room(), &made, &error_) != GATHER_OK) return false;
    status_ = gather_new(data, indices, options, made.tensor);
  }
  if (status_ != GATHER_OK) {
    result.drop();
    return false;
  }
  states[op_].taken.fetch_add(1, std::memory_order_relaxed);
  return true;
}

const char *Call::pass_on() {
  if (is_on()) states[op_].passed.fetch_add(1, std::memory_order_relaxed);
  return is_bad_index() ? error_.message : "";
}

}  // namespace torch_override

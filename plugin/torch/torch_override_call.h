/* SPDX-License-Identifier: MIT
 *
 * torch_override_call.h: one call of an operator that is overridden: its tensors, and the attempt to answer it.
 */
#ifndef GATHER_TORCH_OVERRIDE_CALL_H
#define GATHER_TORCH_OVERRIDE_CALL_H

#include "gather/gather.h"

#include "torch_override.h"
#include "torch_own.h"

extern "C" {
#define _Noreturn [[noreturn]] /* C's word, which C++ does not have */
#include "torch_operator.h"
#undef _Noreturn
}

namespace torch_override {

using torch_own::Inside;
using torch_own::Owned;

/* Which element types an operator of PyTorch's takes on the CPU: what it refuses must be refused as before. */
constexpr uint64_t bit(gather_type type) { return UINT64_C(1) << type; }
constexpr uint64_t PLAIN = bit(GATHER_TYPE_BOOL) | bit(GATHER_TYPE_UINT8) | bit(GATHER_TYPE_INT8) | bit(GATHER_TYPE_INT16) |
                           bit(GATHER_TYPE_INT32) | bit(GATHER_TYPE_INT64) | bit(GATHER_TYPE_FLOAT16) | bit(GATHER_TYPE_BFLOAT16) |
                           bit(GATHER_TYPE_FLOAT32) | bit(GATHER_TYPE_FLOAT64) | bit(GATHER_TYPE_COMPLEX64) | bit(GATHER_TYPE_COMPLEX128);
constexpr uint64_t UNSIGNED = bit(GATHER_TYPE_UINT16) | bit(GATHER_TYPE_UINT32) | bit(GATHER_TYPE_UINT64);
constexpr uint64_t FLOAT8 =
    bit(GATHER_TYPE_FLOAT8_E4M3FN) | bit(GATHER_TYPE_FLOAT8_E5M2) | bit(GATHER_TYPE_FLOAT8_E4M3FNUZ) | bit(GATHER_TYPE_FLOAT8_E5M2FNUZ);
constexpr uint64_t ROWS = PLAIN | UNSIGNED | FLOAT8;

/* A tensor as the library sees it. It points into itself. */
struct View {
  gather_torch_view view;
  int64_t len, one;
  bool contiguous;

  View() {}
  View(const View &) = delete;
  View &operator=(const View &) = delete;

  const gather_tensor &tensor() const { return view.tensor; }

  /* Describes a tensor whose type is among `types`. False: PyTorch's kernel is to answer. */
  bool read(void *handle, uint64_t types) {
    gather_error error;
    if (gather_torch_describe(handle, "data", &view, &error) != GATHER_OK || (bit(view.tensor.type) & types) == 0) return false;
    if (aoti_torch_is_contiguous(handle, &contiguous) != 0) return false;
    len = 1;
    for (int32_t d = 0; d < view.tensor.rank; d++) len *= view.tensor.shape[d];
    return true;
  }
  bool read_indices(void *handle, bool narrow) { return read(handle, bit(GATHER_TYPE_INT64) | (narrow ? bit(GATHER_TYPE_INT32) : 0)); }
  /* The flat list of the same elements; only of a contiguous one. */
  void flatten() {
    view.tensor.rank = 1;
    view.tensor.shape = &len;
    view.strides[0] = view.tensor.item_bytes;
  }
  /* Rank 0 becomes rank 1. */
  void at_least_1d() {
    if (view.tensor.rank != 0) return;
    one = 1;
    view.tensor.rank = 1;
    view.tensor.shape = &one;
    view.strides[0] = view.tensor.item_bytes;
  }
};

/* One call of an operator. */
class Call {
 public:
  explicit Call(Operator op) : op_(op) {}

  /* Whether the library is asked at all. */
  bool is_on() const { return states[op_].on.load(std::memory_order_relaxed) && !Inside::any(); }

  /* Gathers along an axis into `out`, or, if that is NULL, into a new tensor, whose handle goes to `result`. False: PyTorch is
   * to answer. */
  bool run(const View &data, const View &indices, int64_t axis, const View *out, Owned &result);

  /* Called before PyTorch's own kernel answers: what libgather says about an index out of range; "" for everything else. */
  const char *pass_on();

  bool is_bad_index() const { return status_ == GATHER_INDEX_OUT_OF_RANGE; }
  const gather_error &error() const { return error_; }

 private:
  gather_status gather_new(const View &data, const View &indices, const gather_options &options, const gather_tensor &made);

  Operator op_;
  gather_status status_ = GATHER_OK;
  gather_error error_;
};

}  // namespace torch_override

#endif

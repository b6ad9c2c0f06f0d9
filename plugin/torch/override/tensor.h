/* SPDX-License-Identifier: MIT
 *
 * tensor.h: PyTorch's tensors as the library's descriptions.
 */
#ifndef GATHER_TORCH_TENSOR_H
#define GATHER_TORCH_TENSOR_H

#include <gather/gather.h>

#include "host.h"

namespace override {

/* A handle that is freed at the end, however that comes. */
class Owned {
 public:
  explicit Owned(Value value) : handle_(reinterpret_cast<Handle>(value)) {}
  explicit Owned(Handle handle = nullptr) : handle_(handle) {}
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  Owned(Owned &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  ~Owned() {
    if (handle_ != nullptr) (void)host.delete_tensor(handle_);
  }
  Handle get() const { return handle_; }
  Handle *room() { return &handle_; }
  Value release() {
    Handle handle = handle_;
    handle_ = nullptr;
    return reinterpret_cast<Value>(handle);
  }

 private:
  Handle handle_;
};

/* Which element types an operator of PyTorch's takes on the CPU, so that what it refuses is refused as before. */
enum Types { PLAIN = 1, UNSIGNED = 2, SMALL = 4 /* float8 and complex32 */ };

/* A tensor as the library sees it. Refers to the handle's sizes; is not copied. */
struct View {
  gather_tensor tensor;
  int64_t len;
  int64_t one;                       /* the shape of a tensor of rank 0 that counts as a list of one */
  int64_t byte_strides[GATHER_MAX_RANK];
  int32_t dtype;
  bool contiguous;

  View() = default;
  View(const View &) = delete;
  View &operator=(const View &) = delete;

  /* Reads the description. False: a type that is not among `types`, or something that PyTorch cannot tell. */
  bool read(Handle handle, unsigned types);
  /* The same for indices: int64, or int32 where `narrow`. */
  bool read_indices(Handle handle, bool narrow);
  bool is_same_shape(const View &other) const;
  /* The flat list of the same elements; only of a contiguous one. */
  void flatten();
  /* Rank 0 becomes rank 1. */
  void at_least_1d();

 private:
  bool read_layout(Handle handle);
};

/* PyTorch's number of int64. */
int32_t int64_dtype();

/* Reads PyTorch's numbers of the types. To be called once, after host_load(). */
void types_load();

}  // namespace override

#endif

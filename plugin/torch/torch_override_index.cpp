/* SPDX-License-Identifier: MIT
 *
 * torch_override_index.cpp: aten::index.Tensor, x[ids]: one tensor of ids for one dimension. PyTorch's own kernel has the rest: masks,
 * several tensors, layouts for which its result has a layout of its own.
 */
#include <cstdio>

#include "torch_override_call.h"

namespace torch_override {

namespace {

/* The indices of aten::index.Tensor: a tensor or nothing for each of the first dimensions. */
class Indices {
 public:
  explicit Indices(uint64_t value) {
    auto *list = reinterpret_cast<void *>(value);
    if (torch_list_size(list, &len_) != 0) len_ = 0;
    too_many_ = len_ > GATHER_MAX_RANK;
    for (size_t i = 0; i < len_; i++) {
      uint64_t item = 0;
      if (torch_list_get_item(list, i, &item) != 0 || item == 0) continue;
      auto *optional = reinterpret_cast<uint64_t *>(item);
      add(i, reinterpret_cast<void *>(*optional));
      if (torch_own::functions.delete_value != nullptr)
        (void)torch_own::functions.delete_value(optional);
      else
        delete optional;
    }
    (void)torch_delete_list(list);
  }
  Indices(const Indices &) = delete;
  Indices &operator=(const Indices &) = delete;
  ~Indices() {
    for (size_t i = 0; i < len_ && i < GATHER_MAX_RANK; i++)
      if (handles_[i] != nullptr) (void)aoti_torch_delete_tensor_object(handles_[i]);
  }

  /* The one tensor among them and its dimension; NULL if there are several or none. */
  void *only(int64_t *dim) const {
    *dim = last_;
    return count_ == 1 ? handles_[last_] : nullptr;
  }

  /* PyTorch's own kernel with them. */
  int32_t index(void *self, void **result) const {
    void *const *optional[GATHER_MAX_RANK];
    for (size_t i = 0; i < len_; i++) optional[i] = handles_[i] != nullptr ? &handles_[i] : nullptr;
    return aoti_torch_cpu_index_Tensor(self, optional, static_cast<int64_t>(len_), result);
  }
  bool too_many() const { return too_many_; }

 private:
  /* A dimension without ids has nothing or a tensor that is not defined. */
  void add(size_t i, void *handle) {
    bool defined = false;
    if (i >= GATHER_MAX_RANK || aoti_torch_is_defined(handle, &defined) != 0 || !defined) {
      (void)aoti_torch_delete_tensor_object(handle);
      return;
    }
    handles_[i] = handle;
    last_ = static_cast<int64_t>(i);
    count_++;
  }

  void *handles_[GATHER_MAX_RANK] = {};
  size_t len_ = 0;
  int64_t last_ = 0;
  int count_ = 0;
  bool too_many_ = false;
};

bool try_index(Call &call, void *self, const Indices &indices, Owned &result) {
  int64_t dim = 0;
  void *const index = indices.only(&dim);
  View data, ids;
  if (index == nullptr || !call.is_on() || !data.read(self, ROWS)) return false;
  /* Of other layouts PyTorch's result has a layout of its own. */
  return ids.read_indices(index, true) && data.contiguous && ids.contiguous &&
         call.run(data, ids, dim, nullptr, result);
}

/* Of index.Tensor PyTorch's kernel is called through its C interface, which loses exceptions. Its errors about indices are
 * IndexErrors. */
[[noreturn]] void throw_from_index(Call &call, const char *what) {
  char text[1024];
  if (call.is_bad_index()) {
    const gather_error &error = call.error();
    std::snprintf(text, sizeof text, "index %lld is out of bounds for dimension %d with size %lld: %s",
                  static_cast<long long>(error.value), static_cast<int>(error.axis),
                  static_cast<long long>(error.high + 1), what);
  } else {
    const char *theirs = torch_own::functions.last_error != nullptr ? torch_own::functions.last_error() : nullptr;
    std::snprintf(text, sizeof text, "%s", theirs != nullptr ? theirs : "the indices do not fit the tensor");
  }
  torch_own::throw_index_error(text);
}

}  // namespace

/* aten::index.Tensor(Tensor self, Tensor?[] indices) */
void index(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), result;
  const Indices indices(stack[1]);
  Call call(INDEX);
  if (!try_index(call, self.get(), indices, result)) {
    const char *what = call.pass_on();
    if (call.is_bad_index() || indices.too_many()) throw_from_index(call, what);
    Owned own;
    Inside inside;
    if (indices.index(self.get(), own.room()) != 0) throw_from_index(call, what);
    stack[0] = own.release();
    return;
  }
  stack[0] = result.release();
}

}  // namespace torch_override

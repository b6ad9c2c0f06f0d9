/* SPDX-License-Identifier: MIT
 *
 * ops.cpp: the kernels. Each tries the library, which answers for ordinary arguments. Whatever is out of the ordinary (another
 * type, an index out of range, arguments that do not fit each other) goes to PyTorch's own kernel, which gives its own result or
 * its own error: so the rules are PyTorch's without being written down here.
 */
#include "ops.h"

#include <gather/gather.h>

#include <cstdio>

#include "own.h"
#include "tensor.h"

namespace override {

State states[OPERATORS] = {{"embedding", {false}, {0}, {0}},
                           {"index_select", {false}, {0}, {0}},
                           {"gather", {false}, {0}, {0}},
                           {"index", {false}, {0}, {0}},
                           {"take", {false}, {0}, {0}}};

namespace {

/* PyTorch's rules for indices in range: embedding, index_select and gather take none below 0, index and take do. */
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
const gather_op RULES[OPERATORS] = {rules("torch.embedding", GATHER_FAMILY_GATHER, false),
                                    rules("torch.index_select", GATHER_FAMILY_GATHER, false),
                                    rules("torch.gather", GATHER_FAMILY_ELEMENTS, false),
                                    rules("torch index", GATHER_FAMILY_GATHER, true),
                                    rules("torch.take", GATHER_FAMILY_GATHER, true)};

/* PyTorch's threads, as an executor. */
struct Range {
  void (*task)(void *argument, int64_t i);
  void *argument;
};

void run_range(int64_t begin, int64_t end, void *context) {
  const auto *range = static_cast<const Range *>(context);
  for (int64_t i = begin; i < end; i++) range->task(range->argument, i);
}

void on_torch_threads(void *, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  Range range = {task, argument};
  if (count == 1 || host.parallel_for(0, count, 1, run_range, &range) != 0) run_range(0, count, &range);
}

/* One call of an operator. */
class Call {
 public:
  explicit Call(Operator op) : op_(op) {}

  /* Whether the library is asked at all. */
  bool is_on() const { return states[op_].on.load(std::memory_order_relaxed) && !Inside::any(); }

  /* Gathers along an axis into `out`, or, if that is NULL, into a new tensor, whose handle goes to `result`. False: PyTorch is
   * to answer. */
  bool run(const View &data, const View &indices, int64_t axis, const View *out, Owned &result) {
    gather_tensor target;
    int64_t shape[GATHER_MAX_RANK];
    void *memory = nullptr;
    if (axis < 0) axis += data.tensor.rank;
    if (axis < 0 || axis >= data.tensor.rank || data.len == 0 || indices.len == 0) return false;
    target = data.tensor;
    target.strides = nullptr;
    target.shape = shape;
    if (!shape_of(data, indices, axis, shape, &target.rank)) return false;
    if (out != nullptr) {
      target.data = out->tensor.data;
      if (!fits(target, *out) || out->dtype != data.dtype) return false;
    } else {
      if (!make(target, data.dtype, result) || host.mutable_data(result.get(), &memory) != 0) return false;
      target.data = memory;
    }
    gather_options options = GATHER_OPTIONS_INIT;
    gather_executor executor = {nullptr, on_torch_threads, 1};
    uint32_t threads = 1;
    if (indices.len >= PARALLEL && host.threads(&threads) == 0 && threads > 1) {
      executor.threads = static_cast<int32_t>(threads);
      options.executor = &executor;
    }
    options.axis = axis;
    options.fresh_output = out == nullptr;
    status_ = gather_apply(&RULES[op_], &data.tensor, &indices.tensor, &target, &options, &error_);
    if (status_ != GATHER_OK) return false;
    states[op_].taken.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /* What libgather says about an index out of range; "" for everything else. */
  const char *what() {
    if (states[op_].on.load(std::memory_order_relaxed) && !Inside::any())
      states[op_].passed.fetch_add(1, std::memory_order_relaxed);
    return status_ == GATHER_INDEX_OUT_OF_RANGE ? error_.message : "";
  }
  bool is_bad_index() const { return status_ == GATHER_INDEX_OUT_OF_RANGE; }
  const gather_error &error() const { return error_; }

 private:
  static constexpr int64_t PARALLEL = 4096; /* indices; fewer are done before other threads have woken up */

  bool shape_of(const View &data, const View &indices, int64_t axis, int64_t *shape, int32_t *rank) const {
    const gather_tensor &x = data.tensor, &i = indices.tensor;
    int32_t n = 0;
    if (RULES[op_].family == GATHER_FAMILY_ELEMENTS) {
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

  static bool fits(const gather_tensor &target, const View &out) {
    if (!out.contiguous || out.tensor.rank != target.rank) return false;
    for (int32_t d = 0; d < target.rank; d++)
      if (out.tensor.shape[d] != target.shape[d]) return false;
    return true;
  }

  static bool make(const gather_tensor &target, int32_t dtype, Owned &result) {
    int64_t strides[GATHER_MAX_RANK], step = 1;
    for (int32_t d = target.rank; d-- > 0;) {
      strides[d] = step;
      step *= target.shape[d] > 1 ? target.shape[d] : 1;
    }
    return host.empty(target.rank, target.shape, strides, dtype, host.cpu(), 0, result.room()) == 0;
  }

  Operator op_;
  gather_status status_ = GATHER_OK;
  gather_error error_;
};

bool is_true(Value value) { return (value & 0xff) != 0; }

/* aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False): the
 * last three are about gradients. */
void embedding(Value *stack, uint64_t, uint64_t) {
  Owned weight(stack[0]), indices(stack[1]), result;
  const auto padding = static_cast<int64_t>(stack[2]);
  const bool scale = is_true(stack[3]), sparse = is_true(stack[4]);
  Call call(EMBEDDING);
  View data, ids;
  if (call.is_on() && data.read(weight.get(), PLAIN | UNSIGNED | SMALL) && data.tensor.rank == 2 &&
      ids.read_indices(indices.get(), true) && call.run(data, ids, 0, nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = own_result(call.what(),
                        [&] { return host.embedding(weight.get(), indices.get(), padding, scale, sparse); });
}

bool try_select(Call &call, Handle self, int64_t dim, Handle index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, PLAIN | UNSIGNED | SMALL) || !ids.read_indices(index, true)) return false;
  if (data.tensor.rank == 0 || ids.tensor.rank > 1) return false;
  ids.at_least_1d();
  return call.run(data, ids, dim, out, result);
}

/* aten::index_select(Tensor self, int dim, Tensor index) */
void index_select(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), result;
  const auto dim = static_cast<int64_t>(stack[1]);
  Call call(INDEX_SELECT);
  if (try_select(call, self.get(), dim, index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = own_result(call.what(), [&] { return host.index_select(self.get(), dim, index.get()); });
}

/* aten::index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out). After an index out of range PyTorch's kernel runs
 * on a tensor of its own: the caller's stays as it was. */
void index_select_out(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), out(stack[3]), none;
  const auto dim = static_cast<int64_t>(stack[1]);
  Call call(INDEX_SELECT);
  View target;
  if (!call.is_on() || !target.read(out.get(), PLAIN | UNSIGNED | SMALL) ||
      !try_select(call, self.get(), dim, index.get(), &target, none)) {
    const char *what = call.what();
    if (call.is_bad_index())
      Owned refused(own_result(what, [&] { return host.index_select(self.get(), dim, index.get()); }));
    run_own(what, [&] { return host.index_select_out(out.get(), self.get(), dim, index.get()); });
  }
  stack[0] = out.release();
}

bool try_gather(Call &call, Handle self, int64_t dim, Handle index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, PLAIN | UNSIGNED) || !ids.read_indices(index, true)) return false;
  return data.tensor.rank > 0 && data.tensor.rank == ids.tensor.rank && call.run(data, ids, dim, out, result);
}

/* aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) */
void gather(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), result;
  const auto dim = static_cast<int64_t>(stack[1]);
  const bool sparse = is_true(stack[3]);
  Call call(GATHER);
  if (try_gather(call, self.get(), dim, index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = own_result(call.what(), [&] { return host.gather(self.get(), dim, index.get(), sparse); });
}

/* aten::gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) */
void gather_out(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), out(stack[4]), none;
  const auto dim = static_cast<int64_t>(stack[1]);
  const bool sparse = is_true(stack[3]);
  Call call(GATHER);
  View target;
  if (!call.is_on() || !target.read(out.get(), PLAIN | UNSIGNED) ||
      !try_gather(call, self.get(), dim, index.get(), &target, none)) {
    const char *what = call.what();
    if (call.is_bad_index())
      Owned refused(own_result(what, [&] { return host.gather(self.get(), dim, index.get(), sparse); }));
    run_own(what, [&] { return host.gather_out(out.get(), self.get(), dim, index.get(), sparse); });
  }
  stack[0] = out.release();
}

bool try_take(Call &call, Handle self, Handle index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, PLAIN) || !ids.read_indices(index, false) || !data.contiguous) return false;
  data.flatten();
  return call.run(data, ids, 0, out, result);
}

/* aten::take(Tensor self, Tensor index): of the flat tensor. */
void take(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[1]), result;
  Call call(TAKE);
  if (try_take(call, self.get(), index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = own_result(call.what(), [&] { return host.take(self.get(), index.get()); });
}

/* aten::take.out(Tensor self, Tensor index, *, Tensor(a!) out) */
void take_out(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[1]), out(stack[2]), none;
  Call call(TAKE);
  View target;
  if (!call.is_on() || !target.read(out.get(), PLAIN) || !try_take(call, self.get(), index.get(), &target, none)) {
    const char *what = call.what();
    if (call.is_bad_index())
      Owned refused(own_result(what, [&] { return host.take(self.get(), index.get()); }));
    run_own(what, [&] { return host.take_out(out.get(), self.get(), index.get()); });
  }
  stack[0] = out.release();
}

/* The indices of aten::index.Tensor: a tensor or nothing for each of the first dimensions. */
class Indices {
 public:
  explicit Indices(Value value) {
    auto *list = reinterpret_cast<List *>(value);
    if (host.list_len(list, &len_) != 0) len_ = 0;
    too_many_ = len_ > GATHER_MAX_RANK;
    for (size_t i = 0; i < len_; i++) {
      Value item = 0;
      if (host.list_item(list, i, &item) != 0 || item == 0) continue;
      auto *optional = reinterpret_cast<Value *>(item);
      add(i, reinterpret_cast<Handle>(*optional));
      if (host.delete_value != nullptr)
        (void)host.delete_value(optional);
      else
        delete optional;
    }
    (void)host.delete_list(list);
  }
  Indices(const Indices &) = delete;
  Indices &operator=(const Indices &) = delete;
  ~Indices() {
    for (size_t i = 0; i < len_ && i < GATHER_MAX_RANK; i++)
      if (handles_[i] != nullptr) (void)host.delete_tensor(handles_[i]);
  }

  /* The one tensor among them and its dimension; NULL if there are several or none. */
  Handle only(int64_t *dim) const {
    *dim = last_;
    return count_ == 1 ? handles_[last_] : nullptr;
  }

  /* PyTorch's own kernel with them. */
  int32_t index(Handle self, Handle *result) const {
    const Handle *optional[GATHER_MAX_RANK];
    for (size_t i = 0; i < len_; i++) optional[i] = handles_[i] != nullptr ? &handles_[i] : nullptr;
    return host.index(self, optional, static_cast<int64_t>(len_), result);
  }
  bool too_many() const { return too_many_; }

 private:
  void add(size_t i, Handle handle) {
    if (i >= GATHER_MAX_RANK) {
      (void)host.delete_tensor(handle);
      return;
    }
    handles_[i] = handle;
    last_ = static_cast<int64_t>(i);
    count_++;
  }

  Handle handles_[GATHER_MAX_RANK] = {};
  size_t len_ = 0;
  int64_t last_ = 0;
  int count_ = 0;
  bool too_many_ = false;
};

bool try_index(Call &call, Handle self, const Indices &indices, Owned &result) {
  int64_t dim = 0;
  const Handle index = indices.only(&dim);
  View data, ids;
  if (index == nullptr || !call.is_on() || !data.read(self, PLAIN | UNSIGNED | SMALL)) return false;
  /* Of other layouts PyTorch's result has a layout of its own. */
  return ids.read_indices(index, true) && data.contiguous && ids.contiguous && call.run(data, ids, dim, nullptr, result);
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
    const char *theirs = host.last_error != nullptr ? host.last_error() : nullptr;
    std::snprintf(text, sizeof text, "%s", theirs != nullptr ? theirs : "the indices do not fit the tensor");
  }
  throw_index_error(text);
}

/* aten::index.Tensor(Tensor self, Tensor?[] indices) */
void index(Value *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), result;
  const Indices indices(stack[1]);
  Call call(INDEX);
  if (!try_index(call, self.get(), indices, result)) {
    const char *what = call.what();
    if (call.is_bad_index() || indices.too_many()) throw_from_index(call, what);
    Owned own;
    Inside inside;
    if (indices.index(self.get(), own.room()) != 0) throw_from_index(call, what);
    stack[0] = own.release();
    return;
  }
  stack[0] = result.release();
}

}  // namespace

const Replaced replaced[REPLACED] = {{EMBEDDING, "embedding", embedding},
                                     {INDEX_SELECT, "index_select", index_select},
                                     {INDEX_SELECT, "index_select.out", index_select_out},
                                     {GATHER, "gather", gather},
                                     {GATHER, "gather.out", gather_out},
                                     {INDEX, "index.Tensor", index},
                                     {TAKE, "take", take},
                                     {TAKE, "take.out", take_out}};

}  // namespace override

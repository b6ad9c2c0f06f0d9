/* SPDX-License-Identifier: MIT
 *
 * torch_override_ops.cpp: the kernels. Each tries the library, which answers for ordinary arguments. Whatever is out of the ordinary
 * (another type, an index out of range, arguments that do not fit each other) goes to PyTorch's own kernel, which gives its own
 * result or its own error: so the rules are PyTorch's without being written down here.
 */
#include "torch_override_call.h"

using torch_own::functions;

namespace torch_override {

namespace {

bool is_true(uint64_t value) { return (value & 0xff) != 0; }

/* aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False): the
 * last three are about gradients. */
void embedding(uint64_t *stack, uint64_t, uint64_t) {
  Owned weight(stack[0]), indices(stack[1]), result;
  const auto padding = static_cast<int64_t>(stack[2]);
  const bool scale = is_true(stack[3]), sparse = is_true(stack[4]);
  Call call(EMBEDDING);
  View data, ids;
  if (call.is_on() && data.read(weight.get(), ROWS) && data.tensor().rank == 2 &&
      ids.read_indices(indices.get(), true) && call.run(data, ids, 0, nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = torch_own::result(
      call.pass_on(), [&] { return functions.embedding(weight.get(), indices.get(), padding, scale, sparse); });
}

bool try_select(Call &call, void *self, int64_t dim, void *index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, ROWS) || !ids.read_indices(index, true)) return false;
  if (data.tensor().rank == 0 || ids.tensor().rank > 1) return false;
  /* PyTorch 2.11 moves single elements of the older types alone. */
  if (data.tensor().rank == 1 && (bit(data.tensor().type) & PLAIN) == 0) return false;
  ids.at_least_1d();
  return call.run(data, ids, dim, out, result);
}

/* aten::index_select(Tensor self, int dim, Tensor index) */
void index_select(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), result;
  const auto dim = static_cast<int64_t>(stack[1]);
  Call call(INDEX_SELECT);
  if (try_select(call, self.get(), dim, index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = torch_own::result(call.pass_on(), [&] { return functions.index_select(self.get(), dim, index.get()); });
}

/* aten::index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out). After an index out of range PyTorch's kernel runs
 * on a tensor of its own: the caller's stays as it was. */
void index_select_out(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), out(stack[3]), none;
  const auto dim = static_cast<int64_t>(stack[1]);
  Call call(INDEX_SELECT);
  View target;
  if (!call.is_on() || !target.read(out.get(), ROWS) ||
      !try_select(call, self.get(), dim, index.get(), &target, none)) {
    const char *what = call.pass_on();
    if (call.is_bad_index())
      Owned refused(torch_own::result(what, [&] { return functions.index_select(self.get(), dim, index.get()); }));
    torch_own::run(what, [&] { return functions.index_select_out(out.get(), self.get(), dim, index.get()); });
  }
  stack[0] = out.release();
}

bool try_gather(Call &call, void *self, int64_t dim, void *index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, PLAIN) || !ids.read_indices(index, true)) return false;
  return data.tensor().rank > 0 && data.tensor().rank == ids.tensor().rank && call.run(data, ids, dim, out, result);
}

/* aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) */
void gather(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), result;
  const auto dim = static_cast<int64_t>(stack[1]);
  const bool sparse = is_true(stack[3]);
  Call call(GATHER);
  if (try_gather(call, self.get(), dim, index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = torch_own::result(call.pass_on(), [&] { return functions.gather(self.get(), dim, index.get(), sparse); });
}

/* aten::gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) */
void gather_out(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[2]), out(stack[4]), none;
  const auto dim = static_cast<int64_t>(stack[1]);
  const bool sparse = is_true(stack[3]);
  Call call(GATHER);
  View target;
  if (!call.is_on() || !target.read(out.get(), PLAIN) ||
      !try_gather(call, self.get(), dim, index.get(), &target, none)) {
    const char *what = call.pass_on();
    if (call.is_bad_index())
      Owned refused(torch_own::result(what, [&] { return functions.gather(self.get(), dim, index.get(), sparse); }));
    torch_own::run(what, [&] { return functions.gather_out(out.get(), self.get(), dim, index.get(), sparse); });
  }
  stack[0] = out.release();
}

bool try_take(Call &call, void *self, void *index, const View *out, Owned &result) {
  View data, ids;
  if (!call.is_on() || !data.read(self, PLAIN) || !ids.read_indices(index, false) || !data.contiguous) return false;
  data.flatten();
  return call.run(data, ids, 0, out, result);
}

/* aten::take(Tensor self, Tensor index): of the flat tensor. */
void take(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[1]), result;
  Call call(TAKE);
  if (try_take(call, self.get(), index.get(), nullptr, result)) {
    stack[0] = result.release();
    return;
  }
  stack[0] = torch_own::result(call.pass_on(), [&] { return functions.take(self.get(), index.get()); });
}

/* aten::take.out(Tensor self, Tensor index, *, Tensor(a!) out) */
void take_out(uint64_t *stack, uint64_t, uint64_t) {
  Owned self(stack[0]), index(stack[1]), out(stack[2]), none;
  Call call(TAKE);
  View target;
  if (!call.is_on() || !target.read(out.get(), PLAIN) || !try_take(call, self.get(), index.get(), &target, none)) {
    const char *what = call.pass_on();
    if (call.is_bad_index())
      Owned refused(torch_own::result(what, [&] { return functions.take(self.get(), index.get()); }));
    torch_own::run(what, [&] { return functions.take_out(out.get(), self.get(), index.get()); });
  }
  stack[0] = out.release();
}

}  // namespace

const Replaced replaced[REPLACED] = {{EMBEDDING, "embedding", embedding},
                                     {INDEX_SELECT, "index_select", index_select},
                                     {INDEX_SELECT, "index_select.out", index_select_out},
                                     {GATHER, "gather", gather},
                                     {GATHER, "gather.out", gather_out},
                                     {TAKE, "take", take},
                                     {TAKE, "take.out", take_out}};

}  // namespace torch_override

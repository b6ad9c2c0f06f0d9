// SPDX-License-Identifier: MIT
#include "plans.hpp"

#include <vector>

#include "tensors.hpp"

namespace libgather {
namespace {

gather_tensor described(const ov::Tensor &tensor) {
  gather_tensor view = tensor_of(tensor);
  view.data = nullptr;
  return view;
}

bool fits(const Plans::Entry &entry, const ov::Tensor &data, const ov::Tensor &indices) {
  return entry.indices == indices.get_shape() && entry.data == data.get_shape() &&
         entry.type == data.get_element_type() && entry.index_type == indices.get_element_type();
}

std::unique_ptr<Plans::Entry> make(const gather_op *op, const gather_options &options, const ov::Tensor &data,
                                   const ov::Tensor &indices, const std::string &node) {
  const gather_tensor x = described(data), ids = described(indices);
  gather_error error;
  gather_plan *plan = nullptr;
  require(gather_plan_create(op, &x, &ids, nullptr, &options, &plan, &error), error, node);
  std::int64_t shape[GATHER_MAX_RANK];
  const std::int32_t rank = gather_plan_shape(plan, shape);
  auto entry = std::make_unique<Plans::Entry>();
  entry->type = data.get_element_type();
  entry->index_type = indices.get_element_type();
  entry->data = data.get_shape();
  entry->indices = indices.get_shape();
  entry->out = ov::Shape(shape, shape + rank);
  entry->plan.reset(plan);
  return entry;
}

void free_list(Plans::Entry *entry) {
  while (entry) {
    Plans::Entry *next = entry->next;
    delete entry;
    entry = next;
  }
}

}  // namespace

Plans::~Plans() { free_list(first_.load()); }

const Plans::Entry &Plans::find(const ov::Tensor &data, const ov::Tensor &indices, const std::string &node,
                                std::unique_ptr<Entry> &unkept) {
  for (const Entry *entry = first_.load(std::memory_order_acquire); entry; entry = entry->next)
    if (fits(*entry, data, indices)) return *entry;
  std::unique_ptr<Entry> made = make(op_, options_, data, indices, node);
  if (count_.fetch_add(1) >= most_) {
    count_.fetch_sub(1);
    unkept = std::move(made);
    return *unkept;
  }
  Entry *entry = made.release();
  entry->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *entry;
}

}  // namespace libgather

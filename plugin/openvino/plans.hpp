// SPDX-License-Identifier: MIT
//
// The plans of a node, one per combination of shapes: a small gather spends more time on its decisions than on its rows.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "gather/gather.h"
#include "openvino/runtime/tensor.hpp"

namespace libgather {

// Several threads may use one at once. Plans are only added, so they are found without a lock.
class Plans {
 public:
  struct Entry {
    ov::element::Type type, index_type;
    ov::Shape data, indices, out;
    std::unique_ptr<gather_plan, decltype(&gather_plan_destroy)> plan{nullptr, gather_plan_destroy};
    Entry *next = nullptr;
  };

  Plans(const gather_op *op, const gather_options &options) : op_(op), options_(options) {}
  ~Plans();
  Plans(const Plans &) = delete;
  Plans &operator=(const Plans &) = delete;

  // The plan for these tensors; made, and kept while there is room. Throws with the name of the node.
  const Entry &find(const ov::Tensor &data, const ov::Tensor &indices, const std::string &node,
                    std::unique_ptr<Entry> &unkept);

 private:
  static constexpr int most_ = 16;  // beyond that, a search would cost as much as a plan
  const gather_op *op_;
  gather_options options_;
  std::atomic<Entry *> first_{nullptr};
  std::atomic<int> count_{0};
};

}  // namespace libgather

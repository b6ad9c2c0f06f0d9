// SPDX-License-Identifier: MIT
//
// What is OpenVINO's as the library describes it: types, shapes, tensors, threads; and the library's errors as exceptions.
#pragma once

#include <string>

#include "gather/gather.h"
#include "openvino/core/partial_shape.hpp"
#include "openvino/core/symbol.hpp"
#include "openvino/runtime/tensor.hpp"

namespace libgather {

// ---- tensors -------------------------------------------------------------------------------------------------------

// The library's type; GATHER_TYPE_NONE where it has none, as for a type that is not known yet.
gather_type type_of(const ov::element::Type &type);

// A tensor's memory, row-major. It refers to the tensor's shape, so the tensor must live longer.
gather_tensor tensor_of(const ov::Tensor &tensor);

// Lengths as the library counts them. They refer to the shape.
inline const std::int64_t *lengths_of(const ov::Shape &shape) {
  static_assert(sizeof(std::size_t) == sizeof(std::int64_t), "OpenVINO runs on 64-bit machines");
  return reinterpret_cast<const std::int64_t *>(shape.data());
}

// Shapes of which something is unknown: intervals and symbols pass through the library and come back.
class Shapes {
 public:
  gather_shape given(const ov::PartialShape &shape);
  ov::PartialShape inferred(const gather_shape &shape) const;

 private:
  std::vector<std::pair<std::string, std::shared_ptr<ov::Symbol>>> names_;  // one per symbol, its address as text
  const char *name_of(const std::shared_ptr<ov::Symbol> &symbol);
};

// Throws what the library says about a node, unless the status is GATHER_OK.
void require(gather_status status, const gather_error &error, const std::string &node);
// The same after a run. The output becomes zeros first: with one thread OpenVINO loses the errors of its nodes (docs/embed/openvino.md),
// and a program that goes on must not see what was in the memory before.
void require_run(gather_status status, const gather_error &error, const std::string &node, ov::Tensor &out);

// ---- threads -------------------------------------------------------------------------------------------------------

// An executor for the calling thread, as long as the node runs. Of one thread where this build has no TBB.
gather_executor host_executor();

}  // namespace libgather

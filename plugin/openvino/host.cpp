// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <cstring>
#include <stdexcept>

#ifdef GATHER_OPENVINO_TBB
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace libgather {

// ---- tensors -------------------------------------------------------------------------------------------------------

gather_type type_of(const ov::element::Type &type) {
  const std::string name = type.is_dynamic() ? "" : type.get_type_name();
  return name == "u2" ? GATHER_TYPE_UINT2 : gather_type_parse(name.c_str());
}

gather_tensor tensor_of(const ov::Tensor &tensor) {
  const ov::Shape &shape = tensor.get_shape();
  gather_tensor view = {};
  view.data = tensor.get_size() == 0 ? nullptr : const_cast<void *>(static_cast<const void *>(tensor.data()));
  view.type = type_of(tensor.get_element_type());
  view.rank = static_cast<std::int32_t>(shape.size());
  view.shape = lengths_of(shape);
  return view;
}

const char *Shapes::name_of(const std::shared_ptr<ov::Symbol> &symbol) {
  if (!symbol) return nullptr;
  for (const auto &name : names_)
    if (name.second == symbol) return name.first.c_str();
  names_.emplace_back(std::to_string(reinterpret_cast<std::uintptr_t>(symbol.get())), symbol);
  return names_.back().first.c_str();
}

gather_shape Shapes::given(const ov::PartialShape &shape) {
  gather_shape given = {};
  given.rank = -1;
  if (shape.rank().is_dynamic() || shape.size() > GATHER_MAX_RANK) return given;
  given.rank = static_cast<std::int32_t>(shape.size());
  names_.reserve(names_.size() + shape.size());
  for (std::size_t i = 0; i < shape.size(); i++) {
    const auto &interval = shape[static_cast<std::ptrdiff_t>(i)].get_interval();
    given.dims[i].min = interval.get_min_val();
    given.dims[i].max = interval.has_upper_bound() ? interval.get_max_val() : GATHER_DIM_UNBOUNDED;
    given.dims[i].symbol = name_of(shape[static_cast<std::ptrdiff_t>(i)].get_symbol());
  }
  return given;
}

ov::PartialShape Shapes::inferred(const gather_shape &shape) const {
  if (shape.rank < 0) return ov::PartialShape::dynamic();
  std::vector<ov::Dimension> dims;
  for (std::int32_t i = 0; i < shape.rank; i++) {
    const gather_dim &dim = shape.dims[i];
    dims.emplace_back(dim.min, dim.max == GATHER_DIM_UNBOUNDED ? -1 : dim.max);
    for (const auto &name : names_)
      if (dim.symbol && name.first == dim.symbol) dims.back().set_symbol(name.second);
  }
  return ov::PartialShape(std::move(dims));
}

void require(gather_status status, const gather_error &error, const std::string &node) {
  if (status != GATHER_OK) throw std::runtime_error("libgather: node '" + node + "': " + error.message);
}

void require_run(gather_status status, const gather_error &error, const std::string &node, ov::Tensor &out) {
  if (status != GATHER_OK && out.get_byte_size() > 0) std::memset(out.data(), 0, out.get_byte_size());
  require(status, error, node);
}

// ---- threads -------------------------------------------------------------------------------------------------------

namespace {

void parallel_for(void *, std::int64_t count, void (*task)(void *argument, std::int64_t i), void *argument) {
#ifdef GATHER_OPENVINO_TBB
  // Each task is a block of its own: the library has divided the work already.
  tbb::parallel_for(
      std::int64_t{0}, count, [=](std::int64_t i) { task(argument, i); }, tbb::simple_partitioner());
#else
  for (std::int64_t i = 0; i < count; i++) task(argument, i);
#endif
}

}  // namespace

gather_executor host_executor() {
#ifdef GATHER_OPENVINO_TBB
  return {nullptr, parallel_for, tbb::this_task_arena::max_concurrency()};
#else
  return {nullptr, parallel_for, 1};
#endif
}

}  // namespace libgather

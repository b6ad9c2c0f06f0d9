// SPDX-License-Identifier: MIT
//
// Replaces the gathers of a model that is in memory already, whichever front end made it.
#include <cstdio>
#include <memory>
#include <optional>

#include "decide.hpp"
#include "openvino/core/graph_util.hpp"
#include "openvino/core/model.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/gather_elements.hpp"
#include "openvino/op/gather_nd.hpp"
#include "openvino/op/gather_tree.hpp"
#include "openvino/op/util/sub_graph_base.hpp"
#include "options.hpp"
#include "tree_op.hpp"

namespace libgather {
namespace {

const gather_op *rules(const char *name, const char *version) { return gather_op_find(name, version); }

std::optional<Found> gather_of(const std::shared_ptr<ov::Node> &node) {
  const auto base = ov::as_type_ptr<ov::op::util::GatherBase>(node);
  if (!base) return std::nullopt;
  const std::optional<std::int64_t> axis = constant_axis(node->input_value(2));
  if (!axis) return std::nullopt;
  const char *version = ov::is_type<ov::op::v8::Gather>(node)   ? "openvino-8"
                        : ov::is_type<ov::op::v7::Gather>(node) ? "openvino-7"
                        : ov::is_type<ov::op::v1::Gather>(node) ? "openvino-1"
                                                                : nullptr;
  if (!version)  // one that other parts of OpenVINO derive from it
    return std::nullopt;
  const auto batched = ov::as_type_ptr<ov::op::v8::Gather>(node);
  const auto earlier = ov::as_type_ptr<ov::op::v7::Gather>(node);
  const std::int64_t batch_dims = batched ? batched->get_batch_dims() : earlier ? earlier->get_batch_dims() : 0;
  return Found{rules("Gather", version), {node->input_value(0), node->input_value(1)}, *axis, batch_dims};
}

std::optional<Found> found_in(const std::shared_ptr<ov::Node> &node) {
  if (const auto elements = ov::as_type_ptr<ov::op::v6::GatherElements>(node))
    return Found{rules("GatherElements", "openvino-6"), node->input_values(), elements->get_axis(), 0};
  if (const auto nd = ov::as_type_ptr<ov::op::v8::GatherND>(node))
    return Found{rules("GatherND", "openvino-8"), node->input_values(), 0,
                 static_cast<std::int64_t>(nd->get_batch_dims())};
  if (const auto nd = ov::as_type_ptr<ov::op::v5::GatherND>(node))
    return Found{rules("GatherND", "openvino-5"), node->input_values(), 0,
                 static_cast<std::int64_t>(nd->get_batch_dims())};
  return gather_of(node);
}

std::int64_t replace_in(ov::Model &model, const Options &options) {
  std::int64_t count = 0;
  for (const auto &node : model.get_ordered_ops()) {
    if (const auto loops = ov::as_type_ptr<ov::op::util::MultiSubGraphOp>(node))
      for (std::size_t i = 0; i < loops->get_internal_subgraphs_size(); i++)
        count += replace_in(*loops->get_function(i), options);
    ov::Output<ov::Node> value;
    if (const std::optional<Found> found = found_in(node))
      value = replacement(*found, options);
    else if (ov::is_type<ov::op::v1::GatherTree>(node))
      value = std::make_shared<TreeOp>(node->input_values(), options.on_bad);
    if (!value.get_node()) continue;
    value.get_node()->set_friendly_name(node->get_friendly_name());
    ov::replace_node(node, value.get_node_shared_ptr());
    count++;
  }
  return count;
}

}  // namespace
}  // namespace libgather

// model: an ov::Model, changed in place by the calling thread's options. Returns how many nodes were replaced, or -1 with a sentence.
extern "C" __attribute__((visibility("default"))) std::int64_t gather_openvino_replace(void *model, char *complaint,
                                                                                       std::size_t bytes) {
  try {
    const std::int64_t count = libgather::replace_in(*static_cast<ov::Model *>(model), libgather::options_current());
    if (count > 0) static_cast<ov::Model *>(model)->validate_nodes_and_infer_types();
    return count;
  } catch (const std::exception &error) {
    if (bytes > 0) std::snprintf(complaint, bytes, "%s", error.what());
    return -1;
  }
}

// SPDX-License-Identifier: MIT
//
// What others call: core.add_extension, for how the gathers of ONNX models and of OpenVINO's own are made, and the operators that they
// become; programs, to replace the gathers of a model that is in memory already, and for a report.
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decide.hpp"
#include "file_table.hpp"
#include "openvino/core/graph_util.hpp"
#include "openvino/core/model.hpp"
#include "openvino/core/op_extension.hpp"
#include "openvino/frontend/extension/conversion.hpp"
#include "openvino/frontend/node_context.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/gather_elements.hpp"
#include "openvino/op/gather_nd.hpp"
#include "openvino/op/gather_tree.hpp"
#include "openvino/op/slice.hpp"
#include "openvino/op/util/sub_graph_base.hpp"
#include "ops.hpp"
#include "options.hpp"

namespace libgather {

namespace {

using Value = ov::Output<ov::Node>;

// OpenVINO's own node, as its reader would have made it.
Value own_gather(const ov::OutputVector &inputs, const gather_op *op, std::int64_t batch_dims) {
  if (op->version >= 8) return std::make_shared<ov::op::v8::Gather>(inputs.at(0), inputs.at(1), inputs.at(2), batch_dims);
  if (op->version >= 7) return std::make_shared<ov::op::v7::Gather>(inputs.at(0), inputs.at(1), inputs.at(2), batch_dims);
  return std::make_shared<ov::op::v1::Gather>(inputs.at(0), inputs.at(1), inputs.at(2));
}

Value own_nd(const ov::OutputVector &inputs, const gather_op *op, std::int64_t batch_dims) {
  const auto batch = static_cast<std::size_t>(batch_dims);
  if (op->version >= 8) return std::make_shared<ov::op::v8::GatherND>(inputs.at(0), inputs.at(1), batch);
  return std::make_shared<ov::op::v5::GatherND>(inputs.at(0), inputs.at(1), batch);
}

// A node that has as many inputs as the one in the file, which its reader takes for granted: `value`, or a Slice that takes all of
// it, which every plug-in removes.
Value with_inputs(const Value &value, std::size_t least) {
  if (value.get_node()->get_input_size() >= least) return value;
  const auto number = [](std::int64_t n) { return ov::op::v0::Constant::create(ov::element::i64, ov::Shape{1}, {n}); };
  return std::make_shared<ov::op::v8::Slice>(value, number(0), number(INT64_MAX), number(1));
}

// ---- models of OpenVINO --------------------------------------------------------------------------------------------

// Takes the place of an operator of an opset. The reader of models asks extensions first, by name and opset, and takes any node from
// them: OpenVINO's own too.
class Replaced : public ov::BaseOpExtension {
 public:
  Replaced(const gather_op *op, const std::string &opset, const Options &options)
      : op_(op), opset_(opset), options_(options), type_(op->name, opset_.c_str()) {}

  const ov::DiscreteTypeInfo &get_type_info() const override { return type_; }
  std::vector<ov::Extension::Ptr> get_attached_extensions() const override { return {}; }

  ov::OutputVector create(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor) const override {
    std::int64_t axis = 0, batch_dims = 0;
    if (op_->axis_source == GATHER_AXIS_SOURCE_ATTRIBUTE) visitor.on_attribute("axis", axis);
    if (op_->batch_dims) visitor.on_attribute("batch_dims", batch_dims);
    if (op_->family == GATHER_FAMILY_TREE) return std::make_shared<TreeOp>(inputs, options_.on_bad)->outputs();
    std::optional<std::int64_t> known = axis;
    if (op_->axis_source == GATHER_AXIS_SOURCE_INPUT) known = constant_axis(inputs.at(2));
    if (known) {
      const Value value = replacement({op_, inputs, *known, batch_dims}, options_);
      // (A Slice needs a dimension; a single number of a table is no work anyway.)
      if (value.get_node() && (value.get_partial_shape().rank() != 0 || value.get_node()->get_input_size() >= inputs.size()))
        return {with_inputs(value, inputs.size())};
    }
    return {own(inputs, axis, batch_dims)};
  }

 private:
  const gather_op *op_;
  const std::string opset_;
  const Options options_;
  const ov::DiscreteTypeInfo type_;

  Value own(const ov::OutputVector &inputs, std::int64_t axis, std::int64_t batch_dims) const {
    if (op_->family == GATHER_FAMILY_ELEMENTS) return std::make_shared<ov::op::v6::GatherElements>(inputs.at(0), inputs.at(1), axis);
    return op_->family == GATHER_FAMILY_ND ? own_nd(inputs, op_, batch_dims) : own_gather(inputs, op_, batch_dims);
  }
};

// Opsets above 17 do not exist when this is written; those that will may have a newer version of an operator.
constexpr int last_opset = 17;

void add_opsets(const Options &options, std::vector<ov::Extension::Ptr> &all) {
  for (const char *name : {"Gather", "GatherElements", "GatherND", "GatherTree"})
    for (int opset = 1; opset <= last_opset; opset++)
      if (const gather_op *op = gather_op_for_opset("openvino", name, opset))
        all.push_back(std::make_shared<Replaced>(op, "opset" + std::to_string(opset), options));
}

// ---- models of ONNX ------------------------------------------------------------------------------------------------

// The rules are those of ONNX's latest version: the front end does not tell the opset of a node.
const gather_op *onnx(const char *name) { return gather_op_find(name, "onnx-13"); }

ov::OutputVector onnx_gather(const ov::frontend::NodeContext &node, const Options &options) {
  const Value data = node.get_input(0), indices = node.get_input(1);
  const auto axis = node.get_attribute<std::int64_t>("axis", 0);
  const Value value = replacement({onnx("Gather"), {data, indices}, axis, 0}, options);
  if (value.get_node()) return {value};
  const auto constant = ov::op::v0::Constant::create(ov::element::i64, ov::Shape{}, {axis});
  return std::make_shared<ov::op::v8::Gather>(data, indices, constant)->outputs();
}

ov::OutputVector onnx_elements(const ov::frontend::NodeContext &node, const Options &options) {
  const Value data = node.get_input(0), indices = node.get_input(1);
  const auto axis = node.get_attribute<std::int64_t>("axis", 0);
  const Value value = replacement({onnx("GatherElements"), {data, indices}, axis, 0}, options);
  if (value.get_node()) return {value};
  return std::make_shared<ov::op::v6::GatherElements>(data, indices, axis)->outputs();
}

ov::OutputVector onnx_nd(const ov::frontend::NodeContext &node, const Options &options) {
  const Value data = node.get_input(0), indices = node.get_input(1);
  const auto batch_dims = node.get_attribute<std::int64_t>("batch_dims", 0);
  const Value value = replacement({onnx("GatherND"), {data, indices}, 0, batch_dims}, options);
  if (value.get_node()) return {value};
  return std::make_shared<ov::op::v8::GatherND>(data, indices, static_cast<std::size_t>(batch_dims))->outputs();
}

using Convert = ov::OutputVector (*)(const ov::frontend::NodeContext &, const Options &);

void add_onnx(const Options &options, std::vector<ov::Extension::Ptr> &all) {
  for (const auto &[name, convert] :
       {std::pair<const char *, Convert>{"Gather", onnx_gather}, {"GatherElements", onnx_elements}, {"GatherND", onnx_nd}})
    all.push_back(std::make_shared<ov::frontend::ConversionExtension>(
        name, [convert = convert, options](const ov::frontend::NodeContext &node) { return convert(node, options); }));
}

}  // namespace

// ---- models in memory, whichever front end made them ---------------------------------------------------------------

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
    return Found{rules("GatherND", "openvino-8"), node->input_values(), 0, static_cast<std::int64_t>(nd->get_batch_dims())};
  if (const auto nd = ov::as_type_ptr<ov::op::v5::GatherND>(node))
    return Found{rules("GatherND", "openvino-5"), node->input_values(), 0, static_cast<std::int64_t>(nd->get_batch_dims())};
  return gather_of(node);
}

std::int64_t replace_in(ov::Model &model, const Options &options) {
  std::int64_t count = 0;
  for (const auto &node : model.get_ordered_ops()) {
    if (const auto loops = ov::as_type_ptr<ov::op::util::MultiSubGraphOp>(node))
      for (std::size_t i = 0; i < loops->get_internal_subgraphs_size(); i++) count += replace_in(*loops->get_function(i), options);
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

// ---- what the extension has done, for programs: as JSON, so that a binding in any language can read it -------------

namespace {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string member(const char *name, std::int64_t number) { return ", \"" + std::string(name) + "\": " + std::to_string(number); }

std::string described(const FileTable &table) {
  gather_table_statistics facts;
  gather_table_statistics_get(table.table(), &facts);
  const gather_table_info *info = gather_table_describe(table.table());
  return "{\"path\": " + quoted(table.place().path) + ", \"engine\": " + quoted(gather_engine_name(facts.engine)) +
         member("offset", table.place().offset) + member("rows", info->rows) + member("row_bytes", info->row_bytes) +
         member("takes", facts.takes) + member("rows_taken", facts.rows) + member("rows_resident", facts.rows_resident) +
         member("rows_cached", facts.rows_cached) + member("rows_read", facts.rows_read) + member("bytes_useful", facts.bytes_useful) +
         member("bytes_read", facts.bytes_read) + member("memory_bytes", facts.memory_bytes) + member("memory_peak", facts.memory_peak) +
         member("memory_limit", facts.memory_ceiling) + "}";
}

}  // namespace

}  // namespace libgather

OPENVINO_EXTENSION_C_API void OV_CREATE_EXTENSION(std::vector<ov::Extension::Ptr> &all) {
  const libgather::Options options = libgather::options_current();
  all.push_back(std::make_shared<ov::OpExtension<libgather::GatherOp>>());
  all.push_back(std::make_shared<ov::OpExtension<libgather::TreeOp>>());
  all.push_back(std::make_shared<ov::OpExtension<libgather::TableOp>>());
  libgather::add_opsets(options, all);
  libgather::add_onnx(options, all);
}

// model: an ov::Model, changed in place by the calling thread's options. Returns how many nodes were replaced, or -1 with a sentence.
extern "C" __attribute__((visibility("default"))) std::int64_t gather_openvino_replace(void *model, char *complaint, std::size_t bytes) {
  try {
    const std::int64_t count = libgather::replace_in(*static_cast<ov::Model *>(model), libgather::options_current());
    if (count > 0) static_cast<ov::Model *>(model)->validate_nodes_and_infer_types();
    return count;
  } catch (const std::exception &error) {
    if (bytes > 0) std::snprintf(complaint, bytes, "%s", error.what());
    return -1;
  }
}

// Writes the report as snprintf does: at most `bytes` with the terminator; returns its length without truncation.
extern "C" __attribute__((visibility("default"))) size_t gather_openvino_report(char *text, size_t bytes) {
  const libgather::Counts counts = libgather::counts();
  std::string report = "{\"taken\": " + std::to_string(counts.taken) + libgather::member("tables_out", counts.tables) +
                       libgather::member("left", counts.left) + ", \"tables\": [";
  const char *between = "";
  for (const auto &table : libgather::file_tables()) {
    report += between + libgather::described(*table);
    between = ", ";
  }
  report += "]}";
  if (bytes > 0) std::snprintf(text, bytes, "%s", report.c_str());
  return report.size();
}

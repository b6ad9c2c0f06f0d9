// SPDX-License-Identifier: MIT
#include "decide.hpp"

#include <atomic>
#include <cstring>
#include <set>
#include <vector>

#include "file_table.hpp"
#include "openvino/op/add.hpp"
#include "openvino/op/concat.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/divide.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/shape_of.hpp"
#include "openvino/op/squeeze.hpp"
#include "openvino/op/subtract.hpp"
#include "ops.hpp"

namespace libgather {

// ---- a large constant stays in its file ----------------------------------------------------------------------------

namespace {

using Value = ov::Output<ov::Node>;

std::shared_ptr<ov::op::v0::Constant> numbers(const std::vector<std::int64_t> &values) {
  return ov::op::v0::Constant::create(ov::element::i64, ov::Shape{values.size()}, values);
}

class TakeOut {
 public:
  TakeOut(const gather_op *op, const Value &indices, const Options &options) : op_(op), indices_(indices), options_(options) {}

  // The rows of `value`; null where it is not made of a constant that can stay in its file.
  Value rows(const Value &value, int depth) const {
    const std::shared_ptr<ov::Node> node = value.get_node_shared_ptr();
    if (depth == 0 || value.get_partial_shape().is_dynamic() || value.get_shape().empty()) return {};
    if (const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node)) return of_constant(*constant);
    if (const auto convert = ov::as_type_ptr<ov::op::v0::Convert>(node)) {
      const Value inner = rows(convert->input_value(0), depth - 1);
      return inner.get_node() ? std::make_shared<ov::op::v0::Convert>(inner, convert->get_destination_type())->output(0) : Value();
    }
    if (ov::is_type<ov::op::v1::Reshape>(node)) return of_reshape(value, depth);
    if (arithmetic(node)) return of_arithmetic(value, depth);
    return {};
  }

 private:
  const gather_op *op_;
  const Value indices_;
  const Options &options_;

  Value of_constant(const ov::op::v0::Constant &constant) const {
    if (static_cast<std::int64_t>(constant.get_byte_size()) < options_.take_out) return {};
    std::optional<FilePlace> place = constant_file(constant);
    if (!place) return {};
    place->memory = options_.memory;
    place->engine = options_.engine;
    return std::make_shared<TableOp>(indices_, FileTable::open(*place), op_, options_.on_bad)->output(0);
  }

  // Each row is reshaped, and none is divided or joined with another.
  Value of_reshape(const Value &value, int depth) const {
    const Value before = value.get_node()->input_value(0);
    if (before.get_partial_shape().is_dynamic() || before.get_shape().empty() || before.get_shape()[0] != value.get_shape()[0]) return {};
    const Value inner = rows(before, depth - 1);
    if (!inner.get_node()) return {};
    const ov::Shape &shape = value.get_shape();
    const auto front = std::make_shared<ov::op::v3::ShapeOf>(indices_, ov::element::i64);
    const auto back = numbers(std::vector<std::int64_t>(shape.begin() + 1, shape.end()));
    const auto pattern = std::make_shared<ov::op::v0::Concat>(ov::OutputVector{front, back}, 0);
    return std::make_shared<ov::op::v1::Reshape>(inner, pattern, false)->output(0);
  }

  // Where a row of zeros stands for an index out of range, only a product keeps it so.
  bool arithmetic(const std::shared_ptr<ov::Node> &node) const {
    const gather_on_bad policy = options_policy(options_.on_bad);
    const bool zeros = (policy == GATHER_ON_BAD_DEFAULT ? op_->on_bad : policy) == GATHER_ON_BAD_ZERO;
    return ov::is_type<ov::op::v1::Multiply>(node) ||
           (!zeros &&
            (ov::is_type<ov::op::v1::Subtract>(node) || ov::is_type<ov::op::v1::Add>(node) || ov::is_type<ov::op::v1::Divide>(node)));
  }

  Value of_arithmetic(const Value &value, int depth) const {
    const std::shared_ptr<ov::Node> node = value.get_node_shared_ptr();
    for (std::size_t side = 0; side < 2; side++) {
      const Value large = node->input_value(side), other = node->input_value(1 - side);
      if (large.get_partial_shape() != value.get_partial_shape()) continue;
      const Value beside = companion(other, value.get_shape());
      const Value inner = beside.get_node() ? rows(large, depth - 1) : Value();
      if (inner.get_node())
        return node->copy_with_new_inputs(side == 0 ? ov::OutputVector{inner, beside} : ov::OutputVector{beside, inner})->output(0);
    }
    return {};
  }

  // What stands beside the rows for `other`, which is broadcast to `shape`.
  Value companion(const Value &other, const ov::Shape &shape) const {
    if (other.get_partial_shape().is_dynamic()) return {};
    const ov::Shape own = other.get_shape();
    if (own.size() < shape.size()) return other;
    const auto first = ov::op::v0::Constant::create(ov::element::i64, ov::Shape{}, {0});
    if (own[0] == shape[0]) return std::make_shared<ov::op::v8::Gather>(other, indices_, first)->output(0);
    return std::make_shared<ov::op::v0::Squeeze>(other, first)->output(0);
  }
};

// data[indices] along axis 0, without the constant that `data` is made of: the constant itself, or what Convert, arithmetic with
// constants per row or for all rows, and a Reshape of the rows make of it, as in compressed models. Nothing (a null node) if `data` is
// made of something else, of no constant of options.take_out bytes, or of one that is not in a file.
Value take_out(const gather_op *op, const Value &data, const Value &indices, const Options &options) {
  if (options.take_out < 0) return {};
  try {
    return TakeOut(op, indices, options).rows(data, 12);
  } catch (const std::exception &) {
    return {};  // a table cannot be opened there (rows that end within a byte, no right to read): the constant stays in the model
  }
}

// ---- the choice ----------------------------------------------------------------------------------------------------

std::atomic<std::int64_t> taken, tables, left;

// Measured by bench/plugin_openvino.py; docs/measured/plugins.md has the figures. A node of an extension costs 0.7 microseconds more than
// OpenVINO's own, 4 more if the shape of the output is not known beforehand. Where the work is less than this, OpenVINO's is left.
constexpr std::int64_t least_elements = 800;        // GatherElements: of the output
constexpr std::int64_t least_tuples = 1000;         // GatherND
constexpr std::int64_t least_narrow_rows = 500;     // Gather of several elements, up to 128 bytes
constexpr std::int64_t least_wide_bytes = 1 << 20;  // Gather of longer rows: of the output

// Whether one of the values that lead to `value` comes from an operator of which `wanted` is true.
template <class Wanted>
bool comes_from(const ov::Output<ov::Node> &value, Wanted wanted) {
  std::set<ov::Node *> seen;
  std::vector<ov::Node *> next{value.get_node()};
  for (std::size_t most = 256; !next.empty() && most > 0; most--) {
    ov::Node *node = next.back();
    next.pop_back();
    if (!seen.insert(node).second) continue;
    if (wanted(*node)) return true;
    for (std::size_t i = 0; i < node->get_input_size(); i++) next.push_back(node->get_input_node_ptr(i));
  }
  return false;
}

// Whether a value is one or more lengths of a shape: those are computed when a model is loaded, by rules for OpenVINO's own operators.
bool is_shape_value(const ov::Output<ov::Node> &value) {
  const ov::Rank rank = value.get_partial_shape().rank();
  const auto shape_of = [](const ov::Node &node) { return std::strcmp(node.get_type_name(), "ShapeOf") == 0; };
  return value.get_element_type().is_integral_number() && rank.is_static() && rank.get_length() <= 1 && comes_from(value, shape_of);
}

// Its plug-ins fill the places of boxes that were not found with -1, and mark the gathers behind for it.
bool is_suppression(const ov::Node &node) {
  return std::strstr(node.get_type_name(), "Nms") || std::strstr(node.get_type_name(), "NonMaxSuppression");
}

// How many rows are moved: one per index and place before the axis.
std::int64_t row_count(const Found &found, std::int64_t count) {
  const ov::PartialShape &data = found.data().get_partial_shape();
  std::int64_t rows = count;
  const std::int64_t rank = data.rank().is_static() ? data.rank().get_length() : 0;
  const std::int64_t indices_rank = found.indices().get_partial_shape().rank().get_length();
  const std::int64_t axis = found.axis < 0 ? found.axis + rank : found.axis;
  const std::int64_t batch = found.batch_dims < 0 ? found.batch_dims + indices_rank : found.batch_dims;
  for (std::int64_t i = batch; i < axis && i < rank; i++) rows *= data[i].is_static() ? data[i].get_length() : 1;
  return rows;
}

// Whether the library's node takes less time than OpenVINO's.
bool worthwhile(const Found &found, const ov::Output<ov::Node> &node) {
  const ov::PartialShape &indices = found.indices().get_partial_shape(), &out = node.get_partial_shape();
  if (indices.is_dynamic() || out.is_dynamic() || node.get_element_type().is_dynamic()) return false;
  const auto elements = static_cast<std::int64_t>(ov::shape_size(out.to_shape()));
  const auto count = static_cast<std::int64_t>(ov::shape_size(indices.to_shape()));
  if (elements == 0 || count == 0) return true;  // OpenVINO's own divides by zero
  if (found.op->family == GATHER_FAMILY_ELEMENTS) return elements >= least_elements;
  if (found.op->family == GATHER_FAMILY_ND) return count / static_cast<std::int64_t>(indices.to_shape().back()) >= least_tuples;
  const std::int64_t rows = row_count(found, count);
  const std::int64_t row_bytes = elements / rows * static_cast<std::int64_t>(node.get_element_type().bitwidth()) / 8;
  if (elements == rows) return false;  // single elements: OpenVINO has a kernel for them
  return row_bytes <= 128 ? rows >= least_narrow_rows : rows * row_bytes >= least_wide_bytes;
}

bool first_axis(const Found &found) {
  const ov::Rank data = found.data().get_partial_shape().rank(), indices = found.indices().get_partial_shape().rank();
  const bool no_batch =
      found.batch_dims == 0 || (found.batch_dims < 0 && indices.is_static() && found.batch_dims + indices.get_length() == 0);
  return found.op->family == GATHER_FAMILY_GATHER && no_batch && data.is_static() && (found.axis == 0 || found.axis == -data.get_length());
}

ov::Output<ov::Node> choose(const Found &found, const Options &options) {
  if (comes_from(found.indices(), is_suppression)) return {};
  if (first_axis(found)) {
    const ov::Output<ov::Node> rows = take_out(found.op, found.data(), found.indices(), options);
    if (rows.get_node()) {
      tables++;
      return rows;
    }
  }
  if (is_shape_value(found.data())) return {};
  const auto node = std::make_shared<GatherOp>(found.inputs, found.op, found.axis, found.batch_dims, options.on_bad);
  return options.force || worthwhile(found, node) ? node->output(0) : ov::Output<ov::Node>();
}

}  // namespace

std::optional<std::int64_t> constant_axis(ov::Output<ov::Node> value) {
  if (const auto convert = ov::as_type_ptr<ov::op::v0::Convert>(value.get_node_shared_ptr())) value = convert->input_value(0);
  const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(value.get_node_shared_ptr());
  if (!constant || ov::shape_size(constant->get_shape()) != 1 || !constant->get_element_type().is_integral_number()) return std::nullopt;
  return constant->cast_vector<std::int64_t>()[0];
}

ov::Output<ov::Node> replacement(const Found &found, const Options &options) {
  const ov::Output<ov::Node> value = choose(found, options);
  (value.get_node() ? taken : left)++;
  return value;
}

Counts counts() { return {taken, tables, left}; }

}  // namespace libgather

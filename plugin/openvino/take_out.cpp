// SPDX-License-Identifier: MIT
#include "take_out.hpp"

#include "constant_file.hpp"
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
#include "table_op.hpp"

namespace libgather {
namespace {

using Value = ov::Output<ov::Node>;

std::shared_ptr<ov::op::v0::Constant> numbers(const std::vector<std::int64_t> &values) {
  return ov::op::v0::Constant::create(ov::element::i64, ov::Shape{values.size()}, values);
}

class TakeOut {
 public:
  TakeOut(const gather_op *op, const Value &indices, const Options &options)
      : op_(op), indices_(indices), options_(options) {}

  // The rows of `value`; null where it is not made of a constant that can stay in its file.
  Value rows(const Value &value, int depth) const {
    const std::shared_ptr<ov::Node> node = value.get_node_shared_ptr();
    if (depth == 0 || value.get_partial_shape().is_dynamic() || value.get_shape().empty()) return {};
    if (const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node)) return of_constant(*constant);
    if (const auto convert = ov::as_type_ptr<ov::op::v0::Convert>(node)) {
      const Value inner = rows(convert->input_value(0), depth - 1);
      return inner.get_node() ? std::make_shared<ov::op::v0::Convert>(inner, convert->get_destination_type())->output(0)
                              : Value();
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
    if (before.get_partial_shape().is_dynamic() || before.get_shape().empty() ||
        before.get_shape()[0] != value.get_shape()[0])
      return {};
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
           (!zeros && (ov::is_type<ov::op::v1::Subtract>(node) || ov::is_type<ov::op::v1::Add>(node) ||
                       ov::is_type<ov::op::v1::Divide>(node)));
  }

  Value of_arithmetic(const Value &value, int depth) const {
    const std::shared_ptr<ov::Node> node = value.get_node_shared_ptr();
    for (std::size_t side = 0; side < 2; side++) {
      const Value large = node->input_value(side), other = node->input_value(1 - side);
      if (large.get_partial_shape() != value.get_partial_shape()) continue;
      const Value beside = companion(other, value.get_shape());
      const Value inner = beside.get_node() ? rows(large, depth - 1) : Value();
      if (inner.get_node())
        return node->copy_with_new_inputs(side == 0 ? ov::OutputVector{inner, beside} : ov::OutputVector{beside, inner})
            ->output(0);
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

}  // namespace

ov::Output<ov::Node> take_out(const gather_op *op, const Value &data, const Value &indices, const Options &options) {
  if (options.take_out < 0) return {};
  try {
    return TakeOut(op, indices, options).rows(data, 12);
  } catch (const std::exception &) {
    return {};  // a table cannot be opened there (rows that end within a byte, no right to read): the constant stays in the model
  }
}

}  // namespace libgather

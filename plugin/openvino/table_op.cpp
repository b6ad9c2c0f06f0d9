// SPDX-License-Identifier: MIT
#include "table_op.hpp"

#include <stdexcept>

#include "openvino/core/attribute_visitor.hpp"
#include "options.hpp"
#include "tensors.hpp"
#include "threads.hpp"

namespace libgather {

TableOp::TableOp(const ov::Output<ov::Node> &indices, const FilePlace &place, const gather_op *op,
                 const std::string &on_bad)
    : Op({indices}), place_(place), rules_(op->rules), on_bad_(on_bad) {
  constructor_validate_and_infer_types();
}

TableOp::TableOp(const ov::Output<ov::Node> &indices, std::shared_ptr<FileTable> table, const gather_op *op,
                 const std::string &on_bad)
    : TableOp(indices, table->place(), op, on_bad) {
  std::call_once(opened_->once, [&] { opened_->table = std::move(table); });
}

const gather_op *TableOp::rules() const {
  const gather_op *op = gather_op_find("Gather", rules_.c_str());
  if (!op)
    throw std::runtime_error("libgather: node '" + get_friendly_name() + "': there are no rules '" + rules_ + "'");
  return op;
}

void TableOp::validate_and_infer_types() {
  Shapes shapes;
  const gather_shape table = shapes.given(ov::PartialShape(place_.shape));
  const gather_shape indices = shapes.given(get_input_partial_shape(0));
  gather_options options = GATHER_OPTIONS_INIT;
  gather_shape out;
  gather_error error;
  require(gather_infer_shape(rules(), &table, &indices, &options, &out, &error), error, get_friendly_name());
  set_output_type(0, place_.type, shapes.inferred(out));
}

std::shared_ptr<ov::Node> TableOp::clone_with_new_inputs(const ov::OutputVector &inputs) const {
  check_new_args_count(this, inputs);
  auto clone = std::make_shared<TableOp>(inputs[0], place_, rules(), on_bad_);
  clone->opened_ = opened_;
  return clone;
}

bool TableOp::visit_attributes(ov::AttributeVisitor &visitor) {
  visitor.on_attribute("path", place_.path);
  visitor.on_attribute("offset", place_.offset);
  visitor.on_attribute("element_type", place_.type);
  visitor.on_attribute("shape", place_.shape);
  visitor.on_attribute("memory", place_.memory);
  visitor.on_attribute("engine", place_.engine);
  visitor.on_attribute("rules", rules_);
  visitor.on_attribute("on_bad", on_bad_);
  return true;
}

bool TableOp::has_evaluate() const { return true; }

bool TableOp::constant_fold(ov::OutputVector &, const ov::OutputVector &) { return false; }

bool TableOp::evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const {
  std::call_once(opened_->once, [this] { opened_->table = FileTable::open(place_); });
  ov::Shape shape = inputs[0].get_shape();
  shape.insert(shape.end(), place_.shape.begin() + 1, place_.shape.end());
  if (outputs[0].get_shape() != shape) outputs[0].set_shape(shape);
  const gather_tensor indices = tensor_of(inputs[0]), out = tensor_of(outputs[0]);
  const gather_executor executor = host_executor();
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  options.op = rules();
  options.on_bad = options_policy(on_bad_);
  options.executor = &executor;
  gather_error error;
  const gather_status status = gather_table_take(opened_->table->table(), &indices, &out, &options, &error);
  require_run(status, error, get_friendly_name(), outputs[0]);
  return true;
}

}  // namespace libgather

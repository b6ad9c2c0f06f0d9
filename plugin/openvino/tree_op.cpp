// SPDX-License-Identifier: MIT
#include "tree_op.hpp"

#include "gather/tree.h"
#include "openvino/core/attribute_visitor.hpp"
#include "options.hpp"
#include "tensors.hpp"
#include "threads.hpp"

namespace libgather {

TreeOp::TreeOp(const ov::OutputVector &inputs, const std::string &on_bad) : Op(inputs), on_bad_(on_bad) {
  constructor_validate_and_infer_types();
}

void TreeOp::validate_and_infer_types() {
  Shapes shapes;
  gather_shape given[4];
  for (std::size_t i = 0; i < 4; i++) given[i] = shapes.given(get_input_partial_shape(i));
  gather_shape out;
  gather_error error;
  require(gather_tree_infer_shape(&given[0], &given[1], &given[2], &given[3], &out, &error), error,
          get_friendly_name());
  set_output_type(0, get_input_element_type(0), shapes.inferred(out));
}

std::shared_ptr<ov::Node> TreeOp::clone_with_new_inputs(const ov::OutputVector &inputs) const {
  check_new_args_count(this, inputs);
  return std::make_shared<TreeOp>(inputs, on_bad_);
}

bool TreeOp::visit_attributes(ov::AttributeVisitor &visitor) {
  visitor.on_attribute("on_bad", on_bad_);
  return true;
}

bool TreeOp::has_evaluate() const { return true; }

bool TreeOp::evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const {
  if (outputs[0].get_shape() != inputs[0].get_shape()) outputs[0].set_shape(inputs[0].get_shape());
  gather_tensor given[4];
  for (std::size_t i = 0; i < 4; i++) given[i] = tensor_of(inputs[i]);
  const gather_tensor out = tensor_of(outputs[0]);
  const gather_executor executor = host_executor();
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = &executor;
  options.on_bad = options_policy(on_bad_);
  gather_error error;
  const gather_status status = gather_tree(&given[0], &given[1], &given[2], &given[3], &out, &options, &error);
  require_run(status, error, get_friendly_name(), outputs[0]);
  return true;
}

}  // namespace libgather

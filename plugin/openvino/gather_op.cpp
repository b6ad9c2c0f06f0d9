// SPDX-License-Identifier: MIT
#include "gather_op.hpp"

#include <stdexcept>

#include "constant_file.hpp"
#include "openvino/core/attribute_visitor.hpp"
#include "options.hpp"
#include "strings.hpp"
#include "tensors.hpp"
#include "threads.hpp"

namespace libgather {
namespace {

struct Call {
  const gather_plan *plan;
  gather_run run;
};

gather_status run_call(void *argument, const gather_executor *executor, gather_error *error) {
  auto *call = static_cast<Call *>(argument);
  call->run.executor = executor;
  return gather_plan_run(call->plan, &call->run, error);
}

// A mapped file that is cut short is an error.
gather_status run_plan(const gather_plan *plan, const gather_run &run, const gather_mapped *mapped,
                       gather_error &error) {
  if (!mapped) return gather_plan_run(plan, &run, &error);
  Call call{plan, run};
  return gather_mapped_call(mapped, 1, run.executor, run_call, &call, &error);
}

}  // namespace

GatherOp::GatherOp(const ov::OutputVector &inputs, const gather_op *op, std::int64_t axis, std::int64_t batch_dims,
                   const std::string &on_bad)
    : Op(inputs), operator_(op->name), rules_(op->rules), on_bad_(on_bad), axis_(axis), batch_dims_(batch_dims) {
  constructor_validate_and_infer_types();
}

// The row of the operator table and the plans, after the attributes are known.
void GatherOp::resolve() {
  if (op_ && plans_) return;
  op_ = gather_op_find(operator_.c_str(), rules_.c_str());
  if (!op_ || gather_family_get(op_->family)->function || op_->family == GATHER_FAMILY_STABLEHLO)
    throw std::runtime_error("libgather: node '" + get_friendly_name() + "': there is no operator '" + operator_ +
                             "' with rules '" + rules_ + "'");
  plans_ = std::make_shared<Plans>(op_, options());
}

gather_options GatherOp::options() const {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = op_->axis_source == GATHER_AXIS_SOURCE_NONE ? 0 : axis_;
  options.batch_dims = op_->batch_dims ? batch_dims_ : 0;
  options.on_bad = options_policy(on_bad_);
  return options;
}

void GatherOp::validate_and_infer_types() {
  resolve();
  const ov::element::Type type = get_input_element_type(0), index_type = get_input_element_type(1);
  if (!index_type.is_dynamic() && !index_type.is_integral_number())
    throw std::runtime_error("libgather: node '" + get_friendly_name() + "': indices are " +
                             index_type.get_type_name() + ", not integers");
  Shapes shapes;
  const gather_shape data = shapes.given(get_input_partial_shape(0));
  const gather_shape indices = shapes.given(get_input_partial_shape(1));
  const gather_options attributes = options();
  gather_shape out;
  gather_error error;
  require(gather_infer_shape(op_, &data, &indices, &attributes, &out, &error), error, get_friendly_name());
  set_output_type(0, type, shapes.inferred(out));
}

std::shared_ptr<ov::Node> GatherOp::clone_with_new_inputs(const ov::OutputVector &inputs) const {
  check_new_args_count(this, inputs);
  auto clone = std::make_shared<GatherOp>();
  clone->operator_ = operator_;
  clone->rules_ = rules_;
  clone->on_bad_ = on_bad_;
  clone->axis_ = axis_;
  clone->batch_dims_ = batch_dims_;
  clone->op_ = op_;
  clone->plans_ = plans_;
  clone->set_friendly_name(get_friendly_name());
  clone->set_arguments(inputs);
  clone->constructor_validate_and_infer_types();
  return clone;
}

bool GatherOp::visit_attributes(ov::AttributeVisitor &visitor) {
  visitor.on_attribute("operator", operator_);
  visitor.on_attribute("rules", rules_);
  visitor.on_attribute("axis", axis_);
  visitor.on_attribute("batch_dims", batch_dims_);
  visitor.on_attribute("on_bad", on_bad_);
  return true;
}

// The mapped file that the data is in; nullptr if it is in none.
const gather_mapped *GatherOp::mapped_data(const ov::Tensor &data) const {
  std::call_once(mapped_->once, [this] {
    const auto *constant = dynamic_cast<const ov::op::v0::Constant *>(get_input_node_ptr(0));
    const std::optional<FilePlace> place = constant ? constant_file(*constant) : std::nullopt;
    if (!place) return;
    mapped_->path = place->path;
    mapped_->range = {constant->get_data_ptr(), static_cast<std::int64_t>(constant->get_byte_size()),
                      mapped_->path.c_str(), place->offset};
  });
  return mapped_->range.memory && mapped_->range.memory == data.data() ? &mapped_->range : nullptr;
}

bool GatherOp::has_evaluate() const { return true; }

bool GatherOp::evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const {
  const ov::Tensor &data = inputs[0], &indices = inputs[1];
  if (data.get_element_type() == ov::element::string) {
    strings_gather(op_, options(), inputs, outputs[0], get_friendly_name());
    return true;
  }
  std::unique_ptr<Plans::Entry> unkept;
  const Plans::Entry &entry = plans_->find(data, indices, get_friendly_name(), unkept);
  if (outputs[0].get_shape() != entry.out) outputs[0].set_shape(entry.out);
  const gather_executor executor = host_executor();
  gather_run run = GATHER_RUN_INIT;
  run.data = data.get_size() == 0 ? nullptr : data.data();
  run.indices = indices.get_size() == 0 ? nullptr : indices.data();
  run.out = outputs[0].get_size() == 0 ? nullptr : outputs[0].data();
  run.executor = &executor;
  run.fresh_output = true;  // a request that fails has no outputs
  gather_error error;
  const gather_status status =
      run_plan(entry.plan.get(), run, data.get_size() == 0 ? nullptr : mapped_data(data), error);
  require_run(status, error, get_friendly_name(), outputs[0]);
  return true;
}

}  // namespace libgather

// SPDX-License-Identifier: MIT
#include "ops.hpp"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <vector>

#include "gather/gather.h"
#include "gather/tree.h"
#include "host.hpp"
#include "openvino/core/attribute_visitor.hpp"
#include "options.hpp"

namespace libgather {

// ---- plans, one per combination of shapes: a small gather spends more time on its decisions than on its rows -------

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
  const Entry &find(const ov::Tensor &data, const ov::Tensor &indices, const std::string &node, std::unique_ptr<Entry> &unkept);

 private:
  static constexpr int most_ = 16;  // beyond that, a search would cost as much as a plan
  const gather_op *op_;
  gather_options options_;
  std::atomic<Entry *> first_{nullptr};
  std::atomic<int> count_{0};
};

namespace {

gather_tensor described(const ov::Tensor &tensor) {
  gather_tensor view = tensor_of(tensor);
  view.data = nullptr;
  return view;
}

bool fits(const Plans::Entry &entry, const ov::Tensor &data, const ov::Tensor &indices) {
  return entry.indices == indices.get_shape() && entry.data == data.get_shape() && entry.type == data.get_element_type() &&
         entry.index_type == indices.get_element_type();
}

std::unique_ptr<Plans::Entry> make(const gather_op *op, const gather_options &options, const ov::Tensor &data, const ov::Tensor &indices,
                                   const std::string &node) {
  const gather_tensor x = described(data), ids = described(indices);
  gather_error error;
  gather_plan *plan = nullptr;
  require(gather_plan_create(op, &x, &ids, nullptr, &options, &plan, &error), error, node);
  std::int64_t shape[GATHER_MAX_RANK];
  const std::int32_t rank = gather_plan_shape(plan, shape);
  auto entry = std::make_unique<Plans::Entry>();
  entry->type = data.get_element_type();
  entry->index_type = indices.get_element_type();
  entry->data = data.get_shape();
  entry->indices = indices.get_shape();
  entry->out = ov::Shape(shape, shape + rank);
  entry->plan.reset(plan);
  return entry;
}

void free_list(Plans::Entry *entry) {
  while (entry) {
    Plans::Entry *next = entry->next;
    delete entry;
    entry = next;
  }
}

}  // namespace

Plans::~Plans() { free_list(first_.load()); }

const Plans::Entry &Plans::find(const ov::Tensor &data, const ov::Tensor &indices, const std::string &node,
                                std::unique_ptr<Entry> &unkept) {
  for (const Entry *entry = first_.load(std::memory_order_acquire); entry; entry = entry->next)
    if (fits(*entry, data, indices)) return *entry;
  std::unique_ptr<Entry> made = make(op_, options_, data, indices, node);
  if (count_.fetch_add(1) >= most_) {
    count_.fetch_sub(1);
    unkept = std::move(made);
    return *unkept;
  }
  Entry *entry = made.release();
  entry->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *entry;
}

// ---- tensors of std::string ----------------------------------------------------------------------------------------

namespace {

// out = the gather of inputs[0] by inputs[1]: elements that are more than their bytes are assigned and not moved. Throws with the name of
// the node.
void strings_gather(const gather_op *op, const gather_options &options, const ov::TensorVector &inputs, ov::Tensor &out,
                    const std::string &node) {
  gather_tensor data = tensor_of(inputs[0]);
  const gather_tensor indices = tensor_of(inputs[1]);
  const auto *texts = static_cast<const std::string *>(data.data);
  std::vector<gather_string> views(inputs[0].get_size());
  for (std::size_t i = 0; i < views.size(); i++) views[i] = {texts[i].data(), texts[i].size()};
  data.data = views.data();

  gather_error error;
  std::int64_t shape[GATHER_MAX_RANK];
  std::int32_t rank = 0;
  require(gather_output_shape(op, &data, &indices, &options, shape, &rank, &error), error, node);
  const ov::Shape expected(shape, shape + rank);
  if (out.get_shape() != expected) out.set_shape(expected);
  std::vector<gather_string> taken(out.get_size());
  gather_tensor result = {};
  result.data = taken.data();
  result.type = GATHER_TYPE_STRING;
  result.rank = rank;
  result.shape = shape;
  require(gather_apply(op, &data, &indices, &result, &options, &error), error, node);
  auto *target = taken.empty() ? nullptr : out.data<std::string>();
  for (std::size_t i = 0; i < taken.size(); i++) target[i].assign(taken[i].text ? taken[i].text : "", taken[i].bytes);
}

// ---- Gather, GatherElements, GatherND ------------------------------------------------------------------------------

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
gather_status run_plan(const gather_plan *plan, const gather_run &run, const gather_mapped *mapped, gather_error &error) {
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
    throw std::runtime_error("libgather: node '" + get_friendly_name() + "': no such operator '" + operator_ + "' with rules '" +
                             rules_ + "'");
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
    throw std::runtime_error("libgather: node '" + get_friendly_name() + "': indices are " + index_type.get_type_name() + ", not integers");
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
    mapped_->range = {constant->get_data_ptr(), static_cast<std::int64_t>(constant->get_byte_size()), mapped_->path.c_str(), place->offset};
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
  const gather_status status = run_plan(entry.plan.get(), run, data.get_size() == 0 ? nullptr : mapped_data(data), error);
  require_run(status, error, get_friendly_name(), outputs[0]);
  return true;
}

// ---- GatherTree ----------------------------------------------------------------------------------------------------

TreeOp::TreeOp(const ov::OutputVector &inputs, const std::string &on_bad) : Op(inputs), on_bad_(on_bad) {
  constructor_validate_and_infer_types();
}

void TreeOp::validate_and_infer_types() {
  Shapes shapes;
  gather_shape given[4];
  for (std::size_t i = 0; i < 4; i++) given[i] = shapes.given(get_input_partial_shape(i));
  gather_shape out;
  gather_error error;
  require(gather_tree_infer_shape(&given[0], &given[1], &given[2], &given[3], &out, &error), error, get_friendly_name());
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

// ---- rows of a file ------------------------------------------------------------------------------------------------

TableOp::TableOp(const ov::Output<ov::Node> &indices, const FilePlace &place, const gather_op *op, const std::string &on_bad)
    : Op({indices}), place_(place), rules_(op->rules), on_bad_(on_bad) {
  constructor_validate_and_infer_types();
}

TableOp::TableOp(const ov::Output<ov::Node> &indices, std::shared_ptr<FileTable> table, const gather_op *op, const std::string &on_bad)
    : TableOp(indices, table->place(), op, on_bad) {
  std::call_once(opened_->once, [&] { opened_->table = std::move(table); });
}

const gather_op *TableOp::rules() const {
  const gather_op *op = gather_op_find("Gather", rules_.c_str());
  if (!op) throw std::runtime_error("libgather: node '" + get_friendly_name() + "': no such rules '" + rules_ + "'");
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

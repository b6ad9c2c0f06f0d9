// SPDX-License-Identifier: MIT
//
// Gather, GatherElements and GatherND of any version as an operator of OpenVINO.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "gather/table.h"
#include "openvino/op/op.hpp"
#include "plans.hpp"

namespace libgather {

// Inputs: data, indices; a third one, the axis of a node of OpenVINO, is ignored: it is an attribute here, but the reader of models
// demands as many inputs as the file has. The attributes are written into models, so they keep their names.
class GatherOp : public ov::op::Op {
 public:
  OPENVINO_OP("LibgatherGather", "libgather")

  GatherOp() = default;
  // op: a row of the operator table that is not GatherTree; axis: ignored by GatherND; on_bad: as Options::on_bad.
  GatherOp(const ov::OutputVector &inputs, const gather_op *op, std::int64_t axis, std::int64_t batch_dims,
           const std::string &on_bad);

  void validate_and_infer_types() override;
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override;
  bool visit_attributes(ov::AttributeVisitor &visitor) override;
  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override;
  bool has_evaluate() const override;

 private:
  std::string operator_, rules_, on_bad_ = "rules";
  std::int64_t axis_ = 0, batch_dims_ = 0;
  const gather_op *op_ = nullptr;  // of operator_ and rules_
  std::shared_ptr<Plans> plans_;   // shared with the clones that OpenVINO makes of a node

  // The file that OpenVINO has mapped the data from, if it is a constant; looked up by the first run.
  struct Mapped {
    std::once_flag once;
    std::string path;
    gather_mapped range{};  // memory is nullptr: the data is in no mapped file
  };
  const std::shared_ptr<Mapped> mapped_ = std::make_shared<Mapped>();

  void resolve();
  const gather_mapped *mapped_data(const ov::Tensor &data) const;
  gather_options options() const;
};

}  // namespace libgather

// SPDX-License-Identifier: MIT
//
// GatherTree as an operator of OpenVINO. OpenVINO's own does not check the parents.
#pragma once

#include <memory>
#include <string>

#include "openvino/op/op.hpp"

namespace libgather {

// Inputs: step_ids, parent_ids, max_seq_len, end_token.
class TreeOp : public ov::op::Op {
 public:
  OPENVINO_OP("LibgatherGatherTree", "libgather")

  TreeOp() = default;
  TreeOp(const ov::OutputVector &inputs, const std::string &on_bad);

  void validate_and_infer_types() override;
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override;
  bool visit_attributes(ov::AttributeVisitor &visitor) override;
  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override;
  bool has_evaluate() const override;

 private:
  std::string on_bad_ = "rules";
};

}  // namespace libgather

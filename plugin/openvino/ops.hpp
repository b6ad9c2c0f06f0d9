// SPDX-License-Identifier: MIT
//
// The operators that this extension adds to OpenVINO. Their attributes are written into models, so they keep their names.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "file_table.hpp"
#include "gather/gather.h"
#include "gather/table.h"
#include "openvino/op/op.hpp"

namespace libgather {

class Plans;

// ---- Gather, GatherElements and GatherND of any version ------------------------------------------------------------

// Inputs: data, indices; a third one, the axis of a node of OpenVINO, is ignored: it is an attribute here, but the reader of models
// demands as many inputs as the file has.
class GatherOp : public ov::op::Op {
 public:
  OPENVINO_OP("LibgatherGather", "libgather")

  GatherOp() = default;
  // op: a row of the operator table that is not GatherTree; axis: ignored by GatherND; on_bad: as Options::on_bad.
  GatherOp(const ov::OutputVector &inputs, const gather_op *op, std::int64_t axis, std::int64_t batch_dims, const std::string &on_bad);

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

// ---- GatherTree; OpenVINO's own does not check the parents ---------------------------------------------------------

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

// ---- rows of a constant that stays in its file: compiling the model does not load it -------------------------------

// Input: indices, of rows along axis 0. A saved model refers to the file by its absolute path.
class TableOp : public ov::op::Op {
 public:
  OPENVINO_OP("LibgatherTable", "libgather")

  TableOp() = default;
  TableOp(const ov::Output<ov::Node> &indices, const FilePlace &place, const gather_op *op, const std::string &on_bad);
  // The same with the table already open, so that nobody can replace the file before the first request.
  TableOp(const ov::Output<ov::Node> &indices, std::shared_ptr<FileTable> table, const gather_op *op, const std::string &on_bad);

  void validate_and_infer_types() override;
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override;
  bool visit_attributes(ov::AttributeVisitor &visitor) override;
  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override;
  bool has_evaluate() const override;
  // Rows stay in their file even where the indices are constant.
  bool constant_fold(ov::OutputVector &outputs, const ov::OutputVector &inputs) override;

 private:
  FilePlace place_;
  std::string rules_, on_bad_ = "rules";
  struct Opened {
    std::once_flag once;
    std::shared_ptr<FileTable> table;
  };
  std::shared_ptr<Opened> opened_ = std::make_shared<Opened>();  // shared with clones

  const gather_op *rules() const;
};

}  // namespace libgather

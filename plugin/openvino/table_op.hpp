// SPDX-License-Identifier: MIT
//
// Rows of a constant that is not in the model: it stays in its file, so that compiling the model does not load it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "file_table.hpp"
#include "gather/gather.h"
#include "openvino/op/op.hpp"

namespace libgather {

// Input: indices, of rows along axis 0. The attributes are written into models, so they keep their names; a saved model refers to
// the file by its absolute path.
class TableOp : public ov::op::Op {
 public:
  OPENVINO_OP("LibgatherTable", "libgather")

  TableOp() = default;
  TableOp(const ov::Output<ov::Node> &indices, const FilePlace &place, const gather_op *op, const std::string &on_bad);
  // The same with the table already open, so that nobody can replace the file before the first request.
  TableOp(const ov::Output<ov::Node> &indices, std::shared_ptr<FileTable> table, const gather_op *op,
          const std::string &on_bad);

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

// SPDX-License-Identifier: MIT
//
// A constant that stays in its file: rows are read when a request asks for them. OpenVINO maps the files of a model (.bin, the external
// data of ONNX), so the address of a constant tells the file and the offset, for every front end and without a look at the model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file_table.hpp"
#include "gather/table.h"
#include "openvino/op/constant.hpp"
#include "openvino/runtime/tensor.hpp"

namespace libgather {

// ---- tables --------------------------------------------------------------------------------------------------------

// Where the elements lie, and how they are read.
struct FilePlace {
  std::string path;
  std::int64_t offset = 0;
  ov::element::Type type;
  ov::Shape shape;
  std::int64_t memory = 0;  // as gather_table_options.memory_bytes
  std::string engine = "auto";
};

// An open table. Nodes of the same place share one, and so its memory limit.
class FileTable {
 public:
  // Opens it, or finds the open one. Throws std::runtime_error.
  static std::shared_ptr<FileTable> open(const FilePlace &place);
  ~FileTable();
  FileTable(const FileTable &) = delete;
  FileTable &operator=(const FileTable &) = delete;

  gather_table *table() const { return table_; }
  const FilePlace &place() const { return place_; }

 private:
  explicit FileTable(const FilePlace &place);
  FilePlace place_;
  gather_table *table_ = nullptr;
};

// All open tables, for reports.
std::vector<std::shared_ptr<FileTable>> file_tables();

// ---- the file behind a constant ------------------------------------------------------------------------------------

// Where the elements lie: path, offset, type and shape. Nothing if they are not mapped from a file, or if the file is another one by
// now.
std::optional<FilePlace> constant_file(const ov::op::v0::Constant &constant);

}  // namespace libgather

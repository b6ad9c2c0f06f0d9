// SPDX-License-Identifier: MIT
//
// The file behind a constant. OpenVINO maps the files of a model (.bin, the external data of ONNX), so the address of a constant tells
// the file and the offset, for every front end and without a look at the model.
#pragma once

#include <optional>

#include "file_table.hpp"
#include "openvino/op/constant.hpp"

namespace libgather {

// Where the elements lie: path, offset, type and shape. Nothing if they are not mapped from a file, or if the file is another one by
// now.
std::optional<FilePlace> constant_file(const ov::op::v0::Constant &constant);

}  // namespace libgather

// SPDX-License-Identifier: MIT
//
// Tensors of std::string: their elements are more than their bytes, so they are assigned and not moved.
#pragma once

#include <string>

#include "gather/gather.h"
#include "openvino/runtime/tensor.hpp"

namespace libgather {

// out = the gather of inputs[0] by inputs[1]. Throws with the name of the node.
void strings_gather(const gather_op *op, const gather_options &options, const ov::TensorVector &inputs, ov::Tensor &out,
                    const std::string &node);

}  // namespace libgather

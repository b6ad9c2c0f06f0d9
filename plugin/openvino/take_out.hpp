// SPDX-License-Identifier: MIT
//
// Leaves the large constant that a Gather takes rows of in its file.
#pragma once

#include "gather/gather.h"
#include "openvino/core/node.hpp"
#include "options.hpp"

namespace libgather {

// data[indices] along axis 0, without the constant that `data` is made of: the constant itself, or what Convert, arithmetic with
// constants per row or for all rows, and a Reshape of the rows make of it, as in compressed models. Nothing (a null node) if `data` is
// made of something else, of no constant of options.take_out bytes, or of one that is not in a file.
ov::Output<ov::Node> take_out(const gather_op *op, const ov::Output<ov::Node> &data,
                              const ov::Output<ov::Node> &indices, const Options &options);

}  // namespace libgather

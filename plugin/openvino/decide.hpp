// SPDX-License-Identifier: MIT
//
// Which nodes the extension takes over, and which it leaves to OpenVINO, whose own are faster for little work.
#pragma once

#include <optional>
#include <string>

#include "gather/gather.h"
#include "openvino/core/node.hpp"
#include "options.hpp"

namespace libgather {

// One gather of a model, before any node is made for it.
struct Found {
  const gather_op *op;
  ov::OutputVector inputs;  // data, indices, and of some models the axis
  std::int64_t axis, batch_dims;

  const ov::Output<ov::Node> &data() const { return inputs[0]; }
  const ov::Output<ov::Node> &indices() const { return inputs[1]; }
};

// The number of an axis input that is a constant, perhaps converted; nothing else is known when a model is read.
std::optional<std::int64_t> constant_axis(ov::Output<ov::Node> value);

// The node to use instead; null if OpenVINO's own is to be made.
ov::Output<ov::Node> replacement(const Found &found, const Options &options);

// How many nodes were taken over, how many of them with a table in its file, and how many left, since the library was loaded.
struct Counts {
  std::int64_t taken, tables, left;
};
Counts counts();

}  // namespace libgather

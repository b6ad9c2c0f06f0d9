// SPDX-License-Identifier: MIT
#include "strings.hpp"

#include <vector>

#include "tensors.hpp"

namespace libgather {

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

}  // namespace libgather

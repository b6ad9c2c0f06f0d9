/* SPDX-License-Identifier: MIT
 *
 * torch_tree.c: libgather::gather_tree, the last step of a beam search.
 */
#include "gather/tree.h"
#include "torch_operator.h"

/* gather_tree(step_ids, parent_ids, max_seq_len, end_token, mode, negative, fill_value) */
gather_status gather_torch_tree(const gather_torch_call *call, void **out, gather_error *error) {
  static const char *const names[] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};
  const gather_torch_argument *a = call->arguments;
  gather_torch_view inputs[4], fill, output;
  gather_executor executor;
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = gather_torch_executor(&executor);
  options.fresh_output = true;
  gather_status status = GATHER_OK;
  for (int i = 0; i < 4 && status == GATHER_OK; i++) status = gather_torch_describe(a[i].tensor, names[i], &inputs[i], error);
  if (status == GATHER_OK) status = gather_torch_policy(a[4].text, a[5].truth, a[6].tensor, &inputs[0], &fill, &options, error);
  if (status == GATHER_OK)
    status = gather_torch_create(inputs[0].dtype, inputs[0].tensor.shape, inputs[0].tensor.rank, out, &output, error);
  if (status != GATHER_OK) return status;
  return gather_tree(&inputs[0].tensor, &inputs[1].tensor, &inputs[2].tensor, &inputs[3].tensor, &output.tensor, &options, error);
}

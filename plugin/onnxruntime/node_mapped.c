/* SPDX-License-Identifier: MIT
 *
 * node_mapped.c: inputs of a node that the host has mapped from a file and that no table reads: small ones, and those of operators that
 * tables do not serve. The node reads them under the library's guard, so that a file that is cut short is an error and no SIGBUS.
 */
#include <stdlib.h>

#include "ep_external.h"
#include "ep_text.h"
#include "node_internal.h"
#include "stay.h"

enum { INPUTS = 4, PAGE = 4096 };

struct ort_mapped {
  int32_t count;
  gather_mapped ranges[INPUTS];
  char *paths[INPUTS]; /* those of the ranges */
};

/* The bytes of an input that is constant; 0 if it is none, or of strings. */
static int64_t constant_bytes(const ort_host *host, const OrtKernelInfo *info, size_t input, ort_tensor *tensor) {
  if (!gather_ort_constant(host, info, input, tensor) || !tensor->tensor.data) return 0;
  return gather_tensor_check(&tensor->tensor, NULL) == GATHER_OK ? gather_tensor_bytes(&tensor->tensor) : 0;
}

static void add_range(struct ort_mapped *found, const ort_tensor *tensor, int64_t bytes, const ort_mapping *mapping) {
  char *path = gather_ort_text_copy(mapping->path);
  if (!path) return;
  found->paths[found->count] = path;
  found->ranges[found->count++] = (gather_mapped){tensor->tensor.data, bytes, path, mapping->offset};
}

void gather_ort_node_guard(ort_node *node, const OrtKernelInfo *info) {
  struct ort_mapped *found = calloc(1, sizeof *found);
  ort_tensor tensor;
  ort_mapping mapping;
  for (size_t input = 0; found && input < (size_t)node->op->inputs && input < INPUTS; input++) {
    const int64_t bytes = constant_bytes(&node->host, info, input, &tensor);
    /* Models have many constant indices of a few bytes, for each of which the list of mappings would be read. */
    if (bytes < (input == 0 ? 1 : PAGE) || !gather_ort_mapping_at(tensor.tensor.data, &mapping)) continue;
    add_range(found, &tensor, bytes, &mapping);
  }
  if (!found || !found->count) {
    free(found);
    return;
  }
  gather_ort_stay(); /* the library's handler for SIGBUS outlives the node */
  node->mapped = found;
}

void gather_ort_mapped_free(struct ort_mapped *mapped) {
  for (int32_t i = 0; mapped && i < mapped->count; i++) free(mapped->paths[i]);
  free(mapped);
}

gather_status gather_ort_guarded(const ort_node *node, const gather_executor *executor, gather_mapped_body body, void *argument,
                                 gather_error *error) {
  if (!node->mapped) return body(argument, executor, error);
  return gather_mapped_call(node->mapped->ranges, node->mapped->count, executor, body, argument, error);
}

typedef struct apply_call {
  const gather_op *op;
  const gather_tensor *data, *indices, *out;
  gather_options options;
} apply_call;

static gather_status apply_body(void *argument, const gather_executor *executor, gather_error *error) {
  apply_call *call = argument;
  call->options.executor = executor;
  return gather_apply(call->op, call->data, call->indices, call->out, &call->options, error);
}

gather_status gather_ort_apply(const ort_node *node, const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                               const gather_tensor *out, const gather_options *options, gather_error *error) {
  apply_call call = {op, data, indices, out, *options};
  return gather_ort_guarded(node, options->executor, apply_body, &call, error);
}

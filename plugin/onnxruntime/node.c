/* SPDX-License-Identifier: MIT
 *
 * node.c: creates, runs and destroys the kernel of a node.
 */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_internal.h"

/* ---- running */

typedef struct plan_call {
  const gather_plan *plan;
  gather_run run;
} plan_call;

static gather_status plan_body(void *argument, const gather_executor *executor, gather_error *error) {
  plan_call *call = argument;
  call->run.executor = executor;
  return gather_plan_run(call->plan, &call->run, error);
}

static OrtStatus *run_plan(ort_node *node, OrtKernelContext *context, const ort_plan *kept, const ort_tensor *data,
                           const ort_tensor *indices) {
  gather_tensor out;
  OrtValue *value;
  gather_error error;
  ort_threads threads;
  ORT_TRY(gather_ort_output(&node->host, context, data->tensor.type, gather_ort_plan_shape(kept), kept->out_rank, &out, &value));
  plan_call call = {kept->plan, GATHER_RUN_INIT};
  call.run.data = data->tensor.data, call.run.indices = indices->tensor.data, call.run.out = out.data;
  const gather_executor *executor = gather_ort_threads(node, context, kept->bytes, &threads);
  return gather_ort_status(&node->host, gather_ort_guarded(node, executor, plan_body, &call, &error), &error);
}

/* The first time that these shapes come, and where their ranks are too high for a kept plan. */
static OrtStatus *apply(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices) {
  gather_tensor out;
  OrtValue *value;
  gather_error error;
  ort_threads threads;
  int64_t lengths[GATHER_MAX_RANK];
  int32_t rank;
  gather_status status = gather_output_shape(node->rules, &data->tensor, &indices->tensor, &node->gather, lengths, &rank, &error);
  if (status != GATHER_OK) return gather_ort_status(&node->host, status, &error);
  ORT_TRY(gather_ort_output(&node->host, context, data->tensor.type, lengths, rank, &out, &value));
  gather_options options = node->gather;
  options.executor = gather_ort_threads(node, context, gather_tensor_bytes(&out), &threads);
  status = GATHER_UNSUPPORTED;
  if (node->rows.take) status = node->rows.take(node->rows.context, node->rules, &indices->tensor, &out, &options, &error);
  if (status == GATHER_UNSUPPORTED) status = gather_ort_apply(node, node->rules, &data->tensor, &indices->tensor, &out, &options, &error);
  return gather_ort_status(&node->host, status, &error);
}

static OrtStatus *run(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices) {
  if (node->op->quantised) return gather_ort_compute_quantised(node, context, data, indices);
  if (data->element == ORT_ELEMENT_STRING) return gather_ort_compute_strings(node, context, data, indices);
  if (node->rows.take) return apply(node, context, data, indices);
  ort_plan *kept = gather_ort_plans_get(&node->plans, node->rules, &node->gather, &data->tensor, &indices->tensor);
  if (!kept) return apply(node, context, data, indices);
  OrtStatus *status = run_plan(node, context, kept, data, indices);
  gather_ort_plans_release(kept);
  return status;
}

OrtStatus *gather_ort_node_compute(ort_node *node, OrtKernelContext *context) {
  ort_tensor data, indices;
  ORT_TRY(gather_ort_input(&node->host, context, 0, &data));
  ORT_TRY(gather_ort_input(&node->host, context, 1, &indices));
  return run(node, context, &data, &indices);
}

/* ---- creating */

/* Reads an attribute if the node has it; *number keeps its value otherwise. */
static OrtStatus *read_attribute(const ort_node *node, const OrtKernelInfo *info, const char *name, int64_t *number) {
  const ort_host *host = &node->host;
  float other;
  OrtStatus *status = ORT(host, KernelInfoGetAttribute_int64)(info, name, number);
  if (!status) return NULL;
  ORT(host, ReleaseStatus)(status);
  /* The host reports an absent attribute and one of another type alike. */
  status = ORT(host, KernelInfoGetAttribute_float)(info, name, &other);
  if (status) {
    ORT(host, ReleaseStatus)(status);
    return NULL;
  }
  char text[128];
  snprintf(text, sizeof text, "attribute %s of %s is a float; it must be an integer", name, node->op->name);
  return ORT(host, CreateStatus)(ORT_INVALID_GRAPH, text);
}

static int64_t *attribute_of(ort_node *node, const char *name) {
  if (!strcmp(name, "axis")) return &node->gather.axis;
  if (!strcmp(name, "batch_dims")) return &node->gather.batch_dims;
  if (!strcmp(name, "bits")) return &node->quantised.bits;
  if (!strcmp(name, "block_size")) return &node->quantised.block_size;
  if (!strcmp(name, "quantize_axis")) return &node->quantised.quantize_axis;
  return &node->quantised.gather_axis;
}

static OrtStatus *read_attributes(ort_node *node, const OrtKernelInfo *info) {
  for (const char *const *name = node->op->attributes; *name; name++) ORT_TRY(read_attribute(node, info, *name, attribute_of(node, *name)));
  return NULL;
}

OrtStatus *gather_ort_node_create(const ort_host *host, const ort_operator *op, int version, const OrtKernelInfo *info,
                                  const ort_options *options, ort_node **created) {
  ort_node *node = calloc(1, sizeof *node);
  if (!node) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory for the kernel of a node");
  node->host = *host, node->op = op, node->rules = gather_ort_operator_rules(op, version);
  node->gather = (gather_options)GATHER_OPTIONS_INIT;
  node->quantised = (gather_block_quantized)GATHER_BLOCK_QUANTIZED_INIT;
  /* ONNX Runtime's Gather takes negative indices at every opset, and models rely on it. */
  node->gather.negative = GATHER_NEGATIVE_ON;
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  node->threads = options->threads > 0 ? options->threads : machine.cpus;
  gather_ort_plans_init(&node->plans, options->plans);
  OrtStatus *status = read_attributes(node, info);
  if (status) {
    gather_ort_node_destroy(node);
    return status;
  }
  if (op->quantised) gather_ort_quantised_prepare(node, info);
  if (options->report) gather_ort_node_report(node, info, NULL);
  *created = node;
  return NULL;
}

void gather_ort_node_destroy(ort_node *node) {
  if (!node) return;
  gather_ort_plans_free(&node->plans);
  gather_ort_quantised_free(node->decoder);
  gather_ort_mapped_free(node->mapped);
  if (node->rows.close) node->rows.close(node->rows.context);
  for (int i = 0; i < 2; i++)
    if (node->side_rows[i].close) node->side_rows[i].close(node->side_rows[i].context);
  free(node);
}

/* ---- rows of tables */

void gather_ort_node_use_rows(ort_node *node, const ort_rows *rows) { node->rows = *rows; }

void gather_ort_node_use_side_rows(ort_node *node, int input, const ort_rows *rows) { node->side_rows[input - 2] = *rows; }

bool gather_ort_node_can_use_rows(const ort_node *node, int32_t rank) {
  if (rank < 1) return false;
  if (node->op->quantised) return node->quantised.gather_axis == 0 || node->quantised.gather_axis == -(int64_t)rank;
  if (node->rules->family == GATHER_FAMILY_GATHER) return node->gather.axis == 0 || node->gather.axis == -(int64_t)rank;
  return node->rules->family == GATHER_FAMILY_ND && node->gather.batch_dims == 0;
}

int64_t gather_ort_node_axis(const ort_node *node) { return node->gather.axis; }

/* SPDX-License-Identifier: MIT
 *
 * custom_ops.c: custom operators with the names of the standard ones, as the host sees them: what they are called, their inputs and
 * types, and their kernels.
 */
#include "custom_ops.h"

#include "infer.h"

static const ort_description *of(const OrtCustomOp *op) { return (const ort_description *)op; }

/* ---- what the host asks */

static const char *get_name(const OrtCustomOp *op) { return of(op)->op->name; }
static const char *get_provider(const OrtCustomOp *op) {
  (void)op;
  return "CPUExecutionProvider";
}
/* A kernel without inputs and outputs has no type constraints, whose names the host would look for in its own schema. The host's schema
 * says which types a node may have. */
static size_t input_count(const OrtCustomOp *op) { return of(op)->own_schema ? (size_t)of(op)->op->inputs : 0; }
static size_t output_count(const OrtCustomOp *op) { return of(op)->own_schema ? 1 : 0; }
static OrtElementType input_type(const OrtCustomOp *op, size_t input) {
  if (input == 1) return of(op)->index;
  return of(op)->op->quantised && input == (size_t)of(op)->op->quantised ? of(op)->output : ORT_ELEMENT_UNDEFINED;
}
static OrtElementType output_type(const OrtCustomOp *op, size_t output) {
  (void)output;
  return of(op)->output;
}
static OrtInputKind input_kind(const OrtCustomOp *op, size_t input) {
  return input < (size_t)of(op)->op->required ? ORT_REQUIRED : ORT_OPTIONAL;
}
static OrtInputKind output_kind(const OrtCustomOp *op, size_t output) {
  (void)op, (void)output;
  return ORT_REQUIRED;
}
static int on_cpu(const OrtCustomOp *op, size_t input) {
  (void)op, (void)input;
  return 0;
}
static int variadic(const OrtCustomOp *op) {
  (void)op;
  return 0;
}
static int first_opset(const OrtCustomOp *op) { return of(op)->first; }
static int last_opset(const OrtCustomOp *op) { return of(op)->last_opset; }

/* ---- kernels */

static OrtStatus *create_node(const ort_description *d, const OrtKernelInfo *info, ort_ep_options *options, ort_node **node) {
  const ort_registration *in = d->in;
  OrtStatus *status = gather_ort_custom_late_options(&in->host, info, options);
  if (status) return status;
  status = gather_ort_node_create(&in->host, d->op, d->version, info, &options->node, node);
  if (status) return status;
  if (!options->open.keep_signals) gather_ort_node_guard(*node, info);
  status = gather_ort_custom_table(&in->host, options, info, *node);
  if (!status) return NULL;
  gather_ort_node_destroy(*node);
  return status;
}

static OrtStatus *create_kernel(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel) {
  ort_ep_options options = of(op)->in->options;
  ort_node *node = NULL;
  (void)api;
  OrtStatus *status = create_node(of(op), info, &options, &node);
  *kernel = status ? NULL : node;
  return status;
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context) { return gather_ort_node_compute(kernel, context); }

static void destroy(void *kernel) { gather_ort_node_destroy(kernel); }

static OrtStatus *infer(const OrtCustomOp *op, OrtShapeInferContext *context) {
  gather_ort_infer(&of(op)->in->host, of(op)->op, context);
  return NULL;
}

const OrtCustomOp gather_ort_custom_functions = {
    .version = ORT_OLDEST,
    .GetName = get_name,
    .GetExecutionProviderType = get_provider,
    .GetInputType = input_type,
    .GetInputTypeCount = input_count,
    .GetOutputType = output_type,
    .GetOutputTypeCount = output_count,
    .KernelDestroy = destroy,
    .GetInputCharacteristic = input_kind,
    .GetOutputCharacteristic = output_kind,
    .GetInputMemoryType = on_cpu,
    .GetVariadicInputMinArity = variadic,
    .GetVariadicInputHomogeneity = variadic,
    .GetVariadicOutputMinArity = variadic,
    .GetVariadicOutputHomogeneity = variadic,
    .CreateKernelV2 = create_kernel,
    .KernelComputeV2 = compute,
    .InferOutputShapeFn = infer,
    .GetStartVersion = first_opset,
    .GetEndVersion = last_opset,
};

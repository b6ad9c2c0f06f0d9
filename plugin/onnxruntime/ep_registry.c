/* SPDX-License-Identifier: MIT
 *
 * ep_registry.c: says to ONNX Runtime which operator versions the execution provider has, with which types: one kernel definition per
 * row of the library's operator table that the plug-in takes over. A version that ONNX Runtime knows and the library does not stays
 * with the CPU provider.
 */
#include <stdio.h>
#include <string.h>

#include "ep_session.h"

enum { MOST_TYPES = 64 };

/* The host's objects for the types of a bit set. A type that the host does not have is left out. */
static size_t types_of(const ort_host *host, uint64_t set, const OrtDataType **types) {
  size_t count = 0;
  for (int i = 1; i < MOST_TYPES; i++) {
    const gather_type_info *info = set >> i & 1 ? gather_type_get((gather_type)i) : NULL;
    if (!info || info->onnxruntime == 0) continue;
    OrtStatus *status = ORT_EP(host, GetTensorDataType)(info->onnxruntime, &types[count]);
    if (status)
      ORT(host, ReleaseStatus)(status);
    else if (types[count])
      count++;
  }
  return count;
}

static OrtStatus *constrain(const ort_host *host, OrtKernelDefBuilder *builder, const char *name, uint64_t set) {
  const OrtDataType *types[MOST_TYPES];
  if (!name) return NULL;
  return ORT_EP(host, KernelDefBuilder_AddTypeConstraint)(builder, name, types, types_of(host, set, types));
}

static OrtStatus *describe(const ort_host *host, OrtKernelDefBuilder *builder, const ort_operator *node, const gather_op *op) {
  OrtStatus *status = ORT_EP(host, KernelDefBuilder_SetOperatorType)(builder, node->name);
  if (!status) status = ORT_EP(host, KernelDefBuilder_SetDomain)(builder, node->domain);
  if (!status) status = ORT_EP(host, KernelDefBuilder_SetSinceVersion)(builder, op->version, gather_ort_operator_last_opset(op));
  if (!status) status = ORT_EP(host, KernelDefBuilder_SetExecutionProvider)(builder, ORT_EP_NAME);
  if (!status) status = constrain(host, builder, node->data_type, op->types);
  if (!status) status = constrain(host, builder, node->index_type, op->index_types);
  return status;
}

static OrtStatus *add(ort_session *session, const ort_operator *node, const gather_op *op) {
  const ort_host *host = &session->host;
  OrtKernelDefBuilder *builder = NULL;
  OrtKernelDef *definition = NULL;
  ort_registered *state = &session->registered[session->registered_count++];
  *state = (ort_registered){session, node, op->version};
  OrtStatus *status = ORT_EP(host, CreateKernelDefBuilder)(&builder);
  if (status) return status;
  status = describe(host, builder, node, op);
  if (!status) status = ORT_EP(host, KernelDefBuilder_Build)(builder, &definition);
  if (!status) status = ORT_EP(host, KernelRegistry_AddKernel)(session->registry, definition, gather_ort_kernel_create, state);
  if (definition) ORT_EP(host, ReleaseKernelDef)(definition);
  ORT_EP(host, ReleaseKernelDefBuilder)(builder);
  return status;
}

OrtStatus *gather_ort_registry_fill(ort_session *session) {
  const gather_op *op;
  OrtStatus *status = ORT_EP(&session->host, CreateKernelRegistry)(&session->registry);
  for (size_t i = 0; !status && (op = gather_op_at(i)); i++) {
    const bool onnx = strcmp(op->dialect, "onnx") == 0, microsoft = strcmp(op->dialect, "microsoft") == 0;
    if (!onnx && !microsoft) continue;
    const ort_operator *node = gather_ort_operator_find(onnx ? "" : "com.microsoft", op->name);
    if (!node || !gather_ort_options_take(&session->options.node, op->name)) continue;
    if (session->registered_count == ORT_MOST_REGISTERED)
      return ORT(&session->host, CreateStatus)(ORT_FAIL, ORT_EP_NAME ": too many operator versions");
    status = add(session, node, op);
  }
  return status;
}

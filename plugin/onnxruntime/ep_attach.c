/* SPDX-License-Identifier: MIT
 *
 * ep_attach.c: decides where the rows of a node come from.
 */
#include "ep_attach.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_text.h"

static OrtStatus *explain(ort_taken *taken, const char *why) {
  (void)snprintf(taken->why, sizeof taken->why, "%.*s", (int)sizeof taken->why - 1, why);
  return NULL;
}

/* An integer attribute, 0 if the node does not have it. */
static int64_t attribute(const ort_host *host, const OrtKernelInfo *info, const char *name) {
  int64_t number = 0;
  OrtStatus *status = ORT(host, KernelInfoGetAttribute_int64)(info, name, &number);
  if (!status) return number;
  ORT(host, ReleaseStatus)(status);
  return 0;
}

/* Whether a node can take its rows from a table: a Gather along axis 0, or a GatherND without batch dimensions. */
static bool can_use_table(const ort_host *host, const OrtKernelInfo *info, const ort_operator *op, const ort_node *node,
                          int32_t rank) {
  const int64_t axis = gather_ort_node_axis(node);
  if (strcmp(op->name, "Gather") == 0) return axis == 0 || axis == -rank;
  return strcmp(op->name, "GatherND") == 0 && attribute(host, info, "batch_dims") == 0;
}

/* The external initializer of this name that is mapped at this address; NULL if there is none. */
static const ort_external *find(const ort_session *session, const char *name, const ort_mapping *mapping) {
  for (const ort_external *external = session->externals; external; external = external->next)
    if (strcmp(external->name, name) == 0 && gather_ort_mapping_is(mapping, external->path, external->offset))
      return external;
  return NULL;
}

static const ort_external *find_name(const ort_session *session, const char *name) {
  for (const ort_external *external = session->externals; external; external = external->next)
    if (strcmp(external->name, name) == 0) return external;
  return NULL;
}

static gather_type type_of(OrtElementType number) {
  for (int i = 1; i < 64; i++) {
    const gather_type_info *info = gather_type_get((gather_type)i);
    if (info && info->onnxruntime == number && number != 0) return info->type;
  }
  return GATHER_TYPE_NONE;
}

/* The data of the node if it is constant; else *value is NULL. */
static OrtStatus *constant(const ort_host *host, const OrtKernelInfo *info, const OrtValue **value) {
  int is_constant = 0;
  *value = NULL;
  OrtStatus *status = ORT(host, KernelInfoGetConstantInput_tensor)(info, 0, &is_constant, value);
  if (!is_constant) *value = NULL;
  return status;
}

static OrtStatus *describe(const ort_host *host, const OrtValue *value, ort_table_source *source, const void **data) {
  OrtElementType element = 0;
  size_t rank = 0;
  void *address = NULL;
  OrtStatus *status = ORT(host, GetTensorElementTypeAndShapeDataReference)(value, &element, &source->shape, &rank);
  if (!status) status = ORT(host, GetTensorMutableData)((OrtValue *)(uintptr_t)value, &address);
  source->type = type_of(element);
  source->rank = (int32_t)rank;
  *data = address;
  return status;
}

static bool same_size(const ort_table_source *source, uint64_t bytes) {
  const gather_tensor tensor = {.type = source->type, .rank = source->rank, .shape = source->shape};
  return gather_tensor_check(&tensor, NULL) == GATHER_OK && (uint64_t)gather_tensor_bytes(&tensor) == bytes;
}

/* Opens the table and gives it to the node. */
static OrtStatus *use(const ort_session *session, const ort_table_source *source, ort_node *node, ort_taken *taken) {
  gather_error error;
  char prefix[700];
  ort_table *table = NULL;
  gather_status status = gather_ort_table_acquire(source, &table, &error);
  if (status == GATHER_UNSUPPORTED) return explain(taken, error.message);
  if (status != GATHER_OK) {
    (void)snprintf(prefix, sizeof prefix, "%s node '%.200s', table '%.200s': ", taken->op, taken->name, taken->data);
    return gather_ort_ep_status(&session->host, prefix, &error);
  }
  taken->file = gather_ort_text_copy(source->path);
  taken->offset = source->offset;
  taken->table = table;
  const ort_rows rows = gather_ort_table_rows(gather_ort_table_share(table));
  gather_ort_node_use_rows(node, &rows);
  return NULL;
}

static OrtStatus *attach_external(const ort_registered *state, const OrtKernelInfo *info, const OrtValue *value,
                                  ort_node *node, ort_taken *taken) {
  const ort_session *session = state->session;
  ort_table_source source = {.options = &session->options.open};
  ort_mapping mapping;
  const void *data = NULL;
  OrtStatus *status = describe(&session->host, value, &source, &data);
  if (status) return status;
  if (gather_type_get(source.type)) taken->type = gather_type_get(source.type)->name;
  if (!can_use_table(&session->host, info, state->op, node, source.rank))
    return explain(taken, "a table serves Gather along axis 0 and GatherND without batch_dims");
  if (!gather_ort_mapping_at(data, &mapping)) return explain(taken, "the host has read the table into memory");
  const ort_external *external = find(session, taken->data, &mapping);
  if (!external) return explain(taken, "the host has mapped another file than the model names");
  if (!same_size(&source, external->bytes))
    return explain(taken, "the model gives another size than its type and shape");
  source.path = external->path;
  source.offset = external->offset;
  return use(session, &source, node, taken);
}

OrtStatus *gather_ort_attach(const ort_registered *state, const OrtKernelInfo *info, ort_node *node, ort_taken *taken) {
  const ort_session *session = state->session;
  const ort_host *host = &session->host;
  const OrtValue *value = NULL;
  const ort_external *external = find_name(session, taken->data);
  if (!external) return explain(taken, "the data is not external");
  if (!gather_ort_wants_table(&session->options, external))
    return explain(taken, session->options.table == ORT_TABLE_NEVER ? "table=never" : "smaller than table_min");
  OrtStatus *status = constant(host, info, &value);
  if (status) return status;
  return value ? attach_external(state, info, value, node, taken) : explain(taken, "the data is not constant");
}

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

/* The external initializer of this name that is mapped at this address; NULL if there is none. */
static const ort_external *find(const ort_session *session, const char *name, const ort_mapping *mapping) {
  for (const ort_external *external = session->externals; external; external = external->next)
    if (strcmp(external->name, name) == 0 && gather_ort_mapping_is(mapping, external->path, external->offset)) return external;
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

/* An input of the node if it is constant; else *value is NULL. */
static OrtStatus *constant(const ort_host *host, const OrtKernelInfo *info, size_t input, const OrtValue **value) {
  int is_constant = 0;
  *value = NULL;
  OrtStatus *status = ORT(host, KernelInfoGetConstantInput_tensor)(info, input, &is_constant, value);
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

/* Opens a table of the node; *table is NULL if the table engine cannot have it, for the reason in `taken`. */
static OrtStatus *open_table(const ort_session *session, const ort_table_source *source, ort_taken *taken, ort_table **table) {
  gather_error error;
  char prefix[700];
  gather_status status = gather_ort_table_acquire(source, table, &error);
  if (status == GATHER_UNSUPPORTED) return explain(taken, error.message);
  if (status == GATHER_OK) return NULL;
  (void)snprintf(prefix, sizeof prefix, "%s node '%.200s', table '%.200s': ", taken->op, taken->name, taken->data);
  return gather_ort_ep_status(&session->host, prefix, &error);
}

/* Finds the file that an input is mapped from. Returns false, and the reason in `taken`, if the rows cannot come from it. */
static bool locate(const ort_session *session, const char *name, const void *data, ort_table_source *source, const char **why) {
  ort_mapping mapping;
  const ort_external *external = NULL;
  if (!gather_ort_mapping_at(data, &mapping))
    *why = "the host has read the table into memory";
  else if (!(external = find(session, name, &mapping)))
    *why = "the host has mapped a file other than the one in the model";
  else if (!same_size(source, external->bytes))
    *why = "the size in the model does not match its type and shape";
  else
    source->path = external->path, source->offset = external->offset, *why = "";
  return **why == '\0';
}

static OrtStatus *attach_data(const ort_registered *state, const OrtValue *value, ort_node *node, ort_taken *taken) {
  const ort_session *session = state->session;
  ort_table_source source = {.options = &session->options.open};
  const void *data = NULL;
  const char *why;
  OrtStatus *status = describe(&session->host, value, &source, &data);
  if (status) return status;
  if (gather_type_get(source.type)) taken->type = gather_type_get(source.type)->name;
  if (!gather_ort_node_can_use_rows(node, source.rank))
    return explain(taken, "a table supports only gathers along axis 0, and GatherND without batch_dims");
  if (!locate(session, taken->data, data, &source, &why)) return explain(taken, why);
  status = open_table(session, &source, taken, &taken->table);
  if (status || !taken->table) return status;
  const ort_rows rows = gather_ort_table_rows(gather_ort_table_share(taken->table));
  gather_ort_node_use_rows(node, &rows);
  return NULL;
}

/* The scales or zero points of quantised data that is in a table. They are left where they are if they cannot be a table. */
static OrtStatus *attach_side(const ort_registered *state, const OrtKernelInfo *info, size_t input, ort_node *node, ort_taken *taken) {
  const ort_session *session = state->session;
  ort_table_source source = {.options = &session->options.open};
  ort_table **table = &taken->sides[input - 2];
  const OrtValue *value = NULL;
  const void *data = NULL;
  const char *why;
  char name[512] = "";
  size_t bytes = sizeof name;
  OrtStatus *status = constant(&session->host, info, input, &value);
  if (status || !value) return status;
  status = ORT(&session->host, KernelInfo_GetInputName)(info, input, name, &bytes);
  if (!status) status = describe(&session->host, value, &source, &data);
  if (status || !locate(session, name, data, &source, &why)) return status;
  status = open_table(session, &source, taken, table);
  if (status || !*table) return status;
  taken->side_data[input - 2] = gather_ort_text_copy(name);
  const ort_rows rows = gather_ort_table_rows(gather_ort_table_share(*table));
  gather_ort_node_use_side_rows(node, (int)input, &rows);
  return NULL;
}

static OrtStatus *attach_sides(const ort_registered *state, const OrtKernelInfo *info, ort_node *node, ort_taken *taken) {
  size_t count = 0;
  OrtStatus *status = ORT(&state->session->host, KernelInfo_GetInputCount)(info, &count);
  for (size_t input = 2; input < count && input < 4 && !status; input++) status = attach_side(state, info, input, node, taken);
  return status;
}

OrtStatus *gather_ort_attach(const ort_registered *state, const OrtKernelInfo *info, ort_node *node, ort_taken *taken) {
  const ort_session *session = state->session;
  const OrtValue *value = NULL;
  const ort_external *external = find_name(session, taken->data);
  if (!external) return explain(taken, "the data is not external");
  if (!gather_ort_wants_table(&session->options, external))
    return explain(taken, session->options.table == ORT_TABLE_NEVER ? "table=never" : "smaller than table_min");
  OrtStatus *status = constant(&session->host, info, 0, &value);
  if (status) return status;
  if (!value) return explain(taken, "the data is not constant");
  status = attach_data(state, value, node, taken);
  return !status && taken->table && state->op->quantised ? attach_sides(state, info, node, taken) : status;
}

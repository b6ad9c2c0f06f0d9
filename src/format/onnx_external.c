/* SPDX-License-Identifier: MIT
 *
 * onnx_external.c: the files of external data beside a remote model, opened several at once.
 */
#include <string.h>

#include "format/onnx.h"

#ifdef GATHER_HAVE_NANOPB

/* MOST: further files are opened one by one, when a tensor needs them. */
enum { EXTERNAL_DATA = 13, DATA_LOCATION = 14, MOST = 256 };

typedef struct locations {
  const char *at[MOST];
  int64_t count;
} locations;

static void add(const gather_onnx *onnx, locations *found, const char *location) {
  if (found->count == MOST || gather_sibling_find(onnx->file, location)) return;
  for (int64_t i = 0; i < found->count; i++)
    if (strcmp(found->at[i], location) == 0) return;
  found->at[found->count++] = location;
}

/* A key of external data and its value. */
static gather_status read_pair(gather_onnx *onnx, gather_proto message, const char **location) {
  const char *key = "", *value = "";
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &key));
    if (field.number == 2) GATHER_TRY(gather_onnx_text(onnx, &field, &value));
  }
  if (strcmp(key, "location") == 0) *location = value;
  return GATHER_OK;
}

static gather_status read_tensor(gather_onnx *onnx, gather_proto message, locations *found) {
  const char *location = NULL;
  bool external = false;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) break;
    if (field.number == DATA_LOCATION) external = field.wire == GATHER_PROTO_VARINT && field.value == 1;
    if (field.number != EXTERNAL_DATA) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_pair(onnx, field.inner, &location));
  }
  if (external && location) add(onnx, found, location);
  return GATHER_OK;
}

static gather_status read_graph(gather_onnx *onnx, gather_proto message, uint32_t initializer, locations *found) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != initializer) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_tensor(onnx, field.inner, found));
  }
}

/* What is wrong with the model is said when its tensors are read, in their order. */
gather_status gather_onnx_external_open(const gather_onnx *onnx, gather_proto graph, uint32_t initializer) {
  locations found = {.count = 0};
  gather_error ignored;
  gather_onnx quiet = *onnx;
  if (!onnx->file->client) return GATHER_OK;
  quiet.error = &ignored;
  (void)read_graph(&quiet, graph, initializer, &found);
  return gather_siblings_map_urls(onnx->file, found.at, found.count, NULL, onnx->error);
}

#endif

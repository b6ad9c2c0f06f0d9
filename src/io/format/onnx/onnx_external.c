/* SPDX-License-Identifier: MIT
 *
 * onnx_external.c: the files of external data beside a remote model, opened several at once.
 */
#include <string.h>

#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

/* MOST: further files are opened one by one, when a tensor needs them. */
enum { MOST = 256 };

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

static gather_status read_graph(gather_onnx *onnx, gather_proto message, uint32_t initializer, locations *found) {
  gather_onnx_parts parts;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != initializer) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(gather_onnx_parts_read(onnx, field.inner, &parts));
    if (parts.external && parts.location) add(onnx, found, parts.location);
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

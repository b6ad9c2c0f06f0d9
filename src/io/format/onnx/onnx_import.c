/* SPDX-License-Identifier: MIT
 *
 * onnx_import.c: the versions of operator sets that a model or a function imports.
 */
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

static gather_status read_import(gather_onnx *onnx, gather_proto message, gather_onnx_import *import) {
  *import = (gather_onnx_import){.domain = ""};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) GATHER_TRY(gather_onnx_domain(onnx, &field, &import->domain));
    if (field.number != 2) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
    import->version = (int64_t)field.value;
  }
}

gather_status gather_onnx_imports_read(gather_onnx *onnx, gather_proto message, uint32_t number) {
  int64_t counts[10];
  gather_onnx_import *rows = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 10, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[number], sizeof *rows, &rows));
  onnx->imports = (gather_onnx_imports){rows, 0};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != number) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_import(onnx, field.inner, &rows[onnx->imports.count++]));
  }
}

#endif

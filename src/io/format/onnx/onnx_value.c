/* SPDX-License-Identifier: MIT
 *
 * onnx_value.c: reads the declaration of a value: name, type and shape.
 */
#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

/* A length or its name. If both are given, the last counts; a length below 0 is ignored. */
static gather_status read_dim(gather_onnx *onnx, gather_proto message, gather_dim *dim) {
  *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != 1 && field.number != 2) continue;
    *dim = (gather_dim){0, GATHER_DIM_UNBOUNDED, NULL};
    if (field.number == 1) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
      int64_t length = (int64_t)field.value;
      if (length >= 0) *dim = (gather_dim){length, length, NULL};
    } else {
      GATHER_TRY(gather_onnx_text(onnx, &field, &dim->symbol));
      if (dim->symbol[0] == '\0') dim->symbol = NULL;
    }
  }
}

/* A rank above GATHER_MAX_RANK is treated as unknown. */
static gather_status read_shape(gather_onnx *onnx, gather_proto message, gather_value *value) {
  int64_t counts[2];
  gather_dim *dims = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 2, counts));
  value->rank = -1;
  value->dims = NULL;
  if (counts[1] > GATHER_MAX_RANK) return GATHER_OK;
  value->rank = 0;
  if (counts[1] == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_take(onnx, counts[1], sizeof *dims, &dims));
  value->dims = dims;
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != 1) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_dim(onnx, field.inner, &dims[value->rank++]));
  }
}

static gather_status read_tensor_type(gather_onnx *onnx, gather_proto message, gather_value *value) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_VARINT));
      const gather_type_info *info = gather_onnx_type(field.value);
      value->type = info ? info->type : GATHER_TYPE_NONE;
    } else if (field.number == 2) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
      GATHER_TRY(read_shape(onnx, field.inner, value));
    }
  }
}

/* Types other than tensors (sequence, map, opaque, sparse tensor, optional) are skipped. */
static gather_status read_type(gather_onnx *onnx, gather_proto message, gather_value *value) {
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number >= 4 && field.number <= 9 && field.number != 6) value->no_tensor = true;
    if (field.number != 1) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_tensor_type(onnx, field.inner, value));
  }
}

gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value) {
  *value = (gather_value){.name = "", .type = GATHER_TYPE_NONE, .rank = -1};
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &value->name));
    if (field.number != 2) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(read_type(onnx, field.inner, value));
  }
}

#endif

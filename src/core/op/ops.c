/* SPDX-License-Identifier: MIT
 *
 * ops.c: the tables of operator versions and of operator families, and their lookups.
 */
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/op/family.h"
#include "core/op/op.h"

/* ---- operator versions */

#define BIT(ENUM) (UINT64_C(1) << (int)GATHER_TYPE_##ENUM)

/* int32 and int64: what most documents list for indices; int64 alone: ONNX's GatherND; every integer: what OpenVINO's later texts
 * say. */
#define GATHER_TYPES_INT64 BIT(INT64)
#define GATHER_TYPES_INDEX (GATHER_TYPES_INT64 | BIT(INT32))
#define GATHER_TYPES_INTEGER (GATHER_TYPES_INDEX | BIT(INT8) | BIT(INT16) | BIT(UINT8) | BIT(UINT16) | BIT(UINT32) | BIT(UINT64))

/* The 15 types of ONNX before opset 13 added bfloat16. */
#define GATHER_TYPES_ONNX_15 \
  (GATHER_TYPES_INTEGER | BIT(BOOL) | BIT(FLOAT16) | BIT(FLOAT32) | BIT(FLOAT64) | BIT(COMPLEX64) | BIT(COMPLEX128) | BIT(STRING))
#define GATHER_TYPES_ONNX_16 (GATHER_TYPES_ONNX_15 | BIT(BFLOAT16))

/* ONNX 24: 4-bit and float8 types too. */
#define GATHER_TYPES_ONNX_24                                                                                                           \
  (GATHER_TYPES_ONNX_16 | BIT(INT4) | BIT(UINT4) | BIT(FLOAT4_E2M1FN) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E5M2) | \
   BIT(FLOAT8_E5M2FNUZ) | BIT(FLOAT8_E8M0FNU))

/* "Any supported type": all types with a name in OpenVINO. */
#define GATHER_TYPES_OPENVINO                                                                                                         \
  (GATHER_TYPES_INTEGER | BIT(BOOL) | BIT(FLOAT16) | BIT(BFLOAT16) | BIT(FLOAT32) | BIT(FLOAT64) | BIT(STRING) | BIT(FLOAT8_E4M3FN) | \
   BIT(FLOAT8_E5M2) | BIT(FLOAT8_E8M0FNU) | BIT(FLOAT4_E2M1FN) | BIT(INT4) | BIT(UINT4) | BIT(UINT2) | BIT(UINT1) | BIT(UINT3) |      \
   BIT(UINT6) | BIT(NF4))

/* Integers, floats, complex numbers and booleans, by the types of StableHLO that have a name here. */
#define GATHER_TYPES_STABLEHLO                                                                                                             \
  (GATHER_TYPES_INTEGER | BIT(INT4) | BIT(UINT4) | BIT(INT2) | BIT(UINT2) | BIT(BOOL) | BIT(FLOAT16) | BIT(BFLOAT16) | BIT(FLOAT32) |      \
   BIT(FLOAT64) | BIT(COMPLEX64) | BIT(COMPLEX128) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E5M2) | BIT(FLOAT8_E5M2FNUZ) | \
   BIT(FLOAT8_E8M0FNU) | BIT(FLOAT4_E2M1FN) | BIT(FLOAT6_E2M3FN) | BIT(FLOAT6_E3M2FN))

/* "Any supported numeric type", of whole bytes. */
#define GATHER_TYPES_OPENVINO_NUMERIC                                                                                          \
  (GATHER_TYPES_INTEGER | BIT(FLOAT16) | BIT(BFLOAT16) | BIT(FLOAT32) | BIT(FLOAT64) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E5M2) | \
   BIT(FLOAT8_E8M0FNU))
/* Quantised data. */
#define GATHER_TYPES_QUANTIZED                                                                                                 \
  (BIT(INT4) | BIT(UINT4) | BIT(UINT8) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E5M2) | BIT(FLOAT8_E5M2FNUZ) | \
   BIT(FLOAT4_E2M1FN))

const gather_op gather_op_table[] = {
#define GATHER_OP(ENUM, rules, dialect, name, since, family, negative, on_bad, batch_dims, off_axis, axis, tuples, fused, types, \
                  index_types, document)                                                                                         \
  {rules,                                                                                                                        \
   dialect,                                                                                                                      \
   name,                                                                                                                         \
   since,                                                                                                                        \
   GATHER_FAMILY_##family,                                                                                                       \
   negative,                                                                                                                     \
   GATHER_ON_BAD_##on_bad,                                                                                                       \
   (batch_dims) != 0,                                                                                                            \
   GATHER_OFF_AXIS_##off_axis,                                                                                                   \
   GATHER_AXIS_SOURCE_##axis,                                                                                                    \
   types,                                                                                                                        \
   index_types,                                                                                                                  \
   document,                                                                                                                     \
   GATHER_TUPLES_##tuples,                                                                                                       \
   (fused) != 0},
#include "core/op/ops.def"
#undef GATHER_OP
};

const gather_op *gather_op_at(size_t i) { return i < GATHER_OP_ROWS ? &gather_op_table[i] : NULL; }

const gather_op *gather_op_find(const char *name, const char *rules) {
  if (!name || !rules) return NULL;
  for (size_t i = 0; i < GATHER_OP_ROWS; i++)
    if (strcmp(gather_op_table[i].name, name) == 0 && strcmp(gather_op_table[i].rules, rules) == 0) return &gather_op_table[i];
  return NULL;
}

const gather_op *gather_op_for_opset(const char *dialect, const char *name, int64_t opset) {
  const gather_op *best = NULL;
  if (!dialect || !name) return NULL;
  for (size_t i = 0; i < GATHER_OP_ROWS; i++) {
    const gather_op *op = &gather_op_table[i];
    if (strcmp(op->dialect, dialect) || strcmp(op->name, name) || op->version > opset) continue;
    if (!best || op->version > best->version) best = op;
  }
  return best;
}

/* ---- families */

const gather_family_info *gather_family_get(gather_family family) {
  static const gather_family_info FAMILIES[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) {GATHER_FAMILY_##ENUM, name, whole_rows, NULL},
#define GATHER_FAMILY_OWN(ENUM, number, name, function) {GATHER_FAMILY_##ENUM, name, false, function},
#include "gather/family.def"
#undef GATHER_FAMILY
  };
  for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
    if (FAMILIES[i].family == family) return &FAMILIES[i];
  return NULL;
}

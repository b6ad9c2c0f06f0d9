/* SPDX-License-Identifier: MIT
 *
 * type.c: the table of element types and its lookups.
 */
#include "core/base/tensor.h"

#include <string.h>

#include "core/base/checked.h"

enum { GATHER_BITS_STRING = 8 * (int)sizeof(gather_string) };
_Static_assert(sizeof(gather_string) == 2 * sizeof(size_t), "a string is a pointer and a length");

/* Elements and bytes of a packing group. */
#define GROUP_LEN_BYTES(bits) 1
#define GROUP_BYTES_BYTES(bits) ((bits) / 8)
#define GROUP_LEN_LOW_FIRST(bits) (8 / (bits))
#define GROUP_BYTES_LOW_FIRST(bits) 1
#define GROUP_LEN_HIGH_FIRST(bits) (8 / (bits))
#define GROUP_BYTES_HIGH_FIRST(bits) 1
#define GROUP_LEN_SPLIT_3(bits) 8
#define GROUP_BYTES_SPLIT_3(bits) 3
#define GROUP_LEN_SPLIT_6(bits) 4
#define GROUP_BYTES_SPLIT_6(bits) 3
#define GROUP_LEN_STREAM(bits) 4
#define GROUP_BYTES_STREAM(bits) 3

#define BITS_BOOL(bits) (bits)
#define BITS_INT(bits) (bits)
#define BITS_UINT(bits) (bits)
#define BITS_FLOAT(bits) (bits)
#define BITS_COMPLEX(bits) (bits)
#define BITS_OPAQUE(bits) 0
#define BITS_STRING(bits) GATHER_BITS_STRING

const gather_type_info gather_type_table[] = {
#define GATHER_TYPE(ENUM, number, name, kind, bits, packing, onnx, onnx_name, ort, ov, precision, npy, dlpack, \
                    safetensors)                                                                               \
  {GATHER_TYPE_##ENUM,                                                                                         \
   name,                                                                                                       \
   GATHER_KIND_##kind,                                                                                         \
   BITS_##kind(bits),                                                                                          \
   GATHER_PACKING_##packing,                                                                                   \
   GROUP_LEN_##packing(bits),                                                                                  \
   GROUP_BYTES_##packing(BITS_##kind(bits)),                                                                   \
   onnx,                                                                                                       \
   onnx_name,                                                                                                  \
   ort,                                                                                                        \
   ov,                                                                                                         \
   precision,                                                                                                  \
   npy,                                                                                                        \
   dlpack,                                                                                                     \
   safetensors},
#include "gather/type.def"
#undef GATHER_TYPE
};

enum { TYPE_COUNT = sizeof gather_type_table / sizeof *gather_type_table };

/* Rows are in the order of their numbers, from 1: the lookup is an index. */
#define GATHER_TYPE(ENUM, number, ...) \
  _Static_assert(GATHER_TYPE_##ENUM >= 1 && (int)GATHER_TYPE_##ENUM <= (int)TYPE_COUNT, "type numbers have no gaps");
#include "gather/type.def"
#undef GATHER_TYPE

const gather_type_info *gather_type_get(gather_type type) {
  if ((int)type < 1 || (int)type > TYPE_COUNT) return NULL;
  return gather_type_row(type);
}

static bool same(const char *a, const char *b) { return a && strcmp(a, b) == 0; }

gather_type gather_type_parse(const char *name) {
  /* Names of ml_dtypes' types as people write them, without the suffix. */
  static const struct {
    const char *name;
    gather_type type;
  } SHORT[] = {{"float4_e2m1", GATHER_TYPE_FLOAT4_E2M1FN},
               {"float6_e2m3", GATHER_TYPE_FLOAT6_E2M3FN},
               {"float6_e3m2", GATHER_TYPE_FLOAT6_E3M2FN},
               {"float8_e8m0", GATHER_TYPE_FLOAT8_E8M0FNU}};
  if (!name) return GATHER_TYPE_NONE;
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    const gather_type_info *t = &gather_type_table[i];
    if (t->type == GATHER_TYPE_OPAQUE) continue;
    if (same(t->name, name) || same(t->onnx_name, name) || same(t->openvino_name, name) ||
        same(t->openvino_precision, name))
      return t->type;
  }
  for (size_t i = 0; i < sizeof SHORT / sizeof *SHORT; i++)
    if (same(SHORT[i].name, name)) return SHORT[i].type;
  return GATHER_TYPE_NONE;
}

gather_status gather_type_bytes(gather_type type, int64_t item_bytes, int64_t len, int64_t *bytes) {
  const gather_type_info *t = gather_type_get(type);
  if (!t) return GATHER_TYPE_UNSUPPORTED;
  int64_t group_bytes = type == GATHER_TYPE_OPAQUE ? item_bytes : t->group_bytes;
  if (len < 0 || group_bytes < 0) return GATHER_OVERFLOW;
  /* Fast path: divisions by 1 are common, and slow. */
  int64_t groups = t->group_len == 1 ? len : len / t->group_len + (len % t->group_len != 0);
  return gather_mul(groups, group_bytes, bytes) ? GATHER_OK : GATHER_OVERFLOW;
}

/* SPDX-License-Identifier: MIT
 *
 * tensor.c: the table of element types and its lookups; checks and measures tensors.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"

/* ---- element types */

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
#define GATHER_TYPE(ENUM, number, name, kind, bits, packing, onnx, onnx_name, ort, ov, precision, npy, dlpack, safetensors) \
  {GATHER_TYPE_##ENUM,                                                                                                      \
   name,                                                                                                                    \
   GATHER_KIND_##kind,                                                                                                      \
   BITS_##kind(bits),                                                                                                       \
   GATHER_PACKING_##packing,                                                                                                \
   GROUP_LEN_##packing(bits),                                                                                               \
   GROUP_BYTES_##packing(BITS_##kind(bits)),                                                                                \
   onnx,                                                                                                                    \
   onnx_name,                                                                                                               \
   ort,                                                                                                                     \
   ov,                                                                                                                      \
   precision,                                                                                                               \
   npy,                                                                                                                     \
   dlpack,                                                                                                                  \
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
    if (same(t->name, name) || same(t->onnx_name, name) || same(t->openvino_name, name) || same(t->openvino_precision, name))
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

/* ---- tensors */

bool gather_shape_len(int32_t rank, const int64_t *shape, int64_t *len) {
  *len = 0;
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] == 0) return true;
  int64_t product = 1;
  for (int32_t d = 0; d < rank; d++)
    if (!gather_mul(product, shape[d], &product)) return false;
  *len = product;
  return true;
}

/* The step of the innermost dimension of a row-major tensor. */
static int64_t unit(const gather_tensor *tensor) {
  return gather_type_is_packed(gather_type_row(tensor->type)) ? 1 : gather_tensor_item_bytes(tensor);
}

/* The offsets of the lowest and the highest element, in the unit of the strides; the tensor has elements. */
static bool reach(const gather_tensor *tensor, int64_t *lowest, int64_t *highest) {
  *lowest = *highest = gather_type_is_packed(gather_type_row(tensor->type)) ? tensor->packed_offset : 0;
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor_strides(tensor, strides);
  for (int32_t d = 0; d < tensor->rank; d++) {
    int64_t way;
    if (!gather_mul(tensor->shape[d] - 1, strides[d], &way)) return false;
    int64_t *end = way < 0 ? lowest : highest;
    if (!gather_add(*end, way, end)) return false;
  }
  return true;
}

static gather_status measure(const gather_tensor *tensor, const char *input, gather_size *size, gather_error *error) {
  const char *what = input ? input : "tensor";
  int64_t lowest, highest;
  if (!gather_shape_len(tensor->rank, tensor->shape, &size->len) || !gather_tensor_len_fits(tensor, size->len, &size->bytes))
    return gather_fail_input(error, GATHER_OVERFLOW, input, "%s: its size does not fit in memory", what);
  if (size->len == 0 || (!tensor->strides && tensor->packed_offset == 0)) return GATHER_OK;
  /* Row-major strides fit, because the product of all lengths does; the caller's strides may not. */
  if (!reach(tensor, &lowest, &highest) || lowest < -GATHER_OFFSET_MAX || highest > GATHER_OFFSET_MAX)
    return gather_fail_input(error, GATHER_OVERFLOW, input, "%s: its strides do not fit in memory", what);
  return GATHER_OK;
}

gather_status gather_tensor_measure(const gather_tensor *tensor, const char *input, gather_size *size, gather_error *error) {
  const char *what = input ? input : "tensor";
  if (!tensor) return gather_fail_input(error, GATHER_USAGE, input, "%s is NULL", what);
  if (!gather_type_get(tensor->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, input, "%s: invalid element type %d", what, (int)tensor->type);
  if (tensor->type == GATHER_TYPE_OPAQUE && tensor->item_bytes < 0)
    return gather_fail_input(error, GATHER_USAGE, input, "%s: item_bytes is %" PRId64 ", which is negative", what, tensor->item_bytes);
  if (tensor->rank < 0 || tensor->rank > GATHER_MAX_RANK)
    return gather_fail_input(error, GATHER_UNSUPPORTED, input, "%s has rank %" PRId32 "; ranks from 0 to %d are supported", what,
                             tensor->rank, GATHER_MAX_RANK);
  if (tensor->rank > 0 && !tensor->shape) return gather_fail_input(error, GATHER_USAGE, input, "%s: shape is NULL", what);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] < 0)
      return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s: dimension %" PRId32 " is %" PRId64 ", which is negative", what, d,
                               tensor->shape[d]);
  return measure(tensor, input, size, error);
}

gather_status gather_tensor_check(const gather_tensor *tensor, gather_error *error) {
  return gather_tensor_check_input(tensor, NULL, error);
}

int64_t gather_tensor_len(const gather_tensor *tensor) {
  int64_t len = 0;
  return gather_shape_len(tensor->rank, tensor->shape, &len) ? len : 0;
}

int64_t gather_tensor_bytes(const gather_tensor *tensor) {
  int64_t bytes = 0;
  return gather_tensor_len_bytes(tensor, gather_tensor_len(tensor), &bytes) ? bytes : 0;
}

void gather_tensor_strides(const gather_tensor *tensor, int64_t strides[GATHER_MAX_RANK]) {
  int64_t step = unit(tensor);
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    if (tensor->strides) {
      strides[d] = tensor->strides[d];
    } else {
      strides[d] = step;
      /* A tensor without elements may have lengths whose product does not fit; its strides are never used. */
      if (!gather_mul(step, tensor->shape[d], &step)) step = 0;
    }
  }
}

void gather_tensor_extent(const gather_tensor *tensor, const gather_size *size, int64_t *low, int64_t *high) {
  *low = *high = 0;
  if (size->bytes == 0) return;
  if (!tensor->strides && tensor->packed_offset == 0) {
    *high = size->bytes;
    return;
  }
  int64_t lowest = 0, highest = 0;
  if (!reach(tensor, &lowest, &highest)) return;
  const gather_type_info *type = gather_type_get(tensor->type);
  if (gather_type_is_packed(type)) {
    /* Floor division: elements before `data` have negative numbers. */
    int64_t group = type->group_len;
    int64_t first = lowest >= 0 ? lowest / group : -((-lowest + group - 1) / group);
    int64_t last = highest >= 0 ? highest / group : -((-highest + group - 1) / group);
    *low = first * type->group_bytes;
    *high = (last + 1) * type->group_bytes;
  } else {
    *low = lowest;
    *high = highest + gather_tensor_item_bytes(tensor);
  }
}

bool gather_tensor_is_row_major(const gather_tensor *tensor) {
  int64_t natural[GATHER_MAX_RANK];
  gather_tensor plain = *tensor;
  if (!tensor->strides || gather_tensor_len(tensor) == 0) return true;
  plain.strides = NULL;
  gather_tensor_strides(&plain, natural);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] > 1 && tensor->strides[d] != natural[d]) return false;
  return true;
}

void gather_swap(void *data, int64_t bytes, int64_t unit_bytes) {
  if (unit_bytes < 2) return;
  unsigned char *at = data;
  for (int64_t start = 0; start + unit_bytes <= bytes; start += unit_bytes)
    for (int64_t low = start, high = start + unit_bytes - 1; low < high; low++, high--) {
      unsigned char kept = at[low];
      at[low] = at[high];
      at[high] = kept;
    }
}

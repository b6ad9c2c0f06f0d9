/* SPDX-License-Identifier: MIT
 *
 * duck_layout.c: which types of SQL the element types of tensors become.
 */
#include <stdio.h>
#include <string.h>

#include "duck_api.h"
#include "duck_rows.h"

/* What each element is in DuckDB. */
static const struct {
  int type;
  int64_t bytes;
} elements[] = {
    [DUCK_ELEMENT_BOOL] = {DUCK_BOOLEAN, 1},     [DUCK_ELEMENT_INT8] = {DUCK_TINYINT, 1},    [DUCK_ELEMENT_INT16] = {DUCK_SMALLINT, 2},
    [DUCK_ELEMENT_INT32] = {DUCK_INTEGER, 4},    [DUCK_ELEMENT_INT64] = {DUCK_BIGINT, 8},    [DUCK_ELEMENT_UINT8] = {DUCK_UTINYINT, 1},
    [DUCK_ELEMENT_UINT16] = {DUCK_USMALLINT, 2}, [DUCK_ELEMENT_UINT32] = {DUCK_UINTEGER, 4}, [DUCK_ELEMENT_UINT64] = {DUCK_UBIGINT, 8},
    [DUCK_ELEMENT_FLOAT] = {DUCK_FLOAT, 4},      [DUCK_ELEMENT_DOUBLE] = {DUCK_DOUBLE, 8},   [DUCK_ELEMENT_UTF32] = {DUCK_VARCHAR, 0},
    [DUCK_ELEMENT_TEXT] = {DUCK_BLOB, 0},        [DUCK_ELEMENT_BYTES] = {DUCK_BLOB, 0},
};

int gather_duck_element_type(duck_element element) { return elements[element].type; }

int64_t gather_duck_element_bytes(duck_element element) { return elements[element].bytes; }

/* ---- targets */

#define BIT(element) (1u << DUCK_ELEMENT_##element)
static const unsigned to_float = BIT(BOOL) | BIT(INT8) | BIT(INT16) | BIT(UINT8) | BIT(UINT16) | BIT(FLOAT);
static const unsigned to_double = BIT(INT32) | BIT(UINT32) | BIT(DOUBLE);
static const unsigned to_bigint = BIT(BOOL) | BIT(INT8) | BIT(INT16) | BIT(INT32) | BIT(INT64) | BIT(UINT8) | BIT(UINT16) | BIT(UINT32);
static const unsigned to_ubigint = BIT(BOOL) | BIT(UINT8) | BIT(UINT16) | BIT(UINT32) | BIT(UINT64);

bool gather_duck_target_holds(duck_target target, duck_element element) {
  unsigned bit = 1u << element;
  switch (target) {
    case DUCK_TARGET_FLOAT:
      return to_float & bit;
    case DUCK_TARGET_DOUBLE:
      return (to_float | to_double) & bit;
    case DUCK_TARGET_BIGINT:
      return to_bigint & bit;
    case DUCK_TARGET_UBIGINT:
      return to_ubigint & bit;
    case DUCK_TARGET_VARCHAR:
      return (BIT(UTF32) | BIT(TEXT)) & bit;
    case DUCK_TARGET_EXACT:
    case DUCK_TARGET_BLOB:
      break;
  }
  return true;
}

duck_target gather_duck_target_of(duck_element element) {
  static const duck_target order[] = {DUCK_TARGET_FLOAT, DUCK_TARGET_BIGINT, DUCK_TARGET_DOUBLE, DUCK_TARGET_UBIGINT, DUCK_TARGET_VARCHAR};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (gather_duck_target_holds(order[i], element)) return order[i];
  return DUCK_TARGET_BLOB;
}

int gather_duck_target_type(duck_target target, duck_element element) {
  static const int types[] = {0, DUCK_FLOAT, DUCK_DOUBLE, DUCK_BIGINT, DUCK_UBIGINT, DUCK_VARCHAR, DUCK_BLOB};
  return target == DUCK_TARGET_EXACT ? elements[element].type : types[target];
}

int64_t gather_duck_target_bytes(duck_target target, duck_element element) {
  static const int64_t bytes[] = {0, 4, 8, 8, 8, 0, 0};
  return target == DUCK_TARGET_EXACT ? elements[element].bytes : bytes[target];
}

/* ---- layouts */

/* The element of an opaque type: by the kind that its npy descr names ("'<U3'", "'|S5'"). */
static duck_element opaque_element(const char *descr) {
  if (!descr || strlen(descr) < 4 || descr[0] != '\'') return DUCK_ELEMENT_BYTES;
  if (descr[2] == 'U') return DUCK_ELEMENT_UTF32;
  return descr[2] == 'S' ? DUCK_ELEMENT_TEXT : DUCK_ELEMENT_BYTES;
}

static duck_element integer_element(const gather_type_info *info) {
  bool is_signed = info->kind == GATHER_KIND_INT;
  if (info->bits <= 8) return is_signed ? DUCK_ELEMENT_INT8 : DUCK_ELEMENT_UINT8;
  if (info->bits == 16) return is_signed ? DUCK_ELEMENT_INT16 : DUCK_ELEMENT_UINT16;
  if (info->bits == 32) return is_signed ? DUCK_ELEMENT_INT32 : DUCK_ELEMENT_UINT32;
  return is_signed ? DUCK_ELEMENT_INT64 : DUCK_ELEMENT_UINT64;
}

static duck_element element_of(gather_type type, const gather_type_info *info, const char *descr) {
  switch (info->kind) {
    case GATHER_KIND_BOOL:
      return DUCK_ELEMENT_BOOL;
    case GATHER_KIND_INT:
    case GATHER_KIND_UINT:
      return integer_element(info);
    case GATHER_KIND_FLOAT:
      return type == GATHER_TYPE_FLOAT64 ? DUCK_ELEMENT_DOUBLE : DUCK_ELEMENT_FLOAT;
    case GATHER_KIND_COMPLEX:
      return type == GATHER_TYPE_COMPLEX128 ? DUCK_ELEMENT_DOUBLE : DUCK_ELEMENT_FLOAT;
    case GATHER_KIND_STRING:
    case GATHER_KIND_OPAQUE:
      break;
  }
  return opaque_element(descr);
}

/* The lengths of a row: those of the tensor without the first. */
static gather_status set_shape(duck_layout *layout, int32_t rank, const int64_t *shape, bool is_complex, gather_error *error) {
  layout->rows = shape[0];
  layout->rank = rank - 1;
  if (rank > 1) memcpy(layout->shape, shape + 1, (size_t)(rank - 1) * sizeof *shape);
  if (is_complex) layout->shape[layout->rank++] = 2;
  layout->len = 1;
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t length = layout->shape[d];
    if (length && layout->len > (INT64_C(1) << 40) / length)
      return gather_error_set(error, GATHER_UNSUPPORTED, "rows of more than 2^40 elements are not supported");
    layout->len *= length;
  }
  return GATHER_OK;
}

gather_status gather_duck_layout(const gather_tensor *tensor, const char *descr, const char *type_name, const gather_file_codec *decoded,
                                 duck_layout *layout, gather_error *error) {
  gather_type type = decoded ? GATHER_TYPE_FLOAT32 : tensor->type;
  const gather_type_info *info = gather_type_get(type);
  int32_t rank = decoded ? decoded->rank : tensor->rank;
  if (rank < 1) return gather_error_set(error, GATHER_UNSUPPORTED, "a tensor of rank 0 has no rows");
  if (!info || info->kind == GATHER_KIND_STRING)
    return gather_error_set(error, GATHER_UNSUPPORTED, "strings of any length are not supported");
  *layout = (duck_layout){.type = type, .element = element_of(type, info, descr)};
  snprintf(layout->type_name, sizeof layout->type_name, "%s", decoded ? decoded->codec : type_name);
  layout->swapped = !decoded && (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED);
  bool is_complex = info->kind == GATHER_KIND_COMPLEX;
  gather_status status = set_shape(layout, rank, decoded ? decoded->shape : tensor->shape, is_complex, error);
  if (status != GATHER_OK) return status;
  int64_t items = is_complex ? layout->len / 2 : layout->len;
  if (gather_type_bytes(type, tensor->item_bytes, items, &layout->row_bytes) != GATHER_OK)
    return gather_error_set(error, GATHER_OVERFLOW, "a row has too many bytes");
  if (type == GATHER_TYPE_OPAQUE)
    layout->item_bytes = tensor->item_bytes;
  else if (info->packing == GATHER_PACKING_BYTES)
    layout->item_bytes = is_complex ? info->bits / 16 : info->bits / 8;
  gather_duck_list_values(layout);
  return GATHER_OK;
}

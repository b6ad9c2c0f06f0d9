/* SPDX-License-Identifier: MIT
 *
 * tensor.h: properties of tensors for the layers above.
 */
#ifndef GATHER_BASE_TENSOR_H
#define GATHER_BASE_TENSOR_H

#include "core/base/checked.h"
#include "core/base/compiler.h"
#include "gather/gather.h"

/* No offset in a tensor, and no number of a packed element, is larger: it fits the machine's pointers, and sums of four
 * fit 64 bits. So the stride of a dimension of length 2 or more, times this length, fits too, and so does one step past
 * the end. */
#define GATHER_OFFSET_MAX ((int64_t)(PTRDIFF_MAX < INT64_MAX / 4 ? PTRDIFF_MAX : INT64_MAX / 4))

/* The flags of a view of a file: it is not written, but others may write the file. */
#define GATHER_FILE_VIEW ((uint32_t)GATHER_TENSOR_READ_ONLY | (uint32_t)GATHER_TENSOR_SHARED)

/* The types in the order of their numbers, and the row of a valid type. */
extern const gather_type_info gather_type_table[];
GATHER_INLINE const gather_type_info *gather_type_row(gather_type type) { return &gather_type_table[(int)type - 1]; }

/* Whether a type is packed, so that strides count elements. */
GATHER_INLINE bool gather_type_is_packed(const gather_type_info *type) { return type->packing != GATHER_PACKING_BYTES; }

/* An integer type of whole bytes, usable as indices. */
GATHER_INLINE bool gather_type_is_index(gather_type type) { return type >= GATHER_TYPE_INT8 && type <= GATHER_TYPE_UINT64; }

/* Bytes of one element; packed types: 0. */
GATHER_INLINE int64_t gather_tensor_item_bytes(const gather_tensor *tensor) {
  return tensor->type == GATHER_TYPE_OPAQUE ? tensor->item_bytes : gather_type_row(tensor->type)->bits / 8;
}

/* The bytes of `len` elements of a tensor's type; false if they do not fit 63 bits. */
GATHER_CHECKED GATHER_INLINE bool gather_tensor_len_bytes(const gather_tensor *tensor, int64_t len, int64_t *bytes) {
  if (gather_type_row(tensor->type)->group_len == 1) return gather_mul(len, gather_tensor_item_bytes(tensor), bytes);
  return gather_type_bytes(tensor->type, tensor->item_bytes, len, bytes) == GATHER_OK;
}

/* The same for elements in memory: no offset is above GATHER_OFFSET_MAX. */
GATHER_CHECKED GATHER_INLINE bool gather_tensor_len_fits(const gather_tensor *tensor, int64_t len, int64_t *bytes) {
  if (gather_type_row(tensor->type)->group_len > 1 && len > GATHER_OFFSET_MAX) return false;
  return gather_tensor_len_bytes(tensor, len, bytes) && *bytes <= GATHER_OFFSET_MAX;
}

/* The steps of a checked tensor, its own or the row-major ones: bytes, for packed types elements. */
void gather_tensor_strides(const gather_tensor *tensor, int64_t strides[GATHER_MAX_RANK]);

/* Whether the elements of a checked tensor are in row-major order without gaps. */
bool gather_tensor_is_row_major(const gather_tensor *tensor);

/* The size of a tensor: its elements and their bytes. */
typedef struct gather_size {
  int64_t len, bytes;
} gather_size;

/* The bytes a checked tensor spans, relative to its data pointer: [*low, *high); equal if it has no bytes. */
void gather_tensor_extent(const gather_tensor *tensor, const gather_size *size, int64_t *low, int64_t *high);

/* gather_tensor_check, naming the argument in the error; and measures the tensor. */
GATHER_CHECKED gather_status gather_tensor_measure(const gather_tensor *tensor, const char *input, gather_size *size, gather_error *error);
/* The same, for who needs no size. */
GATHER_INLINE GATHER_CHECKED gather_status gather_tensor_check_input(const gather_tensor *tensor, const char *input, gather_error *error) {
  gather_size size;
  return gather_tensor_measure(tensor, input, &size, error);
}

/* The same for the usual tensor, in one pass, with its steps: row-major without strides, elements of whole bytes, and at least one.
 * Returns false if it is another tensor, or none. */
GATHER_INLINE GATHER_CHECKED bool gather_tensor_measure_plain(const gather_tensor *tensor, gather_size *size,
                                                              int64_t strides[GATHER_MAX_RANK]) {
  if (!tensor || tensor->strides || tensor->packed_offset != 0 || !gather_type_get(tensor->type)) return false;
  if (tensor->rank < 0 || tensor->rank > GATHER_MAX_RANK || (tensor->rank > 0 && !tensor->shape)) return false;
  if (gather_type_is_packed(gather_type_row(tensor->type))) return false;
  int64_t bytes = gather_tensor_item_bytes(tensor), len = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    strides[d] = bytes;
    if (tensor->shape[d] <= 0 || !gather_mul(bytes, tensor->shape[d], &bytes) || bytes == 0) return false;
    len *= tensor->shape[d]; /* at most `bytes` */
  }
  size->len = len, size->bytes = bytes;
  return bytes > 0 && bytes <= GATHER_OFFSET_MAX;
}

/* The number of elements; false if it does not fit 63 bits. A length of zero wins over any size. */
GATHER_CHECKED bool gather_shape_len(int32_t rank, const int64_t *shape, int64_t *len);

/* The bytes a tensor spans around its data pointer: [low, high), empty if it has no elements. */
typedef struct gather_extent {
  int64_t low, high;
} gather_extent;
/* Whether the bytes of two tensors, of these pointers, do not overlap; both have elements. Compared as numbers: they may belong to
 * different objects. */
GATHER_INLINE bool gather_extents_apart(const void *a, const gather_extent *a_extent, const void *b, const gather_extent *b_extent) {
  uintptr_t a_low = (uintptr_t)a + (uintptr_t)a_extent->low, a_high = (uintptr_t)a + (uintptr_t)a_extent->high;
  uintptr_t b_low = (uintptr_t)b + (uintptr_t)b_extent->low, b_high = (uintptr_t)b + (uintptr_t)b_extent->high;
  return a_high <= b_low || b_high <= a_low;
}
/* Whether they overlap; of a tensor without elements nothing does, and its pointer may be NULL. */
GATHER_INLINE bool gather_extents_meet(const void *a, const gather_extent *a_extent, const void *b, const gather_extent *b_extent) {
  if (!a || !b || a_extent->low == a_extent->high || b_extent->low == b_extent->high) return false;
  return !gather_extents_apart(a, a_extent, b, b_extent);
}

/* Byte-swaps every unit in `bytes` bytes; unit_bytes 0 does nothing. */
void gather_swap(void *data, int64_t bytes, int64_t unit_bytes);

#endif

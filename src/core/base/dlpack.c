/* SPDX-License-Identifier: MIT
 *
 * dlpack.c: converts between gather_tensor and DLPack's structs. Only strides differ: DLPack counts elements, we count
 * bytes.
 */
#include "gather/dlpack.h"

#include <inttypes.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"

_Static_assert(sizeof(gather_dl_type) == 4, "DLDataType is four bytes");

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11, DL_VERSION_MAJOR = 1, DL_VERSION_MINOR = 1 };

static bool is_host(gather_dl_device device) { return device.type == DL_CPU || device.type == DL_CUDA_HOST || device.type == DL_ROCM_HOST; }

/* The type with this code and width; opaque elements of the same size for an unknown type. */
static gather_status read_type(gather_dl_type dtype, bool padded, gather_tensor *tensor, gather_error *error) {
  tensor->type = GATHER_TYPE_OPAQUE;
  tensor->item_bytes = 0;
  const gather_type_info *type;
  for (int t = 1; dtype.lanes == 1 && (type = gather_type_get((gather_type)t)) != NULL; t++) {
    if (type->dlpack != dtype.code || type->bits != dtype.bits) continue;
    if (padded && gather_type_is_packed(type)) break;
    tensor->type = type->type;
    return GATHER_OK;
  }
  int64_t bits = (int64_t)(padded && dtype.bits < 8 ? 8 : dtype.bits) * dtype.lanes;
  if (bits % 8)
    return gather_fail(error, GATHER_UNSUPPORTED, "DLPack type code %d with %d bits and %d lanes does not fill whole bytes", dtype.code,
                       dtype.bits, dtype.lanes);
  tensor->item_bytes = bits / 8;
  return GATHER_OK;
}

static gather_status read_strides(const gather_dl_tensor *source, int64_t *strides, gather_tensor *tensor, gather_error *error) {
  if (!source->strides || source->ndim == 0) return GATHER_OK;
  bool packed = gather_type_is_packed(gather_type_get(tensor->type));
  int64_t unit = packed ? 1 : gather_tensor_item_bytes(tensor);
  for (int32_t d = 0; d < source->ndim; d++)
    if (!gather_mul(source->strides[d], unit, &strides[d]))
      return gather_fail(error, GATHER_OVERFLOW, "stride %" PRId32 " of the DLPack tensor does not fit", d);
  tensor->strides = strides;
  return GATHER_OK;
}

static gather_status from_dlpack(const gather_dl_tensor *source, bool padded, int64_t *strides, gather_tensor *tensor,
                                 gather_error *error) {
  if (!source || !strides || !tensor) return gather_fail(error, GATHER_USAGE, "source, strides or tensor is NULL");
  if (!is_host(source->device))
    return gather_fail(error, GATHER_UNSUPPORTED, "the DLPack tensor is on device type %" PRId32 "; only CPU memory is supported",
                       source->device.type);
  if (source->ndim < 0 || source->ndim > GATHER_MAX_RANK)
    return gather_fail(error, GATHER_RANK_MISMATCH, "the DLPack tensor has rank %" PRId32 "; ranks from 0 to %d are supported",
                       source->ndim, GATHER_MAX_RANK);
  if (source->byte_offset > PTRDIFF_MAX)
    return gather_fail(error, GATHER_OVERFLOW, "byte_offset %" PRIu64 " of the DLPack tensor is too large", source->byte_offset);
  gather_tensor made = {.rank = source->ndim, .shape = source->shape};
  if (source->data) made.data = (char *)source->data + source->byte_offset;
  GATHER_TRY(read_type(source->dtype, padded, &made, error));
  GATHER_TRY(read_strides(source, strides, &made, error));
  GATHER_TRY(gather_tensor_check(&made, error));
  *tensor = made;
  return GATHER_OK;
}

gather_status gather_tensor_from_dlpack(const gather_dl_tensor *source, int64_t *strides, gather_tensor *tensor, gather_error *error) {
  return from_dlpack(source, false, strides, tensor, error);
}

gather_status gather_tensor_from_dlpack_versioned(const gather_dl_versioned *source, int64_t *strides, gather_tensor *tensor,
                                                  gather_error *error) {
  if (!source) return gather_fail(error, GATHER_USAGE, "source is NULL");
  if (source->version.major != DL_VERSION_MAJOR)
    return gather_fail(error, GATHER_UNSUPPORTED, "DLPack version %" PRIu32 ".%" PRIu32 " is not 1.x", source->version.major,
                       source->version.minor);
  GATHER_TRY(from_dlpack(&source->tensor, (source->flags & GATHER_DL_SUBBYTE_PADDED) != 0, strides, tensor, error));
  if (source->flags & GATHER_DL_READ_ONLY) tensor->flags |= GATHER_TENSOR_READ_ONLY;
  return GATHER_OK;
}

/* DLPack 1.2 requires strides; older readers accept them. */
static gather_status write_strides(const gather_tensor *source, int64_t *strides, gather_error *error) {
  bool packed = gather_type_is_packed(gather_type_get(source->type));
  int64_t unit = packed ? 1 : gather_tensor_item_bytes(source);
  gather_tensor_strides(source, strides);
  for (int32_t d = 0; d < source->rank; d++) {
    if (strides[d] % unit)
      return gather_fail(error, GATHER_UNSUPPORTED, "stride %" PRId32 " is %" PRId64 " bytes, not a multiple of the element size", d,
                         strides[d]);
    strides[d] /= unit;
  }
  return GATHER_OK;
}

gather_status gather_tensor_to_dlpack(const gather_tensor *source, int64_t *strides, gather_dl_tensor *target, gather_error *error) {
  if (!strides || !target) return gather_fail(error, GATHER_USAGE, "strides or target is NULL");
  GATHER_TRY(gather_tensor_check(source, error));
  const gather_type_info *type = gather_type_get(source->type);
  if (type->dlpack < 0) return gather_fail(error, GATHER_UNSUPPORTED, "DLPack has no code for %s", type->name);
  if ((source->flags & GATHER_TENSOR_BYTE_SWAPPED) && type->bits > 8)
    return gather_fail(error, GATHER_UNSUPPORTED, "DLPack does not support swapped bytes");
  if (gather_type_is_packed(type) && source->packed_offset % type->group_len)
    return gather_fail(error, GATHER_UNSUPPORTED, "DLPack does not support a view that begins within a byte");
  GATHER_TRY(write_strides(source, strides, error));
  gather_dl_tensor made = {.data = source->data, .device = {DL_CPU, 0}, .ndim = source->rank, .strides = strides};
  made.dtype.code = (uint8_t)type->dlpack, made.dtype.bits = (uint8_t)type->bits, made.dtype.lanes = 1;
  made.shape = (int64_t *)(uintptr_t)source->shape; /* DLPack's struct has no const; readers do not write shapes */
  /* byte_offset is unsigned: an element before `data` moves the pointer itself. */
  if (gather_type_is_packed(type) && source->data)
    made.data = (char *)source->data + source->packed_offset / type->group_len * type->group_bytes;
  *target = made;
  return GATHER_OK;
}

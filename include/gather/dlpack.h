/* SPDX-License-Identifier: MIT
 *
 * dlpack.h: a gather_tensor from a DLPack tensor and back, without a copy. Since 0.1.
 *
 * The structures are declared here under our own names with DLPack's layout (DLTensor as in 0.8, the versioned struct of 1.0),
 * so this header can be used together with the official dlpack/dlpack.h. Cast the pointers. CPU memory only. Memory: none is allocated.
 * Threads: any.
 */
#ifndef GATHER_DLPACK_H
#define GATHER_DLPACK_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gather_dl_device {
  int32_t type; /* 1 = CPU; 3, 11 = pinned host memory */
  int32_t id;
} gather_dl_device;

typedef struct gather_dl_type {
  uint8_t code, bits;
  uint16_t lanes;
} gather_dl_type;

/* DLTensor. Strides count elements. */
typedef struct gather_dl_tensor {
  void *data;
  gather_dl_device device;
  int32_t ndim;
  gather_dl_type dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} gather_dl_tensor;

/* DLManagedTensor. */
typedef struct gather_dl_managed {
  gather_dl_tensor tensor;
  void *manager;
  void (*deleter)(struct gather_dl_managed *self);
} gather_dl_managed;

enum { GATHER_DL_READ_ONLY = 1, GATHER_DL_COPIED = 2, GATHER_DL_SUBBYTE_PADDED = 4 };

/* DLManagedTensorVersioned. */
typedef struct gather_dl_versioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager;
  void (*deleter)(struct gather_dl_versioned *self);
  uint64_t flags; /* GATHER_DL_... */
  gather_dl_tensor tensor;
} gather_dl_versioned;

/* Describes a DLTensor as a gather_tensor. Types of several lanes and unknown types become opaque elements.
 * strides: room for GATHER_MAX_RANK steps, which `tensor` then points to. shape is shared with `source`. Both must outlive `tensor`.
 * Returns GATHER_UNSUPPORTED (not CPU memory), GATHER_RANK_MISMATCH (rank above GATHER_MAX_RANK), GATHER_OVERFLOW. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_from_dlpack(const gather_dl_tensor *source, int64_t *strides, gather_tensor *tensor,
                                                                  gather_error *error);
/* The same for the versioned struct: refuses a major version other than 1 (GATHER_UNSUPPORTED), keeps its read-only flag, and
 * treats sub-byte types that are padded to bytes as opaque elements of one byte. The caller keeps the ownership and calls the deleter. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_from_dlpack_versioned(const gather_dl_versioned *source, int64_t *strides,
                                                                            gather_tensor *tensor, gather_error *error);
/* Describes a gather_tensor as a DLTensor. strides: room for GATHER_MAX_RANK steps, which `target` then points to. shape is shared. Returns
 * GATHER_UNSUPPORTED for types without a DLPack code (strings, opaque, u1 ...), byte strides that are not a multiple of the element size,
 * swapped bytes, and packed views that begin within a byte. A versioned struct, whose manager and deleter are the caller's:
 *
 *     gather_dl_versioned versioned = {.version = {1, 1}, .flags = read_only ? GATHER_DL_READ_ONLY : 0};
 *     gather_status status = gather_tensor_to_dlpack(&tensor, strides, &versioned.tensor, &error);
 */
GATHER_API GATHER_CHECKED gather_status gather_tensor_to_dlpack(const gather_tensor *source, int64_t *strides, gather_dl_tensor *target,
                                                                gather_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT
 *
 * dlpack.h: a gather_tensor from a DLPack tensor and back, without a copy.
 *
 * The structures are declared here under our own names with DLPack's layout (DLTensor as in 0.8, the versioned struct of 1.0),
 * so that this header can stand beside the official dlpack/dlpack.h; cast the pointers. CPU memory only.
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

/* Describes a DLTensor as a gather_tensor. Types of several lanes become opaque elements; a type we do not know too.
 * strides: room for GATHER_MAX_RANK steps, which `tensor` then points to; shape is shared with `source`. Both must outlive it.
 * Returns GATHER_UNSUPPORTED for memory that is not on the CPU, GATHER_RANK_MISMATCH above GATHER_MAX_RANK, GATHER_OVERFLOW.
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_from_dlpack(const gather_dl_tensor *source, int64_t *strides,
                                                                  gather_tensor *tensor, gather_error *error);
/* The same for the versioned struct: refuses a major version other than 1 (GATHER_UNSUPPORTED), keeps its read-only flag, and
 * takes sub-byte types that are padded to bytes as opaque one-byte elements. Nothing is owned: the deleter stays the caller's
 * to call. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_from_dlpack_versioned(const gather_dl_versioned *source,
                                                                            int64_t *strides, gather_tensor *tensor,
                                                                            gather_error *error);
/* Describes a gather_tensor as a DLTensor. strides: room for GATHER_MAX_RANK steps, which `target` then points to; shape is
 * shared. Returns GATHER_UNSUPPORTED for types DLPack has no code for (strings, opaque, u1 ...), byte strides that are no
 * multiple of the element, swapped bytes, and packed views that begin within a byte. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_to_dlpack(const gather_tensor *source, int64_t *strides,
                                                                gather_dl_tensor *target, gather_error *error);
/* The same as a versioned struct (1.1) with the read-only flag; manager and deleter are NULL, for the caller to set. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_to_dlpack_versioned(const gather_tensor *source, int64_t *strides,
                                                                          gather_dl_versioned *target,
                                                                          gather_error *error);

#ifdef __cplusplus
}
#endif

#endif

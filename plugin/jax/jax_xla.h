/* SPDX-License-Identifier: MIT
 *
 * jax_xla.h: the part of XLA's FFI C interface (0.1 to 0.3) that this plug-in uses, declared from the facts of the interface.
 * tests/plugin/test_jax_header.py compares offsets, sizes and numbers with the header of the installed jaxlib.
 *
 * Structs of XLA begin with their size and grow only at the end: a field is read only where the size says that it is there. The
 * "..." of a struct that is longer in XLA is left out. Enums of XLA are ints.
 */
#ifndef JAX_XLA_H
#define JAX_XLA_H

#include <stddef.h>
#include <stdint.h>

/* Interface versions: the first whose handlers are asked for their version, and the newest that was read. */
enum { XLA_MAJOR = 0, XLA_MINOR_FIRST = 1, XLA_MINOR_LAST = 3 };

enum { XLA_STAGE_EXECUTE = 3, XLA_EXTENSION_METADATA = 1, XLA_BUFFER = 1 };
enum { XLA_ATTRIBUTE_ARRAY = 1, XLA_ATTRIBUTE_SCALAR = 3 };
enum { XLA_INVALID_ARGUMENT = 3, XLA_RESOURCE_EXHAUSTED = 8, XLA_OUT_OF_RANGE = 11, XLA_UNIMPLEMENTED = 12 };
/* Slots of xla_api.functions. */
enum { XLA_ERROR_CREATE = 0, XLA_ERROR_DESTROY = 2, XLA_SCHEDULE = 11, XLA_NUM_THREADS = 12, XLA_SLOTS = 13 };

#define XLA_TYPES(X)                    \
  X(PRED, 1, BOOL, 0)                   \
  X(S8, 2, INT8, 0)                     \
  X(S16, 3, INT16, 0)                   \
  X(S32, 4, INT32, 0)                   \
  X(S64, 5, INT64, 0)                   \
  X(U8, 6, UINT8, 0)                    \
  X(U16, 7, UINT16, 0)                  \
  X(U32, 8, UINT32, 0)                  \
  X(U64, 9, UINT64, 0)                  \
  X(F16, 10, FLOAT16, 0)                \
  X(F32, 11, FLOAT32, 0)                \
  X(F64, 12, FLOAT64, 0)                \
  X(C64, 15, COMPLEX64, 0)              \
  X(BF16, 16, BFLOAT16, 0)              \
  X(C128, 18, COMPLEX128, 0)            \
  X(F8E5M2, 19, FLOAT8_E5M2, 0)         \
  X(F8E4M3FN, 20, FLOAT8_E4M3FN, 0)     \
  X(S4, 21, INT4, 0)                    \
  X(U4, 22, UINT4, 0)                   \
  X(F8E4M3B11FNUZ, 23, OPAQUE, 1)       \
  X(F8E5M2FNUZ, 24, FLOAT8_E5M2FNUZ, 0) \
  X(F8E4M3FNUZ, 25, FLOAT8_E4M3FNUZ, 0) \
  X(S2, 26, INT2, 0)                    \
  X(U2, 27, UINT2, 0)                   \
  X(F8E4M3, 28, OPAQUE, 1)              \
  X(F8E3M4, 29, OPAQUE, 1)              \
  X(F4E2M1FN, 32, FLOAT4_E2M1FN, 0)     \
  X(F8E8M0FNU, 33, FLOAT8_E8M0FNU, 0)

#define XLA_TYPE(name, number, type, bytes) XLA_##name = number,
enum { XLA_TYPES(XLA_TYPE) };
#undef XLA_TYPE

typedef struct xla_extension {
  size_t size;
  int type;
  struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
  size_t size;
  xla_extension *extensions;
  int major;
  int minor;
} xla_version;

/* What a handler says of itself when the runtime registers it. */
typedef struct xla_metadata {
  size_t size;
  xla_version version;
  uint32_t traits;
} xla_metadata;

typedef struct xla_metadata_extension {
  xla_extension base;
  xla_metadata *metadata;
} xla_metadata_extension;

typedef struct xla_error xla_error;
typedef struct xla_context xla_context;

typedef struct xla_api {
  size_t size;
  xla_extension *extensions;
  xla_version version;
  void *internal;
  void (*functions[XLA_SLOTS])(void);
} xla_api;

typedef struct xla_error_create {
  size_t size;
  xla_extension *extensions;
  const char *message;
  int code;
} xla_error_create;

typedef struct xla_error_destroy {
  size_t size;
  xla_extension *extensions;
  xla_error *error;
} xla_error_destroy;

typedef struct xla_schedule {
  size_t size;
  xla_extension *extensions;
  xla_context *context;
  void (*task)(void *data);
  void *data;
} xla_schedule;

typedef struct xla_num_threads {
  size_t size;
  xla_extension *extensions;
  xla_context *context;
  int64_t *threads;
} xla_num_threads;

typedef struct xla_buffer {
  size_t size;
  xla_extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *lengths;
} xla_buffer;

/* Arguments, and results. */
typedef struct xla_buffers {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int *kinds;
  void **items;
} xla_buffers;

typedef struct xla_span {
  const char *text;
  size_t bytes;
} xla_span;

typedef struct xla_scalar {
  int type;
  void *value;
} xla_scalar;

typedef struct xla_array {
  int type;
  size_t len;
  void *items;
} xla_array;

typedef struct xla_attributes {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int *kinds;
  xla_span **names;
  void **items;
} xla_attributes;

typedef struct xla_frame {
  size_t size;
  xla_extension *extensions;
  const xla_api *api;
  xla_context *context;
  int stage;
  xla_buffers arguments;
  xla_buffers results;
  xla_attributes attributes;
} xla_frame;

#endif

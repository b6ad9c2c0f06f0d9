/* SPDX-License-Identifier: MIT
 *
 * py_exchange.h: DLPack's C interface between libraries (DLPack 1.3, __dlpack_c_exchange_api__), under our own names. A tensor of
 * another library is described, and a new one passed to it, without calling Python.
 */
#ifndef GATHER_PY_EXCHANGE_H
#define GATHER_PY_EXCHANGE_H

#include "gather/dlpack.h"

typedef struct gather_py_exchange_header {
  uint32_t major, minor;
  struct gather_py_exchange_header *older; /* of an earlier major version; or NULL */
} gather_py_exchange_header;

typedef struct gather_py_exchange {
  gather_py_exchange_header header;
  /* A new tensor with the type, shape and device of `prototype`. */
  int (*allocate)(gather_dl_tensor *prototype, gather_dl_versioned **made, void *context,
                  void (*set_error)(void *context, const char *kind, const char *message));
  int (*from_object)(void *object, gather_dl_versioned **made);
  int (*to_object)(gather_dl_versioned *tensor, void **object); /* takes ownership of the tensor */
  int (*borrow)(void *object, gather_dl_tensor *tensor);        /* owns nothing; may be NULL */
  int (*stream)(int32_t device_type, int32_t device_id, void **stream);
} gather_py_exchange;

#endif

/* SPDX-License-Identifier: MIT
 *
 * index_types.h: the eight integer types indices may have, as a list, and loading one in either byte order.
 */
#ifndef GATHER_KERNEL_INDEX_TYPES_H
#define GATHER_KERNEL_INDEX_TYPES_H

#include <string.h>

#include "core/base/compiler.h"
#include "gather/gather.h"

/* X(type, suffix, ENUM, is signed) */
#define GATHER_INDEX_TYPES_LIST(X) \
  X(int8_t, i8, INT8, 1)           \
  X(int16_t, i16, INT16, 1)        \
  X(int32_t, i32, INT32, 1)        \
  X(int64_t, i64, INT64, 1)        \
  X(uint8_t, u8, UINT8, 0)         \
  X(uint16_t, u16, UINT16, 0)      \
  X(uint32_t, u32, UINT32, 0)      \
  X(uint64_t, u64, UINT64, 0)

/* load_i64(p, swapped) and its like. */
#define GATHER_LOAD_INDEX(type, suffix, ENUM, is_signed)                   \
  GATHER_INLINE type load_##suffix(const char *index, bool swapped) {      \
    type value;                                                            \
    unsigned char bytes[sizeof value];                                     \
    memcpy(bytes, index, sizeof value);                                    \
    for (size_t i = 0, k = sizeof value - 1; swapped && i < k; i++, k--) { \
      unsigned char byte = bytes[i];                                       \
      bytes[i] = bytes[k];                                                 \
      bytes[k] = byte;                                                     \
    }                                                                      \
    memcpy(&value, bytes, sizeof value);                                   \
    return value;                                                          \
  }
GATHER_INDEX_TYPES_LIST(GATHER_LOAD_INDEX)

#endif

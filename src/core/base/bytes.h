/* SPDX-License-Identifier: MIT
 *
 * bytes.h: reads little-endian numbers at any address.
 */
#ifndef GATHER_BASE_BYTES_H
#define GATHER_BASE_BYTES_H

#include <stdint.h>

#include "core/base/compiler.h"

GATHER_INLINE uint16_t gather_read_u16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
GATHER_INLINE uint32_t gather_read_u32(const uint8_t *at) { return gather_read_u16(at) | (uint32_t)gather_read_u16(at + 2) << 16; }
GATHER_INLINE uint64_t gather_read_u64(const uint8_t *at) { return gather_read_u32(at) | (uint64_t)gather_read_u32(at + 4) << 32; }
GATHER_INLINE int32_t gather_read_i32(const uint8_t *at) { return (int32_t)gather_read_u32(at); }
GATHER_INLINE int64_t gather_read_i64(const uint8_t *at) { return (int64_t)gather_read_u64(at); }

#endif

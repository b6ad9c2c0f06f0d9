/* SPDX-License-Identifier: MIT
 *
 * packed.h: single elements of packed types, written from the formats' documents and not from the engine: the tests' own
 * reading. Element i counts from the start of `memory`.
 */
#ifndef GATHER_TESTS_SUPPORT_PACKED_H
#define GATHER_TESTS_SUPPORT_PACKED_H

#include <stdint.h>

#include "gather/gather.h"

/* A part of an element: `bits` bits at `shift` of byte `byte`, which are the value's bits from `up`. */
struct packed_piece {
  int64_t byte;
  int shift, bits, up;
};

/* Where element i stands: one piece, or two in split planes. */
static inline int packed_pieces(const gather_type_info *type, int64_t i, struct packed_piece piece[2]) {
  int bits = (int)type->bits;
  int j = (int)(i % 8);
  switch (type->packing) {
    case GATHER_PACKING_LOW_FIRST:
      piece[0] = (struct packed_piece){i * bits / 8, (int)(i * bits % 8), bits, 0};
      return 1;
    case GATHER_PACKING_HIGH_FIRST:
      piece[0] = (struct packed_piece){i * bits / 8, 8 - bits - (int)(i * bits % 8), bits, 0};
      return 1;
    case GATHER_PACKING_SPLIT_3:
      piece[0] = (struct packed_piece){i / 8 * 3 + j / 4, 6 - 2 * (j % 4), 2, 0};
      piece[1] = (struct packed_piece){i / 8 * 3 + 2, 7 - j, 1, 2};
      return 2;
    case GATHER_PACKING_SPLIT_6:
      j %= 4;
      piece[0] = (struct packed_piece){i / 4 * 3 + j / 2, 4 - 4 * (j % 2), 4, 0};
      piece[1] = (struct packed_piece){i / 4 * 3 + 2, 6 - 2 * j, 2, 4};
      return 2;
    case GATHER_PACKING_STREAM: { /* bits 6i to 6i + 5 of the memory, bit b being bit b % 8 of byte b / 8 */
      int start = (int)(i * 6 % 8), here = start > 2 ? 8 - start : 6;
      piece[0] = (struct packed_piece){i * 6 / 8, start, here, 0};
      piece[1] = (struct packed_piece){i * 6 / 8 + 1, 0, 6 - here, here};
      return here < 6 ? 2 : 1;
    }
    default:
      return 0;
  }
}

static inline unsigned packed_get(const gather_type_info *type, const uint8_t *memory, int64_t i) {
  struct packed_piece piece[2];
  unsigned value = 0;
  int count = packed_pieces(type, i, piece);
  for (int p = 0; p < count; p++) {
    unsigned mask = (1u << piece[p].bits) - 1u;
    value |= (((unsigned)memory[piece[p].byte] >> piece[p].shift) & mask) << piece[p].up;
  }
  return value;
}

static inline void packed_put(const gather_type_info *type, uint8_t *memory, int64_t i, unsigned value) {
  struct packed_piece piece[2];
  int count = packed_pieces(type, i, piece);
  for (int p = 0; p < count; p++) {
    unsigned mask = (1u << piece[p].bits) - 1u;
    unsigned old = memory[piece[p].byte];
    memory[piece[p].byte] = (uint8_t)((old & ~(mask << piece[p].shift)) | (((value >> piece[p].up) & mask) << piece[p].shift));
  }
}

#endif

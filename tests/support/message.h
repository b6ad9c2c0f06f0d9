/* SPDX-License-Identifier: MIT
 *
 * message.h: ONNX models made in memory: protobuf messages in messages. MESSAGE_BYTES: the most that one holds, defined before.
 */
#ifndef GATHER_TESTS_SUPPORT_MESSAGE_H
#define GATHER_TESTS_SUPPORT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct message {
  uint8_t bytes[MESSAGE_BYTES];
  size_t size;
} message;

static inline void add_varint(message *m, uint64_t value) {
  for (; value > 127; value >>= 7) m->bytes[m->size++] = (uint8_t)(value | 128);
  m->bytes[m->size++] = (uint8_t)value;
}

static inline void add_block(message *m, unsigned field, const void *content, size_t bytes) {
  add_varint(m, field << 3 | 2);
  add_varint(m, bytes);
  memcpy(m->bytes + m->size, content, bytes);
  m->size += bytes;
}

static inline void add_number(message *m, unsigned field, uint64_t value) {
  add_varint(m, field << 3);
  add_varint(m, value);
}

#endif

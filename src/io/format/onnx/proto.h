/* SPDX-License-Identifier: MIT
 *
 * proto.h: iterates over the fields of a protobuf message in a mapped file, without generated code. Nothing is copied:
 * strings and submessages are ranges of the file.
 */
#ifndef GATHER_FORMAT_PROTO_H
#define GATHER_FORMAT_PROTO_H

#include "io/format/map.h"

/* The unread rest of a message: bytes [at, end) of the file. */
typedef struct gather_proto {
  const gather_map *map; /* the whole file */
  int64_t at, end;
} gather_proto;

typedef enum gather_proto_wire {
  GATHER_PROTO_VARINT = 0,
  GATHER_PROTO_FIXED64 = 1,
  GATHER_PROTO_BYTES = 2,
  GATHER_PROTO_GROUP = 3, /* already skipped */
  GATHER_PROTO_FIXED32 = 5
} gather_proto_wire;

typedef struct gather_proto_field {
  uint32_t number; /* 0 = end of the message */
  gather_proto_wire wire;
  int64_t offset;     /* of its tag in the file */
  uint64_t value;     /* VARINT, FIXED64, FIXED32 */
  gather_proto inner; /* BYTES: its content */
} gather_proto_field;

/* Reads the next field. Returns NULL, or an error message; message->at is then the wrong byte. The content of BYTES is not loaded. If
 * a need failed, the message is not the reason: gather_map_failure. */
const char *gather_proto_next(gather_proto *message, gather_proto_field *field);
/* Reads the next number of a packed list, which is not at its end. Returns NULL or an error message. */
const char *gather_proto_packed(gather_proto *list, gather_proto_wire wire, uint64_t *value);

#endif

/* SPDX-License-Identifier: MIT
 *
 * proto.h: walking over the fields of a protobuf message that lies in a mapped file, without generated code. Nothing is copied:
 * texts and messages inside are ranges of the file.
 */
#ifndef GATHER_FORMAT_PROTO_H
#define GATHER_FORMAT_PROTO_H

#include "gather/gather.h"

/* What has not been walked over yet of a message: bytes [at, end) of the file. */
typedef struct gather_proto {
  const uint8_t *bytes; /* of the whole file */
  int64_t at, end;
} gather_proto;

typedef enum gather_proto_wire {
  GATHER_PROTO_VARINT = 0,
  GATHER_PROTO_FIXED64 = 1,
  GATHER_PROTO_BYTES = 2,
  GATHER_PROTO_GROUP = 3, /* it has been walked over */
  GATHER_PROTO_FIXED32 = 5
} gather_proto_wire;

typedef struct gather_proto_field {
  uint32_t number; /* 0 = the message is at its end */
  gather_proto_wire wire;
  int64_t offset;     /* of its tag in the file */
  uint64_t value;     /* VARINT, FIXED64, FIXED32 */
  gather_proto inner; /* BYTES: its content */
} gather_proto_field;

/* Takes the next field. Returns NULL, or what is wrong with it; the message stands at the wrong byte then. */
const char *gather_proto_next(gather_proto *message, gather_proto_field *field);
/* Takes the next number of a packed list, which is not at its end; NULL or what is wrong. */
const char *gather_proto_packed(gather_proto *list, gather_proto_wire wire, uint64_t *value);

#endif

/* SPDX-License-Identifier: MIT
 *
 * quant_state.h: the description that bitsandbytes stores beside a 4-bit tensor: a tensor of uint8 with JSON.
 */
#ifndef GATHER_FORMAT_QUANT_STATE_H
#define GATHER_FORMAT_QUANT_STATE_H

#include "io/format/format.h"

typedef struct gather_quant_state {
  int32_t rank; /* of the tensor before it was quantised */
  int64_t shape[GATHER_MAX_RANK];
  int64_t block_len;        /* elements that share a scale */
  int64_t nested_block_len; /* scales that share one; 0 = the scales are not quantised */
  float nested_offset;      /* to be added to each scale */
} gather_quant_state;

/* Reads the JSON in `state`, a tensor of that file. type: the expected "quant_type". Lengths are positive, and the shape's product fits in
 * 63 bits. Returns GATHER_FILE_MALFORMED (with the byte), GATHER_TYPE_MISMATCH (the tensor is not of uint8), GATHER_UNSUPPORTED (not in
 * this build), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_quant_state_read(const gather_file *file, const gather_file_tensor *state, const char *type,
                                                     gather_quant_state *read, gather_error *error);

#endif
